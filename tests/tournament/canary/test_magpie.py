"""No bot knows a hand because it, or an accomplice, saw the deal at another table."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sizes import others_long
from tests.tournament.canary.hands import Blocks, enter, known, nest
from tests.tournament.runs import play
from tests.tournament.sandbox_config import sandbox_or_skip

FILES = {"/tmp", "own folder", "home", "/dev/shm"}
CONTAINED = {*FILES, "global", "abstract socket", "path socket", "child"}
"""All carriers of a text that work within a sandbox."""
KERNEL = {"System V memory", "message queue"}
SHUT = {*KERNEL, "loopback"}
"""Carriers that the sandbox refuses altogether."""
EXACT = {"names", "pages", "futexes", "descriptors in flight"}


@pytest.mark.parametrize(
    ("processes", "blocks", "at_once", "later"),
    others_long(
        [
            ("run", "mirrored", 2, 2),
            ("match", "mirrored", 8, 9),
            ("run", "duplicate", 4, 9),
        ],
        3,
    ),
)
def test_no_hand_is_known_from_another_table(
    tmp_path: Path, processes: str, blocks: Blocks, at_once: int, later: int
) -> None:
    """With `later` second matches of a deal."""
    sandbox = sandbox_or_skip()
    if not sandbox.has_cgroups:
        pytest.skip("without control groups, names stay in caches")
    file = enter(tmp_path, blocks, processes, at_once=at_once, rounds=later)
    end = play(file, tmp_path / "run", sandbox=sandbox)
    assert not any(result.void or result.forfeits for result in end.results)
    found = known(tmp_path / "run")
    assert found.later == later
    assert found.channels["refused"] >= SHUT
    assert found.channels["own"] == CONTAINED
    assert found.channels["foreign"] == set()
    assert found.guesses.keys() <= EXACT
    if processes == "match":
        assert {len(played) for played in found.processes.values()} == {1}
    assert found.chance_of_as_many > 1e-6, found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Home of unconfined magpies; what they leave on this machine is removed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NEST", nest(tmp_path))
    yield tmp_path
    words = [sys.executable, str(Path(__file__).with_name("carriers.py"))]
    subprocess.run(words, env=os.environ, check=True)


@pytest.mark.long
def test_without_the_sandbox_the_same_bot_knows_its_opponents_hand(home: Path) -> None:
    """So it is the sandbox and the legs that keep it from knowing."""
    file = enter(home, "mirrored", "run", at_once=1, rounds=2)
    play(file, home / "run")
    found = known(home / "run")
    assert found.channels["foreign"] >= FILES | KERNEL
    for channel in ("/tmp", "own folder"):
        assert found.right[channel] == found.guesses[channel] > 0, found
