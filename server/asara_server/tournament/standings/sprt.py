"""A sequential test of which of two entries is better, evaluated after every block. Pure.

A block is two matches of one deal with the seats swapped. Its score for entry A is the mean of the
two matches: 0, ¼, ½, ¾ or 1. Blocks are independent, so their scores are multinomial with five
values (pentanomial, in chess). The parameter of interest is the mean: the expected score s of A.

Two tests run side by side:

    A is not better, s ≤ ½,  against  A is better by the margin, s ≥ ½ + margin
    B is not better, s ≥ ½,  against  B is better by the margin, s ≤ ½ - margin

Each test is the generalised sequential probability ratio test (GSPRT) that fishtest and fastchess
use. L(s) is the largest log-likelihood of the blocks among all multinomials with mean s. The
log-likelihood ratio of a test is L(½ ± margin) - L(½). After every block,

    A is better                  if its ratio is at least log(2 / alpha)
    B is better                  if its ratio is at least log(2 / alpha)
    no difference of the margin  if both ratios are at most log(beta)

and otherwise another block is played. Consequently:

    if both are equally strong, the probability that either is called better is at most alpha;
    the probability that a weaker entry is called better is at most alpha / 2;
    if one is better by the margin or more, the probability of "no difference" is at most beta.

Between ½ and ½ + margin both answers are true. The bounds are Wald's bounds without his small
reduction (log((1 - beta) / alpha) and log(beta / (1 - alpha))): a likelihood ratio, whose
expectation is 1 under the first hypothesis, ever reaches 1 / p with a probability of at most p.
This is exact for known likelihoods. Here the likelihoods are estimated, but simulations in the
tests show that the error rates still hold.

The interval is a likelihood interval: all s whose L(s) is at most log(20) below the largest. When
the test stops, it contains the true score in about 95 % of duels or more, according to simulation.
It then always excludes the values that the test rejects (½, or both ½ ± margin, if alpha ≤ 0.1 and
beta ≤ 0.05), because L is concave. The interval is not valid simultaneously at all times.

Sources: A. Wald, "Sequential Tests of Statistical Hypotheses" (1945). M. Sobel and A. Wald, "A
Sequential Decision Procedure for Choosing One of Three Hypotheses" (1949): two tests side by side.
X. Li, J. Liu and Z. Ying, "Generalized Sequential Probability Ratio Test for Separate Families of
Hypotheses" (2014). M. Van den Bergh, "A Practical Introduction to the GSPRT" and "Comments on
Normalized Elo" (cantate.be/Fishtest): multinomials, and the largest likelihood under a given mean.
A. Owen, "Empirical Likelihood" (2001): its dual form, which is computed here.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from asara_server.tournament.standings.result_table import Floats

SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Possible scores of a block of two matches."""

_VALUES = np.array(SCORES)
_SUPPORT = math.log(20)
_STEPS = 40
"""Bisection steps for the multiplier: they give 12 digits, and more digits of the likelihood."""

_INTERVAL_STEPS = 24
"""Bisection steps for one end of the interval: they give seven digits."""

_SMALLEST, _LARGEST_MARGIN, _LARGEST_RATE = 0.001, 0.45, 0.5

Counts = NDArray[Any]
"""Number of blocks with each of SCORES; shape (..., 5)."""


class Verdict(Enum):
    """Conclusion about two entries, A and B."""

    OPEN = "open"
    """More blocks are needed."""
    A_BETTER = "a better"
    B_BETTER = "b better"
    NO_DIFFERENCE = "no difference"
    """Neither entry is better by the margin."""


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """The margin and error rates of the test. Raises ValueError if a value is out of range."""

    margin: float = 0.05
    """How far the expected score must exceed ½ to count as better; 0.001 to 0.45."""
    alpha: float = 0.05
    """Maximum probability of calling one of two equal entries better; 0.001 to 0.5."""
    beta: float = 0.05
    """Maximum probability of "no difference" if one entry is better by the margin; 0.001 to 0.5."""

    def __post_init__(self) -> None:
        for name, value, most in (
            ("margin", self.margin, _LARGEST_MARGIN),
            ("alpha", self.alpha, _LARGEST_RATE),
            ("beta", self.beta, _LARGEST_RATE),
        ):
            if not _SMALLEST <= value <= most:  # rejects NaN as well
                raise ValueError(f"{name}: must be {_SMALLEST:g} to {most:g}, not {value:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        """Ratios at which "better" is rejected (lower bound) and accepted (upper bound)."""
        return math.log(self.beta), math.log(2 / self.alpha)

    def ratios(self, counts: Counts) -> Floats:
        """Return the log-likelihood ratios of "A is better" and "B is better"; shape (..., 2)."""
        equal = log_likelihood(counts, 0.5)
        better = [log_likelihood(counts, 0.5 + sign * self.margin) for sign in (1, -1)]
        return np.stack(better, axis=-1) - equal[..., np.newaxis]

    def verdict(self, counts: Counts) -> Verdict:
        """Return the conclusion from the counts of blocks, shape (5,)."""
        a, b = self.ratios(counts)
        lower, upper = self.bounds
        if max(a, b) >= upper:
            return Verdict.A_BETTER if a > b else Verdict.B_BETTER
        return Verdict.NO_DIFFERENCE if max(a, b) <= lower else Verdict.OPEN

    def blocks_left(self, counts: Counts) -> float:
        """Estimate the number of further blocks from the trend of these counts, shape (5,).

        Infinite if there is no trend.
        """
        lower, upper = self.bounds
        leading = float(self.ratios(counts).max())
        bound = upper if leading > 0 else lower
        played = float(counts.sum())
        return max(0.0, played * (bound / leading - 1)) if played and leading else math.inf


def log_likelihood(counts: Counts, mean: float) -> Floats:
    """Return L(mean) minus the maximum of L, which is at the mean score; shape (...).

    The result is 0 at the mean score and negative elsewhere. `mean` must be above 0 and below 1.

    The likelihood of p, with Σ p = 1 and Σ p (score - mean) = 0, is largest for p = count / (1 + x
    (score - mean)) / blocks for a multiplier x that solves

        Σ count (score - mean) / (1 + x (score - mean)) = 0

    The left side decreases with x. If no x with all p positive makes it 0, a score that never
    occurred, 0 or 1, takes the remaining probability, and x is at the end of its range.
    """
    apart = _VALUES - mean
    low = np.full(np.shape(counts)[:-1], -1 / (1 - mean))
    high = np.full_like(low, 1 / mean)
    for _ in range(_STEPS):
        x = (low + high) / 2
        slope = (counts * apart / (1 + x[..., np.newaxis] * apart)).sum(axis=-1)
        low, high = np.where(slope > 0, x, low), np.where(slope > 0, high, x)
    x = (low + high) / 2
    return np.asarray(-(counts * np.log1p(x[..., np.newaxis] * apart)).sum(axis=-1))


def interval(counts: Counts) -> tuple[float, float]:
    """Return the likelihood interval of the expected score, from counts of blocks, shape (5,).

    The interval is 0 to 1 without a block.
    """
    played = counts.sum()
    score = mean_score(counts) if played else 0.5
    return _end(counts, score, 0.0), _end(counts, score, 1.0)


def mean_score(counts: Counts) -> float:
    """Return the mean score; at least one block is needed."""
    return float(counts @ _VALUES / counts.sum())


def elo(score: float) -> float:
    """Return the Elo difference for an expected score above 0 and below 1."""
    return 400 * math.log10(score / (1 - score))


def _end(counts: Counts, inside: float, outside: float) -> float:
    """Return one end of the interval, searching between its middle and 0 or 1."""
    if inside == outside:
        return inside
    limit = outside
    for _ in range(_INTERVAL_STEPS):
        mean = (inside + outside) / 2
        if log_likelihood(counts, mean) >= -_SUPPORT:
            inside = mean
        else:
            outside = mean
    return limit if abs(inside - limit) < 1e-6 else inside
