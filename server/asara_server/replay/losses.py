"""Where an entry loses, and whether another version of it loses less, from the analyses of matches.

Losses are in shares of a match. Only certain mistakes are added up, which are the decisions with a
label: the sum of all losses is mostly noise. The decisions of a match depend on each other, so all
intervals come from the variation between matches.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from statistics import fmean, stdev
from typing import Final, NamedTuple

from asara_server.replay.analysis_file import Analysis, Decision, SeatSum, Value
from asara_server.text import plain_words

MIN_MATCHES: Final = 5
"""Minimum number of matches for an interval. With fewer matches, it often exceeds all scores."""

DEAREST: Final = 10
"""Maximum number of decisions listed."""


class Subject(IntEnum):
    """The property by which decisions are grouped."""

    ALL = 0
    KIND = 1
    YEAR = 2
    RULE_SETS = 3


class Group(NamedTuple):
    """A group of decisions, such as those in year 2."""

    subject: Subject
    name: str


class Tally(NamedTuple):
    """Decisions of a seat: their number, how many are certain mistakes, and what these cost."""

    decisions: int = 0
    mistakes: int = 0
    loss: float = 0.0


class Seat(NamedTuple):
    """Summary of the analysis of a seat."""

    sums: SeatSum
    tallies: Mapping[Group, Tally]


class Analysed(NamedTuple):
    """Summary of the analysis of a match; `dearest` has the decisions that cost most."""

    match_id: str
    seats: tuple[Seat, ...]
    dearest: tuple[Decision, ...]


class Mean(NamedTuple):
    """A mean, and half the width of its 95 % interval; None for fewer than MIN_MATCHES matches."""

    mean: float
    half: float | None


ALL: Final = Group(Subject.ALL, "all decisions")


class Part(NamedTuple):
    """A group's part of the loss of an entry.

    - `decisions`, `mistakes`, `loss`: per match; for rule sets, per match under these rule sets
    - `share`: share of the whole loss; None if the whole loss may be zero
    """

    group: Group
    decisions: float
    mistakes: float
    loss: Mean
    share: Mean | None


class Change(NamedTuple):
    """A mean over the same matches before and now, and the mean difference."""

    name: str
    before: float
    now: float
    difference: Mean


def brief(found: Analysis, rule_sets: str, entry: str | None) -> Analysed:
    """Return the summary of an analysis. With an entry, `dearest` has only its own decisions."""
    tallies: list[dict[Group, Tally]] = [{} for _ in found.seats]
    for one in found.decisions:
        if one.loss is None:
            continue
        by_group = tallies[one.seat]
        for group in (
            ALL,
            Group(Subject.KIND, plain_words(one.kind)),
            Group(Subject.YEAR, f"year {one.year}"),
            Group(Subject.RULE_SETS, rule_sets),
        ):
            decisions, mistakes, loss = by_group.get(group, Tally())
            if one.label:
                mistakes, loss = mistakes + 1, loss + one.loss.mean
            by_group[group] = Tally(decisions + 1, mistakes, loss)
    own = (one for one in found.decisions if entry in (None, found.seats[one.seat].entry))
    return Analysed(found.match_id, tuple(map(Seat, found.seats, tallies)), tuple(dearest(own)))


def dearest(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that cost most, the dearest first."""
    costly = [one for one in decisions if cost_of(one) > 0]
    return sorted(costly, key=cost_of, reverse=True)[:DEAREST]


def cost_of(decision: Decision) -> float:
    """Return the loss of a decision; 0 if it was forced."""
    return decision.loss.mean if decision.loss is not None else 0.0


def loss_of(seat: Seat, group: Group = ALL) -> float:
    """Return what the certain mistakes of a seat cost; with a group, only those in the group."""
    return seat.tallies.get(group, Tally()).loss


def certain_loss(found: Analysis, seat: int) -> Value:
    """Return what the certain mistakes of a seat cost, with the standard error of the playouts."""
    own = (one for one in found.decisions if one.seat == seat and one.label)
    losses = [one.loss for one in own if one.loss is not None]
    error = math.sqrt(sum(loss.error**2 for loss in losses))
    return Value(mean=sum(loss.mean for loss in losses), error=error, worlds=0)


def parts_of(seats: Sequence[Seat]) -> list[Part]:
    """Return all groups of an entry's decisions; there is a `Seat` for each match.

    The kinds that cost most come first. Rule sets are left out if there is only one.
    """
    parts = [_part(group, seats) for group in sorted({g for seat in seats for g in seat.tallies})]
    if sum(part.group.subject is Subject.RULE_SETS for part in parts) == 1:
        parts = [part for part in parts if part.group.subject is not Subject.RULE_SETS]
    return sorted(parts, key=_order)


def _order(part: Part) -> tuple[Subject, float]:
    subject = part.group.subject
    return subject, -part.loss.mean if subject is Subject.KIND else 0.0


def _part(group: Group, seats: Sequence[Seat]) -> Part:
    chosen = [
        seat.tallies.get(group, Tally())
        for seat in seats
        if group.subject is not Subject.RULE_SETS or group in seat.tallies
    ]
    return Part(
        group,
        fmean(tally.decisions for tally in chosen),
        fmean(tally.mistakes for tally in chosen),
        mean_of([tally.loss for tally in chosen]),
        _share(group, seats),
    )


def _share(group: Group, seats: Sequence[Seat]) -> Mean | None:
    """Return the group's share of the whole loss, with the interval of a ratio of two sums."""
    wholes = [loss_of(seat) for seat in seats]
    mean, half = mean_of(wholes)
    if half is None or mean <= half:
        return None
    losses = [loss_of(seat, group) for seat in seats]
    share = sum(losses) / sum(wholes)
    rests = [loss - share * whole for loss, whole in zip(losses, wholes, strict=True)]
    return Mean(share, _half_width(rests) / mean)


def changes_of(pairs: Sequence[tuple[Seat, Seat]]) -> list[Change]:
    """Return how the score and the losses of an entry changed, overall and by kind of decision.

    A pair is the same seat of the same deal, played before and now.
    """
    found = [_change("score", [(before.sums.score, now.sums.score) for before, now in pairs])]
    for part in parts_of([seat for pair in pairs for seat in pair]):
        if part.group.subject in (Subject.ALL, Subject.KIND):
            losses = [
                (loss_of(before, part.group), loss_of(now, part.group)) for before, now in pairs
            ]
            found.append(_change(f"lost: {part.group.name}", losses))
    return found


def _change(name: str, pairs: Sequence[tuple[float, float]]) -> Change:
    before, now = zip(*pairs, strict=True)
    differences = [later - earlier for earlier, later in pairs]
    return Change(name, fmean(before), fmean(now), mean_of(differences))


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of independent values, with Student's interval."""
    return Mean(fmean(values), _half_width(values) if len(values) >= MIN_MATCHES else None)


def _half_width(values: Sequence[float]) -> float:
    from scipy.special import stdtrit

    number = len(values)
    return float(stdtrit(number - 1, 0.975)) * stdev(values) / math.sqrt(number)
