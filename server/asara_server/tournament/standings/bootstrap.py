"""Bootstrap of mean scores over deal blocks: the chance of being first. Pure and deterministic.

A resample draws as many blocks as were played, with replacement, and recomputes the mean of every
party. All parties share the drawn blocks, so the scores of entries that met in a block rise and
fall together, and each resample has a meaningful first place.

The draws of each block are counted, and these counts multiplied by the sparse table of scores.
`scipy.stats.bootstrap` would do the same, but to import it takes as long as to play some matches.

Intervals do not use the resamples: percentiles are too narrow for few blocks (see `intervals`).
"""

import numpy as np

from asara_server.tournament.standings.block_scores import BlockScores
from asara_server.tournament.standings.intervals import MIN_BLOCKS
from asara_server.tournament.standings.result_table import Floats

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

    blocks = scores.total
    cells = (scores.party, scores.block)
    sums = csr_array((scores.score, cells), (scores.parties, blocks))
    played = csr_array((np.ones_like(scores.score), cells), (scores.parties, blocks))
    rng = np.random.default_rng(_SEED)
    resampled: Floats = np.empty((scores.parties, RESAMPLES))
    batch = max(1, _CELLS // blocks)
    for start in range(0, RESAMPLES, batch):
        size = min(batch, RESAMPLES - start)
        drawn = rng.integers(blocks, size=(size, blocks))
        places = drawn * size + np.arange(size)[:, np.newaxis]
        counts = np.bincount(places.ravel(), minlength=blocks * size)
        times = counts.reshape(blocks, size).astype(np.float64)
        number, total = np.asarray(played @ times), np.asarray(sums @ times)
        means = np.where(number > 0, total / np.maximum(number, 1), scores.means[:, np.newaxis])
        resampled[:, start : start + size] = means
    return resampled


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
