"""Computes standings from the results of the matches, never from stored totals. Pure.

This module loads numerical libraries, which programs that only read standings do not need.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from asara_codec.results import Termination
from asara_server.tournament.standings.intervals_and_ranks import (
    ERROR,
    error_of,
    intervals_95,
    ranks_and_chances,
)
from asara_server.tournament.standings.match_result import MatchResult, by_schedule
from asara_server.tournament.standings.model import (
    DealShareRow,
    MatchCounts,
    PairingRow,
    SeatScore,
    Standings,
    StandingsRow,
    Unfinished,
)
from asara_server.tournament.standings.plackett_luce import ladder
from asara_server.tournament.standings.result_table import (
    BlockScores,
    Floats,
    Indices,
    ResultTable,
    compared,
    tabulate,
)

_MOST_SEATS = 8
"""More seats than any table has; (seats, seat) is encoded as two digits in this base."""


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
    error = error_of(looks)
    every = tuple(results)
    voided = {result.match_id for result in every if result.void}
    counted, names, table = _tabulated(entries, every)
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
    _, names, table = _tabulated(entries, results)
    rows = summarize(names, table, compared(table).score, error_of(looks))
    settled = {row.ranks[0] for row in rows if row.ranks and row.ranks[0] == row.ranks[1]}
    return settled.issuperset(range(1, places + 1))


def block_variance(results: Iterable[MatchResult]) -> float | None:
    """Return the variance of an entry's block scores, pooled over all entries; None if unknown."""
    _, names, table = _tabulated((), results)
    scores = BlockScores.of(table.entry, table.block, compared(table).score, len(names))
    freedom = (scores.blocks - 1).clip(0)
    total = int(freedom.sum())
    return float(scores.variances @ freedom) / total if total else None


def _tabulated(
    entries: Sequence[str], results: Iterable[MatchResult]
) -> tuple[list[MatchResult], list[str], ResultTable]:
    """Return the results that count, in schedule order, with the names and table of the entries.

    Entries that only occur in the results come after `entries`.
    """
    counted = [result for result in by_schedule(results) if not result.void]
    names = list(dict.fromkeys([*entries, *(line.entry for one in counted for line in one.seats)]))
    return counted, names, tabulate(names, counted)


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


# Rows: one per entry, and one for each two entries that met


def summarize(
    names: Sequence[str],
    parts: ResultTable,
    score: Floats,
    error: float = ERROR,
    *,
    ranked: bool = True,
) -> tuple[StandingsRow, ...]:
    """Return a row per entry, ordered by score, then wins, then prestige, then name.

    `score` is the compared score of each row of `parts`. Rank sets and chances of being first are
    left out unless `ranked`.
    """
    count = len(names)
    scores = BlockScores.of(parts.entry, parts.block, score, count)
    raw = BlockScores.of(parts.entry, parts.block, parts.score, count).means
    ranks, chances = None, np.full(count, np.nan)
    if ranked:
        ranks, chances = ranks_and_chances(scores, error, parts.connected(count))
    matches = np.bincount(parts.entry, minlength=count)
    wins = np.bincount(parts.entry, parts.win, count) / np.maximum(matches, 1)
    prestige = _prestige(parts, count)
    faults = np.zeros((count, len(Termination)), np.intp)
    np.add.at(faults, (parts.entry, parts.termination), 1)
    ends = intervals_95(scores, error)
    means = scores.means.round(6)
    level = np.where(matches > 0, means, -np.inf)  # entries that have not played come last
    order = sorted(
        range(count),
        key=lambda e: (-level[e], -wins[e].round(6), -np.nan_to_num(prestige[e]), names[e]),
    )
    better = np.searchsorted(np.sort(-level), -level)
    seats = _seat_scores(parts.entry, parts, count)
    return tuple(
        StandingsRow(
            place=int(better[e]) + 1,
            entry=names[e],
            matches=int(matches[e]),
            blocks=int(scores.blocks[e]),
            score=float(means[e]),
            interval_95=None if np.isnan(ends[e]).any() else (float(ends[e, 0]), float(ends[e, 1])),
            ranks=None if ranks is None else (int(ranks[e, 0]), int(ranks[e, 1])),
            first_chance=_number(chances[e]),
            match_score=float(raw[e]),
            win_share=float(wins[e]),
            prestige=_number(prestige[e]),
            faults={
                kind.name.lower(): int(faults[e, kind])
                for kind in Termination
                if kind.forfeit and faults[e, kind]
            },
            by_seat=seats[e],
        )
        for e in order
    )


def seat_effect(parts: ResultTable) -> tuple[SeatScore, ...]:
    """Return the mean score in each seat, over all entries."""
    return _seat_scores(np.zeros_like(parts.entry), parts, 1)[0]


def cross_table(
    names: Sequence[str], parts: ResultTable, order: Sequence[str], error: float = ERROR
) -> tuple[PairingRow, ...]:
    """Return a row for each pair of entries that met, with the earlier one in `order` as `entry`.

    `parts` is the result table, made with `names`.
    """
    place = {name: number for number, name in enumerate(order)}
    ordered = np.array([place[name] for name in names], np.intp)[parts.entry]
    pair, block, score = _meetings(parts, ordered, len(names))
    pairs, party = np.unique(pair, return_inverse=True)
    scores = BlockScores.of(party, block, score, len(pairs))
    return tuple(
        PairingRow(
            entry=order[code // len(names)],
            opponent=order[code % len(names)],
            matches=matches,
            blocks=blocks,
            score=mean,
            interval_95=(low, high),
        )
        for code, matches, blocks, mean, (low, high) in zip(
            pairs.tolist(),
            np.bincount(party, minlength=len(pairs)).tolist(),
            scores.blocks.tolist(),
            scores.means.tolist(),
            intervals_95(scores, error).tolist(),
            strict=True,
        )
    )


def _prestige(parts: ResultTable, count: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return each entry's mean prestige in matches it did not forfeit; NaN without such a match."""
    kept = ~parts.forfeit
    entry = parts.entry[kept]
    matches = np.bincount(entry, minlength=count)
    total = np.bincount(entry, parts.prestige[kept], count)
    return np.where(matches > 0, total / np.maximum(matches, 1), np.nan)


def _seat_scores(party: Indices, parts: ResultTable, parties: int) -> list[tuple[SeatScore, ...]]:
    """Return, for each party, the number of matches and the mean score in each seat."""
    kinds = _MOST_SEATS * _MOST_SEATS
    code = (party * _MOST_SEATS + parts.seats) * _MOST_SEATS + parts.seat
    matches = np.bincount(code, minlength=parties * kinds).reshape(parties, kinds)
    scores = np.bincount(code, parts.score, parties * kinds).reshape(parties, kinds)
    return [
        tuple(
            SeatScore(
                seats=int(kind) // _MOST_SEATS,
                seat=int(kind) % _MOST_SEATS,
                matches=int(own[kind]),
                score=float(total[kind] / own[kind]),
            )
            for kind in np.flatnonzero(own)
        )
        for own, total in zip(matches, scores, strict=True)
    ]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _meetings(parts: ResultTable, entry: Indices, entries: int) -> tuple[Indices, Indices, Floats]:
    """Return the pair, block and score for every pair of seats in every match.

    The pair i < j is encoded as i * entries + j, and the score is the score of i.
    """
    rows = [np.empty((2, 0), np.intp)]
    for seats in np.unique(parts.seats):
        match = np.flatnonzero(parts.seats == seats).reshape(-1, seats).T
        rows += [match[[one, other]] for one in range(seats) for other in range(one)]
    one, other = np.concatenate(rows, axis=1)
    apart = entry[one] != entry[other]
    one, other = one[apart], other[apart]
    above = np.where(entry[one] < entry[other], one, other)
    below = one + other - above
    score = (1 + np.sign(parts.score[above] - parts.score[below])) / 2
    return entry[above] * entries + entry[below], parts.block[above], score
