"""No bot knows a hand because it, or an accomplice, saw the deal at another table."""

from itertools import product
from pathlib import Path

import pytest

from tests.sizes import others_long
from tests.tournament.canary.hands import Blocks, enter, known
from tests.tournament.runs import play
from tests.tournament.sandbox_config import sandbox_or_skip

SHUT = {"System V memory", "message queue", "loopback", "ptys", "AIO", "ports"}
"""Channels that the sandbox refuses altogether."""
EXACT = {"names", "pages", "futexes", "futexes of a child", "descriptors in flight", "routes"}


MANY = [pytest.param(at_once, 9, marks=pytest.mark.long) for at_once in (1, 4, 8)]
"""Matches at once, and second matches of a deal: with all cases, 108 of the latter."""


@pytest.mark.parametrize(("at_once", "later"), [(2, 2), *MANY])
@pytest.mark.parametrize(
    ("processes", "blocks"), others_long(product(["run", "match"], ["mirrored", "duplicate"]), 4)
)
def test_no_hand_is_known_from_another_table(
    tmp_path: Path, blocks: Blocks, processes: str, at_once: int, later: int
) -> None:
    """`pytest -rP` shows how many hands were known by each channel."""
    sandbox = sandbox_or_skip()
    if not sandbox.has_cgroups:
        pytest.skip("without control groups, names stay in caches")
    file = enter(tmp_path, blocks, processes, at_once=at_once, rounds=later)
    end = play(file, tmp_path / "run", sandbox=sandbox)
    assert not any(result.void or result.forfeits for result in end.results)
    found = known(tmp_path / "run")
    print(*found.lines(), sep="\n")
    assert found.later == later
    assert found.refused >= SHUT
    assert found.guesses.keys() <= EXACT  # no text arrives about a deal that is played
    assert found.chance_of_as_many > 1e-6


@pytest.mark.long
def test_without_the_sandbox_the_same_bot_knows_its_opponents_hand(tmp_path: Path) -> None:
    """So it is the sandbox and the legs that keep it from knowing."""
    file = enter(tmp_path, "mirrored", "run", at_once=1, rounds=2)
    play(file, tmp_path / "run")
    found = known(tmp_path / "run")
    for channel in ("/tmp", "own folder"):
        assert found.right[channel] == found.guesses[channel] > 0, list(found.lines())
