"""The score that a seat could expect in the course of a match, from what it knew at its decisions.

A single decision has few playouts. Decisions of a turn with no labelled decision between them
estimate the same score, so their playouts are taken together. The score falls within a turn only
where a decision has a label: smaller losses are mostly noise.
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

    A score is a mean of playouts, so it is between 0 and 1: a loss, which other playouts found, is
    never added to it.
    """
    parts = [Sums()]
    falls: list[Priced] = []
    for one in turn:
        parts[-1].add_estimate(one.expected)
        if label_of(one.loss):
            falls.append(one)
            mean, error, worlds = one.expected
            parts.append(Sums())
            parts[-1].add_estimate(Estimate(mean - one.loss.mean, error, worlds))
    score = parts[0].estimate()
    course = [(turn[0].before, score)]
    for one, rest in zip(falls, parts[1:], strict=True):
        course.append((one.before, score))
        score = min(score, rest.estimate(), key=lambda estimate: estimate.mean)
        course.append((one.after, score))
    return course
