"""Computes standings from the results of the matches, never from stored totals. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import DealShareRow, MatchCounts, Standings, Unfinished

if TYPE_CHECKING:
    from asara_server.tournament.standings.result_table import ResultTable

_NUMBER: Final = re.compile(r"(\d+)")


def compute_standings(
    title: str,
    entries: Sequence[str],
    scheduled: int,
    results: Iterable[MatchResult],
    *,
    group: Mapping[str, int] = MappingProxyType({}),
    remote: Collection[str] = (),
    looks: Sequence[int] = (),
) -> Standings:
    """Return the standings for these results; entries that never played come last.

    `group` maps the blocks of the last group that began to their numbers of matches. `remote` are
    the entries on other machines. `looks` are the looks of a run that may end early.
    """
    # These load numerical libraries, which programs that only read standings do not need.
    import numpy as np

    from asara_server.tournament.standings.comparison import compared
    from asara_server.tournament.standings.intervals import error_of
    from asara_server.tournament.standings.plackett_luce import ladder
    from asara_server.tournament.standings.result_table import tabulate
    from asara_server.tournament.standings.summary import cross_table, seat_effect, summarize

    error = error_of(looks)
    every = by_schedule(results)
    counted = [result for result in every if not result.void]
    voided = {result.match_id for result in every if result.void}
    names = _names(entries, counted)
    table = tabulate(names, counted)
    found = compared(table)
    overall = without_forfeits = summarize(names, table, found.score, error)
    forfeited = np.isin(table.block, table.block[table.forfeit])
    if forfeited.any():
        fair = table.take(~forfeited)
        without_forfeits = summarize(names, fair, compared(fair).score, error)
    rule_sets = sorted({result.rule_sets for result in counted})
    of_rules = [table.rules == number for number in range(len(rule_sets))]

    return Standings(
        title=title,
        complete=len(counted) == scheduled,
        matches=MatchCounts(
            scheduled=scheduled,
            played=len(counted),
            void=len(voided - {result.match_id for result in counted}),
            blocks=len({result.deal_block for result in counted}),
        ),
        unfinished=_unfinished(counted, group),
        remote_blocks=_remote_blocks(counted, frozenset(remote)),
        looks=tuple(looks),
        overall=overall,
        without_forfeits=without_forfeits,
        by_rule_sets={
            rules: summarize(names, table.take(own), found.score[own], error, ranked=False)
            for rules, own in zip(rule_sets, of_rules, strict=True)
        },
        seat_effect=seat_effect(table),
        deal_shares=tuple(
            DealShareRow(rule_sets=rule_sets[rules], seats=seats, matches=matches, share=share)
            for rules, seats, matches, share in found.shares
        ),
        cross_table=cross_table(names, table, [row.entry for row in overall], error),
        ladder=ladder(names, table, error),
    )


def ranks_settled(
    entries: Sequence[str], results: Iterable[MatchResult], places: int, looks: Sequence[int]
) -> bool:
    """Return True if these results, at one of the `looks`, leave one entry for each top place."""
    from asara_server.tournament.standings.comparison import compared
    from asara_server.tournament.standings.intervals import error_of
    from asara_server.tournament.standings.summary import summarize

    names, table = _tabulated(entries, results)
    rows = summarize(names, table, compared(table).score, error_of(looks))
    settled = {row.ranks[0] for row in rows if row.ranks and row.ranks[0] == row.ranks[1]}
    return settled.issuperset(range(1, places + 1))


def block_variance(results: Iterable[MatchResult]) -> float | None:
    """Return the variance of an entry's block scores, pooled over all entries; None if unknown."""
    from asara_server.tournament.standings.comparison import compared
    from asara_server.tournament.standings.result_table import BlockScores

    names, table = _tabulated((), results)
    scores = BlockScores.of(table.entry, table.block, compared(table).score, len(names))
    freedom = (scores.blocks - 1).clip(0)
    total = int(freedom.sum())
    return float(scores.variances @ freedom) / total if total else None


def without_forfeits(results: Iterable[MatchResult]) -> list[MatchResult]:
    """Return the results of all blocks without a forfeit.

    A forfeit excludes its whole block, because the remaining matches would not be balanced over the
    seats.
    """
    every = list(results)
    forfeited = {result.deal_block for result in every if result.forfeits}
    return [result for result in every if result.deal_block not in forfeited]


def by_schedule(results: Iterable[MatchResult]) -> list[MatchResult]:
    """Sort results by match name, with numbers in numerical order, then by attempt."""
    return sorted(
        results,
        key=lambda result: (
            # One string takes less memory than its parts.
            "\0".join(part.zfill(12) for part in _NUMBER.split(result.match_id)),
            result.attempt,
        ),
    )


def _tabulated(
    entries: Sequence[str], results: Iterable[MatchResult]
) -> "tuple[list[str], ResultTable]":
    from asara_server.tournament.standings.result_table import tabulate

    counted = [result for result in by_schedule(results) if not result.void]
    names = _names(entries, counted)
    return names, tabulate(names, counted)


def _unfinished(counted: Iterable[MatchResult], group: Mapping[str, int]) -> Unfinished:
    played = Counter(result.deal_block for result in counted if result.deal_block in group)
    lacks = [group[block] - number for block, number in played.items() if number < group[block]]
    return Unfinished(blocks=len(lacks), matches=sum(lacks))


def _remote_blocks(counted: Iterable[MatchResult], remote: frozenset[str]) -> int:
    tables = Counter(
        result.duplicate_deal
        for result in counted
        if result.duplicate_deal and not remote.isdisjoint(seat.entry for seat in result.seats)
    )
    return sum(number > 1 for number in tables.values())


def _names(entries: Sequence[str], results: Iterable[MatchResult]) -> list[str]:
    """Return these entries, followed by entries that only occur in the results."""
    names = dict.fromkeys(entries)
    names.update(dict.fromkeys(line.entry for result in results for line in result.seats))
    return list(names)
