"""The evaluations, computed from towers, money and the patronage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .edition import Award, Edition
from .events import FinalEvaluated, YearEvaluated
from .vocabulary import COLOURS, Colour, Tower


class Outcome(NamedTuple):
    """Result of a match: prestige by seat, and the seats that share the highest prestige."""

    prestige: tuple[int, ...]
    winners: tuple[int, ...]


class _Ranked(NamedTuple):
    """A competitor for an award: a single tower, or all towers of a seat."""

    rank: tuple[int, int]
    """Size first, then lit windows, which break a tie."""
    seat: int


def year_evaluation(towers: Sequence[Sequence[Tower]], patronage: int) -> list[YearEvaluated]:
    """Return the prestige earned at the end of a year, by seat."""
    rows = []
    for seat, own in enumerate(towers):
        gold = sum(tower.gold for tower in own)
        lit = sum(tower.lit for tower in own)
        tile = int(seat == patronage)
        rows.append(
            YearEvaluated(seat, len(own), gold, lit, tile, prestige=len(own) + gold + lit + tile)
        )
    return rows


def final_evaluation(
    edition: Edition, towers: Sequence[Sequence[Tower]], money: Sequence[int]
) -> list[FinalEvaluated]:
    """Return the prestige earned after the last year, by seat."""
    seats = len(towers)
    colours = [
        _award(award, seats, _ranked(towers, {colour}))
        for colour, award in zip(COLOURS, edition.colour_awards, strict=True)
    ]
    highest = _award(edition.highest_award, seats, _ranked(towers, set(COLOURS)))
    owners = (
        _Ranked((len(own), sum(tower.lit for tower in own)), seat)
        for seat, own in enumerate(towers)
        if own  # ruling R11
    )
    most = _award(edition.most_award, seats, owners)
    rows = []
    for seat in range(seats):
        by_colour = tuple(points[seat] for points in colours)
        asari = money[seat] // edition.asari_per_prestige
        total = sum(by_colour) + highest[seat] + most[seat] + asari
        rows.append(
            FinalEvaluated(seat, by_colour, highest[seat], most[seat], asari, prestige=total)
        )
    return rows


def _ranked(towers: Sequence[Sequence[Tower]], colours: set[Colour]) -> Iterable[_Ranked]:
    return (
        _Ranked((tower.height, tower.lit), seat)
        for seat, own in enumerate(towers)
        for tower in own
        if tower.colour in colours
    )


def _award(award: Award, seats: int, ranked: Iterable[_Ranked]) -> list[int]:
    """Return the prestige for an award, by seat.

    Tied seats share the prestige of their places, rounded up. Places without a seat pay nothing
    (ruling R12).
    """
    points = [0] * seats
    rows = sorted(ranked, key=lambda row: row.rank, reverse=True)
    if not rows:
        return points
    best = [row for row in rows if row.rank == rows[0].rank]
    if len(best) > 1:
        _share(points, award.first + award.second, best)
        return points
    points[best[0].seat] += award.first
    second = [row for row in rows[1:] if row.rank == rows[1].rank]
    if second:
        _share(points, award.second, second)
    return points


def _share(points: list[int], prestige: int, tied: Sequence[_Ranked]) -> None:
    each = -(-prestige // len(tied))
    for row in tied:
        points[row.seat] += each
