"""Standings: computed from the results of the matches, never from stored totals. Pure.

`standings.json` is a `Standings` in JSON. It holds nothing that depends on the clock or on the
order in which matches ended: the same seed and deterministic bots give the same file.

    title            of the tournament
    complete         false where the run was cut short
    matches          scheduled, played (they count) and void (the referee failed)
    overall          one Line per entry, best first
    by_rule_sets     the same by set of rules, such as "pro+gifts"
    seat_effect      mean score of each seat, over all entries, by seats at the table

    A Line: place    1 for the best; entries with the same score share it
    entry            its name
    matches          how many it played
    score            mean of its match scores: 1 for first place down to 0 for last, in even steps;
                     who ties shares the mean of the places
    interval_95      low and high end of a 95 % interval of that mean (see `interval_95`)
    win_share        mean share of wins: 1 for a win, shared among those who tie for it; none for a
                     forfeit
    prestige         mean prestige of the matches that it did not forfeit; null without one
    faults           forfeits by kind: time_out, crash, never_started, rejected_replies,
                     protocol_violation; kinds that never happened are left out
    by_seat          matches and mean score in each seat, by seats at the table

Numbers are rounded to 6 decimals.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict

from asara_server.results import Termination, match_scores
from asara_server.tournament.results import MatchResult

_NORMAL_95 = 1.959964
"""Standard deviations that hold 95 % of a normal distribution."""

Mean = Annotated[float, AfterValidator(lambda value: round(value, 6))]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SeatScore(_Part):
    """How one seat of a table did."""

    seats: int
    """At the table."""
    seat: int
    """0 to seats - 1."""
    matches: int
    score: Mean


class Line(_Part):
    """One entry in a table of standings."""

    place: int
    entry: str
    matches: int
    score: Mean
    interval_95: tuple[Mean, Mean]
    win_share: Mean
    prestige: Mean | None
    faults: dict[str, int]
    by_seat: tuple[SeatScore, ...]


class MatchCounts(_Part):
    scheduled: int
    played: int
    void: int


class Standings(_Part):
    """Everything that `standings.json` holds."""

    title: str
    complete: bool
    matches: MatchCounts
    overall: tuple[Line, ...]
    by_rule_sets: dict[str, tuple[Line, ...]]
    seat_effect: tuple[SeatScore, ...]


class _Appearance(NamedTuple):
    """One seat of one match."""

    entry: str
    seats: int
    seat: int
    score: float
    win: float
    prestige: int
    termination: Termination


def compute_standings(
    title: str, entries: Sequence[str], scheduled: int, results: Iterable[MatchResult]
) -> Standings:
    """Standings from these results; entries that never played stand at the end."""
    every = sorted(results, key=lambda result: (result.match_id, result.attempt))
    counted = [result for result in every if not result.void]
    voided = {result.match_id for result in every if result.void}
    by_rules: dict[str, list[MatchResult]] = defaultdict(list)
    for result in counted:
        by_rules[result.rule_sets].append(result)
    return Standings(
        title=title,
        complete=len(counted) == scheduled,
        matches=MatchCounts(
            scheduled=scheduled,
            played=len(counted),
            void=len(voided - {result.match_id for result in counted}),
        ),
        overall=_lines(entries, counted),
        by_rule_sets={rules: _lines(entries, by_rules[rules]) for rules in sorted(by_rules)},
        seat_effect=_seat_scores(_appearances(counted)),
    )


def interval_95(mean: float, matches: int) -> tuple[float, float]:
    """A 95 % interval of the expected score, given the mean of this many independent matches.

    Wilson's interval. It takes the variance of a match to be that of a win or a loss, which no
    score between 0 and 1 exceeds: about right for two seats, too wide rather than too narrow for
    more, and never of no width because few matches happened to end alike.
    """
    if not matches:
        return 0.0, 1.0
    square = _NORMAL_95**2 / matches
    middle = (mean + square / 2) / (1 + square)
    half = sqrt(square * (mean * (1 - mean) + square / 4)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def _appearances(results: Iterable[MatchResult]) -> list[_Appearance]:
    parts: list[_Appearance] = []
    for result in results:
        ranks = [seat.rank for seat in result.seats]
        first = ranks.count(1)
        parts.extend(
            _Appearance(
                line.entry,
                len(ranks),
                seat,
                score,
                1 / first if line.rank == 1 and not line.termination.forfeit else 0.0,
                line.prestige,
                line.termination,
            )
            for seat, (line, score) in enumerate(
                zip(result.seats, match_scores(ranks), strict=True)
            )
        )
    return parts


def _lines(entries: Sequence[str], results: Iterable[MatchResult]) -> tuple[Line, ...]:
    """One line per entry, by score, then by wins, then by prestige, then by name."""
    own: dict[str, list[_Appearance]] = {entry: [] for entry in entries}
    for part in _appearances(results):
        own.setdefault(part.entry, []).append(part)
    means = {entry: _means(parts) for entry, parts in own.items()}
    order = sorted(own, key=lambda entry: (*(-(value or 0) for value in means[entry]), entry))
    lines: list[Line] = []
    for index, entry in enumerate(order):
        score, wins, prestige = means[entry]
        shares_place = bool(lines) and lines[-1].score == round(score, 6)
        lines.append(
            Line(
                place=lines[-1].place if shares_place else index + 1,
                entry=entry,
                matches=len(own[entry]),
                score=score,
                interval_95=interval_95(score, len(own[entry])),
                win_share=wins,
                prestige=prestige,
                faults=_faults(own[entry]),
                by_seat=_seat_scores(own[entry]),
            )
        )
    return tuple(lines)


def _means(parts: Sequence[_Appearance]) -> tuple[float, float, float | None]:
    """Mean score and wins, 0 without a match, and mean prestige."""
    count = len(parts) or 1
    earned = [part.prestige for part in parts if not part.termination.forfeit]
    return (
        fsum(part.score for part in parts) / count,
        fsum(part.win for part in parts) / count,
        sum(earned) / len(earned) if earned else None,
    )


def _faults(parts: Iterable[_Appearance]) -> dict[str, int]:
    counts = Counter(part.termination for part in parts if part.termination.forfeit)
    return {kind.name.lower(): counts[kind] for kind in sorted(counts)}


def _seat_scores(parts: Iterable[_Appearance]) -> tuple[SeatScore, ...]:
    scores: Mapping[tuple[int, int], list[float]] = defaultdict(list)
    for part in parts:
        scores[part.seats, part.seat].append(part.score)
    return tuple(
        SeatScore(seats=seats, seat=seat, matches=len(own), score=fsum(own) / len(own))
        for (seats, seat), own in sorted(scores.items())
    )
