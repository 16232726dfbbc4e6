"""Unusual pairs in tournaments of entries of known strength, some of which help each other.

`ASARA_FIGURES=1 pytest -s -m long -k test_collusion` prints the figures of
tests/tournament/standings/README.md.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from asara_server.tournament.run.directory import RunError
from asara_server.tournament.standings.result_table import ResultTable
from scripts.lib.collusion import MEANING, NO_THIRD, report, unusual
from tests.sizes import FIGURES, simulated
from tests.tournament.samples import add_results, write_run
from tests.tournament.standings.simulation import World, results, table_of

ROOT = Path(__file__).parents[2]
ENTRIES, SEATS = 8, 4
STRENGTHS = np.linspace(-1, 1, ENTRIES)
HELPER, HELPED = 3, 4
TOURNAMENTS = simulated(40)


def tournament(seed: int, blocks: int, kind: str = "", strength: float = 0.0) -> ResultTable:
    """Mirrored blocks of Plackett-Luce ranks, in half of whose matches the deal decides.

    Beside the helped entry, the helper comes last in the share `strength` of the matches ("dump"),
    or strengths grow by `strength`: that of the helped ("feed"), or both ("soft play").
    """
    dice = np.random.default_rng(seed)
    group = np.argsort(dice.random((blocks, ENTRIES)), axis=1)[:, :SEATS]
    turns = (np.arange(SEATS)[:, np.newaxis] + np.arange(SEATS)) % SEATS
    entry = group[:, turns]
    deal = np.broadcast_to(dice.gumbel(size=(blocks, 1, SEATS)), entry.shape)
    decides = dice.random((blocks, SEATS, 1)) < 0.5
    level = STRENGTHS[entry] + np.where(decides, deal, dice.gumbel(size=entry.shape))
    both = np.isin(entry, (HELPER, HELPED)).sum(axis=2, keepdims=True) == 2
    if kind == "dump":
        level[both & (entry == HELPER) & (dice.random(decides.shape) < strength)] = -99
    elif kind:
        level[both & (entry == HELPED)] += strength
        level[both & (entry == HELPER)] += strength * (kind == "soft play")
    ranks = 1 + (level[..., np.newaxis, :] > level[..., np.newaxis]).sum(axis=-1)
    return table_of(entry, ranks)


@pytest.mark.parametrize("number", [10, pytest.param(simulated(200), marks=pytest.mark.long)])
def test_pairs_are_seldom_listed_if_nobody_helps(number: int) -> None:
    found = [bool(unusual(tournament(n, 30 + n % 3 * 30), ENTRIES)[0]) for n in range(number)]
    print(f"\nno help: a pair is listed in {sum(found)} of {number} tournaments")
    assert sum(found) <= 0.05 * number


@pytest.mark.parametrize(
    ("kind", "strength", "expected"),
    [
        ("dump", 1.0, {(HELPER, HELPED)}),
        ("feed", 2.0, {(HELPED, HELPER)}),
        ("soft play", 2.0, {(HELPED, HELPER), (HELPER, HELPED)}),
    ],
)
def test_a_pair_that_helps_is_listed_and_nobody_else(
    kind: str, strength: float, expected: set[tuple[int, int]]
) -> None:
    pairs, tested = unusual(tournament(1, 150, kind, strength), ENTRIES)
    assert tested == ENTRIES * (ENTRIES - 1)
    assert {pair[:2] for pair in pairs} == expected
    assert all((pair.gain > 0) == (kind != "dump") and pair.p < 0.001 for pair in pairs)


@pytest.mark.long
@pytest.mark.parametrize("blocks", [30, 100, 300] if FIGURES else [300])
@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0] if FIGURES else [2.0])
@pytest.mark.parametrize("kind", ["dump", "feed", "soft play"])
def test_power(kind: str, strength: float, blocks: int) -> None:
    strength /= 2 if kind == "dump" else 1  # at most a share of 1
    pair = {HELPED, HELPER}
    found = others = 0
    for number in range(TOURNAMENTS):
        pairs, _ = unusual(tournament(number, blocks, kind, strength), ENTRIES)
        found += any({*one[:2]} == pair for one in pairs)
        others += any({*one[:2]} != pair for one in pairs)
    print(f"\n{kind} {strength}, {blocks} blocks: found in {found}, others in {others}")
    assert others <= 0.05 * TOURNAMENTS
    assert found >= 0.9 * TOURNAMENTS or strength < 1 or blocks < 300


def recorded(folder: Path, seats: int, strength: float = 0.0) -> Path:
    """A run of five equal entries; beside the second one, the first one has this strength."""
    dice = np.random.default_rng(7)
    worlds = [World((first, 0.0, 0.0, 0.0, 0.0), seats) for first in (0.0, strength)]
    tables = worlds[0].drawn(60, dice)
    both = np.isin(tables, (0, 1)).sum(axis=2, keepdims=True) == 2
    plain, helped = (world.ranks(tables, dice) for world in worlds)
    return write_run(folder, results(worlds[0], tables, np.where(both, helped, plain)))


def test_the_script_lists_what_is_unusual_in_runs(tmp_path: Path) -> None:
    runs = recorded(tmp_path / "a", 3, -4.0), recorded(tmp_path / "b", 4, -4.0)
    command = [sys.executable, "-m", "scripts.lib.collusion", *map(str, runs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, title, _, _, row, other, *_ = done.stdout.removesuffix(f"\n{MEANING}\n").split("\n")
    assert first == "420 matches of three or four seats in 120 blocks; 20 pairs tested"
    assert title == "Unusual pairs (false discovery rate 5%):"
    assert re.fullmatch(r"e00 +e01 +-0\.5\d\d +0\.000\d+ +\d+", row)
    assert re.fullmatch(r"e01 +e00 +\+0\.1\d\d +0\.00\d+ +\d+", other)


def test_a_report_says_what_was_not_found_or_cannot_be_tested(tmp_path: Path) -> None:
    def text(seats: int) -> str:
        return "\n".join(report([recorded(tmp_path / str(seats), seats)]))

    assert "; 20 pairs tested\nNo pair is unusual (false discovery rate 5%).\n" in text(3)
    with pytest.raises(RunError, match=NO_THIRD):
        text(2)
    with pytest.raises(RunError, match="not the folder of a run"):
        list(report([tmp_path]))
    add_results(tmp_path / "3", "garbage")
    with pytest.raises(RunError, match=r"run\.journal: result \d+: "):
        list(report([tmp_path / "3"]))
