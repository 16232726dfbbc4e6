"""Intervals for the expected score of a block, and which ranks the data allow. Pure.

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

The true rank of an entry is one more than the number of entries with a higher expected score. Its
rank set follows from comparing all entries with each other. With a probability of 95 %, not a
single one of these comparisons is wrong:

    best rank   1 + number of entries that are certainly better
    worst rank  entries - number of entries that are certainly worse

So all entries' sets contain their true ranks simultaneously (Mogstad, Romano, Shaikh and Wilhelm,
"Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement
across Countries", 2024; the R package `csranks`). Two entries certainly differ if the difference of
their scores, divided by its standard error, exceeds a bound. To find the bound, scores are drawn
without any true difference: in 95 % of these draws, the largest quotient of all pairs is below the
bound. Pairs that differ are removed, and the bound for the remaining pairs is drawn again, until no
further pair differs (step-down; Romano and Wolf, "Exact and Approximate Stepdown Methods for
Multiple Hypothesis Testing", 2005).

The unit is the block. Entries that met in a block have dependent scores there, so draws and
standard errors use the covariance of all scores. The bound is converted from the normal
distribution to Student's, using the smaller of the two entries' numbers of blocks. Three additions
guard against errors with few blocks:

- With fewer than ten blocks, each block is treated as won or lost.
- Otherwise, a quarter of a block is added that is won or lost, as often as the entry's blocks with
  one more win and one more loss. So no variance is zero, although all blocks may have ended alike.
- The bound is multiplied by (n + 2) / n, or (n + 1) / n with fewer than ten blocks, for as many
  wins and losses n as leave the same doubt as the blocks, like n* above. Otherwise, thirteen coins,
  which have only two results, would separate two equal entries in 9 % of cases.

The first chance is the share of draws, around the scores, in which the entry is first. Draws are
multiplied as the bound is.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from asara_server.tournament.standings.result_table import BlockScores, Floats, Indices, Mask

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


# Ranks

DRAWS: Final = 10_000
"""Number of draws; chance changes a probability of ½ by about 0.5 %."""
_CELLS: Final = 2e8
"""Maximum number of entry pairs times draws; with many entries, there are fewer draws."""
_FEWEST_DRAWS: Final = 250
_CELLS_AT_ONCE: Final = 1_000_000
_MOST_ROUNDS: Final = 4
"""Maximum rounds of step-down; further rounds hardly ever find another pair."""
_SEED: Final = 4
"""Fixed seed of the draws, so that the same results give the same standings."""
_ADDED_BLOCKS: Final = 0.25


def ranks_and_chances(
    scores: BlockScores, error: float = ERROR, group: Indices | None = None
) -> tuple[Indices, Floats]:
    """Return each party's best and worst rank, shape (parties, 2), and its chance of being first.

    A party without a block may have any rank, and its chance is NaN. `error` is the probability
    that any rank is wrong. Parties with different `group` values cannot be compared: none is
    certainly better, and no party has a chance.
    """
    if group is None:
        group = np.zeros(scores.parties, np.intp)
    played = scores.blocks > 0
    ranks = np.tile(np.array([1, scores.parties]), (scores.parties, 1))
    chances = np.full(scores.parties, np.nan)
    if played.any():
        some = np.ix_(played, played)
        means = scores.means[played]
        covariance = _covariance(scores)[some]
        drawn = draws(covariance)
        group = group[played]
        comparable = group[:, np.newaxis] == group
        freedom = scores.blocks[played] - 1
        ranks[played] = rank_sets(means, covariance, drawn, freedom, error, comparable)
        ranks[played, 1] += np.count_nonzero(~played)  # an entry that has not played may be better
        if comparable.all():
            wide = drawn * _widening(means, np.diag(covariance), freedom)
            first = (means + wide).argmax(axis=1)
            chances[played] = np.bincount(first, minlength=len(means)) / len(first)
    return ranks, chances


def rank_sets(
    means: Floats,
    covariance: Floats,
    drawn: Floats,
    freedom: Indices,
    error: float = ERROR,
    comparable: Mask | bool = True,
) -> Indices:
    """Return each party's best and worst rank; shape (parties, 2).

    `drawn` are draws of `means` without true differences. `freedom` gives each party's degrees of
    freedom for its variance. `comparable` has a row and a column for each party.
    """
    from scipy.special import ndtr, stdtrit

    parties = len(means)
    variances = np.diag(covariance)
    apart = np.sqrt(np.maximum(variances + variances[:, np.newaxis] - 2 * covariance, 1e-18))
    lead = (means[:, np.newaxis] - means) / apart
    widening = _widening(means, variances, freedom)
    open_ = ~np.eye(parties, dtype=np.bool_)
    for _ in range(_MOST_ROUNDS):
        bound = np.quantile(_largest(drawn, apart, open_), 1 - error)
        student = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1), ndtr(bound)), np.inf)
        student *= widening
        better = open_ & comparable & (lead > np.maximum(student, student[:, np.newaxis]))
        if not better.any():
            break
        open_ &= ~better
    certain = ~open_ & ~np.eye(parties, dtype=np.bool_)
    return np.stack((1 + certain.sum(axis=0), parties - certain.sum(axis=1)), axis=-1)


def draws(covariance: Floats) -> Floats:
    """Return draws of the normal distribution around 0; shape (draws, parties)."""
    number = int(min(DRAWS, max(_FEWEST_DRAWS, _CELLS / len(covariance) ** 2)))
    rng = np.random.default_rng(_SEED)
    root = np.linalg.cholesky(covariance)
    return np.asarray(rng.standard_normal((number, len(covariance))) @ root.T)


def _largest(drawn: Floats, apart: Floats, open_: Mask) -> Floats:
    """Return the largest standardized difference of each draw among the pairs still open."""
    scale = np.where(open_, 1 / apart, 0).astype(np.float32)
    parts = np.array_split(drawn.astype(np.float32), 1 + drawn.size * len(scale) // _CELLS_AT_ONCE)
    leads = ((part[:, :, np.newaxis] - part[:, np.newaxis]) * scale for part in parts)
    return np.concatenate([lead.max(axis=(1, 2)) for lead in leads])


def _widening(means: Floats, variances: Floats, freedom: Indices) -> Floats:
    blocks = freedom + 1
    share = (blocks * means + 1) / (blocks + 2)
    matches = np.maximum(blocks, share * (1 - share) / variances)
    return np.asarray(1 + np.where(blocks < MIN_BLOCKS, 1, 2) / matches)


def _covariance(scores: BlockScores) -> Floats:
    """Return the covariance of the mean scores; shape (parties, parties)."""
    from scipy.sparse import csr_array

    blocks, means = np.maximum(scores.blocks, 1), scores.means
    rest = (scores.score - means[scores.party]) / blocks[scores.party]
    rest *= np.sqrt(blocks / np.maximum(blocks - 1, 1))[scores.party]
    table = csr_array((rest, (scores.block, scores.party)), (scores.total, scores.parties))
    covariance = (table.T @ table).toarray()
    share = (blocks * means.clip(0, 1) + 1) / (blocks + 2)
    added = _ADDED_BLOCKS * share * (1 - share) / blocks**2
    won_or_lost = np.maximum(0.25 / blocks - np.diag(covariance), added)
    covariance[np.diag_indices_from(covariance)] += np.where(
        blocks < MIN_BLOCKS, won_or_lost, added
    )
    return np.asarray(covariance)
