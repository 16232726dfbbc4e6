"""Intervals for the expected score of a block, from ten blocks on. Pure and deterministic.

A block score has few values: 0, ½ and 1 in a mirrored block of two seats. If most blocks end alike,
the few other blocks determine the sample variance and every resample. A Student, percentile or BCa
interval is then too narrow whenever these few blocks happen to be missing or all on one side. The
binomial distribution has the same difficulty, which the exact interval of Clopper and Pearson
solves. Korn and Graubard extend this solution to means of other variables:

    The mean of n blocks, with mean m and sample variance s², varies as much as the share of wins in
    n* = n m (1 - m) / s²  matches that are won or lost. The interval is the Clopper-Pearson
    interval for m n* wins in n* matches. Because s² is an estimate, n* is multiplied by (z / t)²,
    where z and t are the 97.5 % quantiles of the normal distribution and of Student's with n - 1
    degrees of freedom.

For many blocks this is Student's interval. For few blocks it leans towards ½, as the skewness of a
share demands. No score between 0 and 1 varies more than a win or a loss, so n* is at least n, and
this interval is never wider than the Clopper-Pearson interval for n blocks. If blocks are only won
or lost, the two intervals are equal.

The skewness depends on the range of the scores. A block that scores ½ or 1, never 0, is as skewed
as a win or a loss between ½ and 1. Therefore the interval is computed a second time with the
party's lowest and highest block score instead of 0 and 1, which is exact for two values. The result
covers both intervals. With 10 to 40 blocks, the coverage is at least 94 % for nearly all mixtures
of 0, ½ and 1, and at least 92 % for the other mixtures (the tests enumerate them).

If all blocks ended with the same score c, or nearly so, s² is no use. When no other score occurs in
n blocks, the probability p of another score is at most 1 - 0.025^(1/n), at the level of one end of
an interval. So the expected score is at least c (1 - p) and at most c + (1 - c) p. For c = 0 and 1
this is the Clopper-Pearson interval.

No short interval allows for a rare, distant score that has not occurred yet. For example, if one
block in ten ends with a crash, one in eight samples of twenty blocks contains no crash. Intervals
with guaranteed coverage for all distributions do allow for such scores, but are up to two and a
half times as wide (for example E. Learned-Miller and P. S. Thomas, "A New Confidence Interval for
the Mean of a Bounded Random Variable", 2019).

Sources: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in
the Case of the Binomial" (1934). E. L. Korn and B. I. Graubard, "Confidence Intervals for
Proportions with Small Expected Number of Positive Counts Estimated from Survey Data" (1998);
`svyciprop(method="beta")` in R computes their interval, and the data presentation standards of the
US National Center for Health Statistics (2017) use it.
"""

import math
from collections.abc import Sequence

import numpy as np

from asara_server.tournament.standings.result_table import BlockScores, Floats, Indices

MIN_BLOCKS = 10
"""Minimum number of blocks for a party's sample variance to be used."""

ERROR = 0.05
"""Probability that an interval does not contain the true value."""

_ALIKE = 0.05
"""If the highest and lowest score differ by less than this, all blocks ended alike.

Comparisons in duplicate blocks change the scores of won matches by thousandths.
"""


def error_of(looks: Sequence[int]) -> float:
    """Return the error of each look so that this many looks together have an error of 5 %."""
    return ERROR / max(1, len(looks))


def blocks_for(half_width: float, variance: float, error: float = ERROR) -> int:
    """Return the number of blocks for an interval of about the mean plus or minus `half_width`.

    `variance` is the variance of a block score.
    """
    from scipy.special import ndtri

    return max(MIN_BLOCKS, math.ceil(variance * (ndtri(1 - error / 2) / half_width) ** 2))


def intervals_95(scores: BlockScores, error: float = ERROR) -> Floats:
    """Return the 95 % interval of each party's expected score; shape (parties, 2).

    Each interval contains the party's mean. It is within 0 and 1 unless the mean is not. A party
    without a block has NaN. `error` is less than 5 % if the results are looked at several times;
    see `schedule.schedule`.
    """
    blocks, means, variances = scores.blocks, scores.means, scores.variances
    shares = means.clip(0, 1)
    ends = exact_intervals_95(shares, blocks, error)
    low, high = scores.ranges
    alike = (blocks > 0) & (high - low < _ALIKE)
    ends[alike] = _alike_intervals(shares[alike], blocks[alike], error)
    some = (blocks >= MIN_BLOCKS) & ~alike
    low, high = low[some], high[some]
    sample = means[some], variances[some], blocks[some]
    possible = _effective_intervals(*sample, np.minimum(low, 0), np.maximum(high, 1), error)
    seen = _effective_intervals(*sample, low, high, error)
    ends[some, 0] = np.minimum(possible[:, 0], seen[:, 0]).clip(0, 1)
    ends[some, 1] = np.maximum(possible[:, 1], seen[:, 1]).clip(0, 1)
    ends = np.stack((np.minimum(ends[:, 0], means), np.maximum(ends[:, 1], means)), axis=-1)
    ends[blocks == 0] = np.nan
    return ends


def exact_intervals_95(means: Floats, trials: Floats | Indices, error: float = ERROR) -> Floats:
    """Return the Clopper-Pearson intervals; shape (parties, 2).

    Every trial is won or lost, and `means` are the shares of wins. The numbers of trials need not
    be whole. No interval has zero width.
    """
    from scipy.special import betaincinv

    counts = np.stack((trials * means, trials * (1 - means)))
    (won, lost), where = np.unique(counts, axis=1, return_inverse=True)  # pairs are often alike
    low = betaincinv(won, lost + 1, error / 2)  # NaN if none is won
    high = betaincinv(won + 1, lost, 1 - error / 2)
    ends = np.stack((np.where(won > 0, low, 0), np.where(lost > 0, high, 1)), axis=-1)
    return np.asarray(ends[where.ravel()])


def _alike_intervals(scores: Floats, blocks: Indices, error: float) -> Floats:
    """Return intervals for parties whose blocks all have one score; shape (parties, 2)."""
    same = (error / 2) ** (1 / blocks)
    return np.stack((scores * same, 1 - (1 - scores) * same), axis=-1)


def _effective_intervals(
    means: Floats,
    variances: Floats,
    blocks: Indices,
    least: Floats,
    most: Floats,
    error: float,
) -> Floats:
    """Return the Korn-Graubard intervals; shape (parties, 2).

    A party's scores are assumed to be between `least` and `most`.
    """
    from scipy.special import ndtri, stdtrit

    span = most - least
    share = (means - least) / span
    student = stdtrit(blocks - 1, 1 - error / 2) / ndtri(1 - error / 2)
    trials = blocks * share * (1 - share) * span**2 / (variances * student**2)
    ends = exact_intervals_95(share, np.maximum(trials, blocks), error)
    return least[:, np.newaxis] + ends * span[:, np.newaxis]
