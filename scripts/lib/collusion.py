"""Lists entries whose scores are unusual when certain other entries are at their table.

For organisers only. For each ordered pair, a permutation test compares one entry's scores in
matches with the other entry and in all other matches. Both are first reduced by what the
Plackett-Luce strengths of all seats and the deal explain. Forfeits count, because a player can lose
a match by forfeit on purpose. The matches of a block stay together: the block's mean is permuted
among blocks with the same number of seats and the same rule sets.

The p-values follow Besag and Clifford, "Sequential Monte Carlo p-values" (1991): the test stops
early if nothing is unusual. Benjamini and Yekutieli, "The Control of the False Discovery Rate in
Multiple Testing under Dependency" (2001), decide which pairs are listed.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import false_discovery_control

from asara_server.tournament.run.directory import RunError
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.standings.match_result import MatchResult, by_schedule
from asara_server.tournament.standings.plackett_luce import choices, fit
from asara_server.tournament.standings.result_table import (
    Floats,
    Indices,
    ResultTable,
    compared,
    tabulate,
)

FALSE_DISCOVERIES: Final = 0.05
_ENOUGH: Final = 20
"""Number of permutations as extreme as the results after which a p-value is precise enough."""
_PRECISION: Final = 4
"""Number of permutations as extreme as the results that the lowest threshold must allow."""
_AT_ONCE: Final = 1_000
_TINY: Final = 1e-9

NO_THIRD: Final = (
    "no match of three or four seats has ended; with two seats, nobody else is at the table"
)
MEANING: Final = """\
What this can show: that an entry scores more, or less, when a certain other entry is at its table,
and that strengths, deals and luck do not explain the difference. It cannot show why: two styles can
suit each other without any agreement. Look at the replays and ask the authors. What it cannot show:
help that is small against the luck, help between entries that always meet, and help that an entry
gives to everybody.
tests/tournament/standings/README.md lists how much help is found in how many blocks."""


class Pair(NamedTuple):
    """The results of an ordered pair's matches."""

    entry: int
    beside: int
    gain: float
    """Mean score with the other entry minus mean score without it, each less its expectation."""
    p: float
    matches: int
    """Number of matches with both entries."""


def unusual(table: ResultTable, entries: int) -> tuple[list[Pair], int]:
    """Return the unusual pairs, most unusual first, and the number of pairs tested.

    A pair is left out if it is no longer unusual without the matches of pairs before it.
    """
    left, tested = _listed(table, entries)
    found: list[Pair] = []
    while left:
        first = left[0]
        both = [pair for pair in left if {*pair[:2]} == {*first[:2]}]
        found += both
        if len(left) == len(both):
            break
        met = [np.isin(table.match, table.match[table.entry == one]) for one in first[:2]]
        table = table.take(~(met[0] & met[1]))
        still = {pair[:2] for pair in _listed(table, entries)[0]}
        left = [pair for pair in left if pair[:2] in still]
    return found, tested


def _listed(table: ResultTable, entries: int) -> tuple[list[Pair], int]:
    tested = list(_pairs(table, entries))
    if not tested:
        return [], 0
    adjusted = false_discovery_control([pair.p for pair in tested], method="by")
    listed = [pair for pair, q in zip(tested, adjusted, strict=True) if q <= FALSE_DISCOVERIES]
    return sorted(listed, key=lambda pair: (pair.p, -abs(pair.gain))), len(tested)


def _pairs(table: ResultTable, entries: int) -> Iterator[Pair]:
    dice = np.random.default_rng(0)
    pairs = entries * (entries - 1)
    most = int(_PRECISION * pairs * np.sum(1 / np.arange(1, pairs + 1)) / FALSE_DISCOVERIES)
    surplus = compared(table).score - _expected(table, entries)
    shape = (table.match.max() + 1, entries)
    seated = csr_array((np.ones(len(table)), (table.match, table.entry)), shape)
    in_all = table.block.max() + 1
    cells = (table.rules * (table.seats.max() + 1) + table.seats) * in_all + table.block
    for entry in np.unique(table.entry):
        own = np.flatnonzero(table.entry == entry)
        together = seated[table.match[own]].toarray()
        known, block = np.unique(cells[own], return_inverse=True)
        _, kind = np.unique(known // in_all, return_inverse=True)
        blocks = _means(np.column_stack((surplus[own], together)), block)
        blocks -= _means(blocks, kind)[kind]
        spread = (blocks**2).sum(axis=0)[1:]
        others = np.flatnonzero(spread > _TINY)
        gained, beside = blocks[:, 0], blocks[:, 1 + others]
        gains = gained @ beside / spread[others]
        chances = _chances(gained, beside, kind, dice, most)
        matches = together.sum(axis=0)[others]
        for other, gain, p, number in zip(others, gains, chances, matches, strict=True):
            yield Pair(int(entry), int(other), float(gain), float(p), int(number))


def _expected(table: ResultTable, entries: int) -> Floats:
    """Return the expected score of each row: the mean chance of ranking above an opponent."""
    made = choices(table.entry, table.match, table.score, table.block)
    strengths = fit(made, entries, int(table.block.max()) + 1).strengths[table.entry]
    found = np.empty(len(table))
    for seats in np.unique(table.seats):
        rows = np.flatnonzero(table.seats == seats).reshape(-1, seats)
        above = expit(strengths[rows][:, :, np.newaxis] - strengths[rows][:, np.newaxis])
        found[rows] = (above.sum(axis=2) - 0.5) / (seats - 1)
    return found


def _means(values: Floats, group: Indices) -> Floats:
    """Return the mean row of each group of rows."""
    sums = np.zeros((group.max() + 1, values.shape[1]))
    np.add.at(sums, group, values)
    return np.asarray(sums / np.bincount(group)[:, np.newaxis])


def _chances(
    gained: Floats, beside: Floats, kind: Indices, dice: np.random.Generator, most: int
) -> Floats:
    """Return, for each column, the chance that permuted blocks differ as much as these."""
    observed = np.abs(gained @ beside)
    chances = np.zeros(len(observed))
    reached = np.zeros(len(observed), np.intp)
    undecided = np.arange(len(observed))
    drawn = 0
    while len(undecided) and drawn < most:
        shuffled = np.empty((_AT_ONCE, len(gained)))
        for number in np.unique(kind):
            rows = kind == number
            shuffled[:, rows] = dice.permuted(np.tile(gained[rows], (_AT_ONCE, 1)), axis=1)
        extreme = np.abs(shuffled @ beside[:, undecided]) >= observed[undecided] - _TINY
        counts = reached[undecided] + extreme.cumsum(axis=0)
        reached[undecided] = counts[-1]
        decided = counts[-1] >= _ENOUGH
        draws = drawn + 1 + (counts >= _ENOUGH).argmax(axis=0)
        chances[undecided[decided]] = _ENOUGH / draws[decided]
        undecided = undecided[~decided]
        drawn += _AT_ONCE
    chances[undecided] = (reached[undecided] + 1) / (drawn + 1)
    return chances


def _results(runs: Sequence[Path]) -> Iterator[MatchResult]:
    """Yield the results of three or four seats; blocks of different runs get different names."""
    for number, run in enumerate(runs):
        for result in by_schedule(read_run(run).results):
            deal = result.duplicate_deal and f"{number} {result.duplicate_deal}"
            block = f"{number} {result.deal_block}"
            if not result.void and len(result.seats) > 2:
                yield replace(result, block=block, duplicate_deal=deal)


def report(runs: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of the report. Raises RunError if a run cannot be read."""
    results = list(_results(runs))
    if not results:
        raise RunError(f"{', '.join(map(str, runs))}: {NO_THIRD}")
    names = sorted({line.entry for result in results for line in result.seats})
    table = tabulate(names, results)
    pairs, tested = unusual(table, len(names))
    blocks = len(np.unique(table.block))
    yield f"{len(results)} matches of three or four seats in {blocks} blocks; {tested} pairs tested"
    if not tested:
        yield "Nothing can be tested: entries that met have met in every match."
    elif not pairs:
        yield f"No pair is unusual (false discovery rate {FALSE_DISCOVERIES:.0%})."
    else:
        width = max(6, *map(len, names))
        yield f"Unusual pairs (false discovery rate {FALSE_DISCOVERIES:.0%}):\n"
        yield f"{'entry':{width}}  {'beside':{width}}  {'gain':>6}  {'p':>8}  matches"
        for entry, beside, gain, p, matches in pairs:
            who = f"{names[entry]:{width}}  {names[beside]:{width}}"
            yield f"{who}  {gain:+.3f}  {p:8.2g}  {matches:7}"
        yield "\nA gain is in points of a match score, which is 1 for first place and 0 for last."
    yield f"\n{MEANING}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/collusion", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a run")
    try:
        print(*report(parser.parse_args().runs), sep="\n")
    except RunError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
