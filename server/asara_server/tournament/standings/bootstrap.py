"""Bootstrap of mean scores over deal blocks: the chance of being first. Pure and deterministic.

A resample draws as many blocks as were played, with replacement, and recomputes the mean of every
party. All parties share the drawn blocks, so the scores of entries that met in a block rise and
fall together, and each resample has a meaningful first place.

`scipy.stats.bootstrap` draws block indices once for all parties; one call per party would lose the
dependence between them. The statistic counts the draws of each block and multiplies these counts by
the sparse table of scores.

Intervals do not use the resamples: percentiles are too narrow for few blocks (see `intervals`).
"""

import numpy as np

from asara_server.tournament.standings.block_scores import BlockScores
from asara_server.tournament.standings.intervals import MIN_BLOCKS
from asara_server.tournament.standings.result_table import Floats, Indices

RESAMPLES = 4_000
"""Number of resamples; chance moves a probability of ½ by about 0.8 %."""

_SEED = 4
"""Seed of the resamples; fixed, so that the same results give the same standings."""

_CELLS = 1 << 22
"""Elements of the largest array held in memory: 32 MiB."""


def resampled_means(scores: BlockScores) -> Floats:
    """Return the means of the parties in each resample; shape (parties, RESAMPLES).

    A party without a block in a resample has its overall mean there.
    """
    from scipy.sparse import csr_array
    from scipy.stats import bootstrap

    shape = (scores.parties, scores.total)
    cells = (scores.party, scores.block)
    sums = csr_array((scores.score, cells), shape)
    played = csr_array((np.ones_like(scores.score), cells), shape)
    means = scores.means[:, np.newaxis]

    def statistic(drawn: Indices, axis: int) -> Floats:  # noqa: ARG001  # scipy names it
        """Map drawn block indices, shape (batch, blocks), to means, shape (parties, batch)."""
        batch = len(drawn)
        places = drawn * batch + np.arange(batch)[:, np.newaxis]
        counts = np.bincount(places.ravel(), minlength=scores.total * batch)
        times = counts.reshape(scores.total, batch).astype(np.float64)
        number, total = np.asarray(played @ times), np.asarray(sums @ times)
        return np.where(number > 0, total / np.maximum(number, 1), means)

    drawn = bootstrap(
        (np.arange(scores.total),),
        statistic,
        n_resamples=RESAMPLES,
        batch=max(1, _CELLS // scores.total),
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    )
    distribution: Floats = drawn.bootstrap_distribution
    return distribution


def first_chances(scores: BlockScores) -> Floats:
    """Return the share of resamples in which each party has the best mean; ties are shared.

    Parties with fewer than MIN_BLOCKS are excluded and have NaN.
    """
    chances = np.full(scores.parties, np.nan)
    parties = np.flatnonzero(scores.blocks >= MIN_BLOCKS)
    if len(parties):
        means = resampled_means(scores)[parties].round(9)  # those that differ by rounding are tied
        best = means == means.max(axis=0)
        chances[parties] = (best / best.sum(axis=0)).mean(axis=1)
    return chances
