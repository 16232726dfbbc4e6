"""Means with standard errors, and the score that a seat can expect for a lead."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from asara_game.state import State

__all__ = [
    "LUCK_SPREAD",
    "LUCK_WEIGHT",
    "VALUE_SPREAD",
    "Estimate",
    "Sums",
    "expected_scores",
    "scale_of",
]

VALUE_SPREAD: Final = 0.4
"""Prestige by which a turn of the greedy policy may misjudge the lead, for values of decisions."""
LUCK_SPREAD: Final = 1.0
"""The same for values of draws."""
LUCK_WEIGHT: Final = 0.25
"""Share of what a draw changes in greedy play that it also changes in real matches."""


class Estimate(NamedTuple):
    """A mean of playouts, in shares of a match, and its standard error."""

    mean: float
    error: float
    worlds: int


class Sums:
    """A number of values, their sum, and the sum of their squares."""

    __slots__ = ("number", "squares", "total")

    def __init__(self) -> None:
        self.number = 0
        self.total = 0.0
        self.squares = 0.0

    def add(self, value: float) -> None:
        self.number += 1
        self.total += value
        self.squares += value * value

    def add_estimate(self, estimate: Estimate) -> None:
        """Add the values of which an estimate is the mean."""
        mean, error, number = estimate
        self.number += number
        self.total += number * mean
        self.squares += number * (mean * mean + (number - 1) * error * error)

    def estimate(self) -> Estimate:
        """Return the mean and its standard error, which is 0.5 for a single value."""
        number = self.number
        if not number:
            return Estimate(0.0, 0.5, 0)
        mean = self.total / number
        if number == 1:
            return Estimate(mean, 0.5, 1)
        variance = max(self.squares - number * mean * mean, 0.0) / (number - 1)
        return Estimate(mean, math.sqrt(variance / number), number)


def scale_of(state: State, spread: float) -> float:
    """Return how much the policy may misjudge a lead from here, in prestige.

    Errors of the turns are independent, so the scale grows with the root of their number: the
    buyers that all seats can still dispatch. It is 0 at the end of a match.
    """
    rules = state.rules
    years_after = rules.edition.years - state.year
    turns = sum(state.hand_sizes) + rules.hand_size * rules.seats * years_after
    return spread * math.sqrt(max(turns, 0))


def expected_scores(
    prestige: Sequence[float], scale: float, behind: Collection[int] = ()
) -> list[float]:
    """Return the score that each seat can expect if a playout brings it this prestige.

    A seat's score is its mean score against each other seat, as in the ranks of a match: 1 for more
    prestige, half for as much. The policy played for real players, who would have decided otherwise
    now and then. So a small lead counts as less than a win: a lead of `scale` is worth 0.73. Seats
    `behind` have forfeited.
    """
    seats = len(prestige)
    scores = [0.0] * seats
    for seat in range(seats):
        for other in range(seat):
            if (seat in behind) != (other in behind):
                share = 0.0 if seat in behind else 1.0
            elif seat in behind:
                share = 0.5
            else:
                share = _share(round(prestige[seat] - prestige[other], 1), scale)
            scores[seat] += share
            scores[other] += 1.0 - share
    return [score / (seats - 1) for score in scores]


@lru_cache(maxsize=100_000)
def _share(lead: float, scale: float) -> float:
    """Return the expected score for a lead, rounded so that all machines agree."""
    if lead == 0.0:
        return 0.5
    if not scale:
        return 1.0 if lead > 0.0 else 0.0
    return round(1.0 / (1.0 + math.exp(-max(min(lead / scale, 40.0), -40.0))), 9)
