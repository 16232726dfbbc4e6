"""The score that a seat could expect in the course of a match, from what it knew at its decisions.

A single decision has few playouts. All decisions of a turn estimate the same score, so their
playouts are taken together. The score falls within a turn only where a decision has a label:
smaller losses are mostly noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .decision_price import label_of
from .statistics import Estimate, Sums

__all__ = ["Priced", "turn_course"]


class Priced(NamedTuple):
    """A decision of a turn: the numbers of events before and after it, and its price."""

    before: int
    after: int
    expected: Estimate
    loss: Estimate


def turn_course(turn: Sequence[Priced]) -> list[tuple[int, Estimate]]:
    """Return the expected score in the course of a turn, each time with the number of events
    before.
    """
    sums = Sums()
    lost = 0.0
    for _, _, (mean, error, worlds), loss in turn:
        sums.add_estimate(Estimate(mean + lost, error, worlds))
        lost += _certain(loss)
    mean, error, worlds = sums.estimate()
    course = [(turn[0].before, Estimate(mean, error, worlds))]
    for before, after, _, loss in turn:
        if _certain(loss):
            course.append((before, Estimate(_bounded(mean), error, worlds)))
            mean -= loss.mean
            course.append((after, Estimate(_bounded(mean), error, worlds)))
    return course


def _certain(loss: Estimate) -> float:
    return loss.mean if label_of(loss) else 0.0


def _bounded(score: float) -> float:
    return min(max(score, 0.0), 1.0)
