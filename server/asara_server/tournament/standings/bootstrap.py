"""Bootstrap intervals of means over deal blocks. Pure and deterministic.

The unit is the block, because matches of one deal are not independent. A resample draws as many
blocks as were played, with replacement, and recomputes the mean of every party; a party is an entry
or a pair of entries. All parties share the drawn blocks, so the scores of entries that met in a
block rise and fall together, and each resample has a meaningful first place.

`scipy.stats.bootstrap` draws block indices once for all parties; one call per party would lose the
dependence between them. The statistic counts the draws of each block and multiplies these counts by
the sparse table of scores.

Intervals are percentiles of the resampled means, widened for few blocks: the expanded percentile
interval (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015). Its coverage is
nominal from about ten blocks. BCa is too narrow at that size, as the tests show, and needs a
jackknife for each party.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from asara_server.tournament.standings.result_table import Floats, Indices, Mask

RESAMPLES = 4_000
"""Number of resamples; chance moves the ends of an interval by about 1 % of its width."""

MIN_BLOCKS = 10
"""Fewest blocks of a party for which resampling is meaningful."""

_SEED = 4
"""Seed of the resamples; fixed, so that the same results give the same standings."""

_TAIL = 0.025
"""Probability beyond each end of a 95 % interval."""

_CELLS = 1 << 22
"""Elements of the largest array held in memory: 32 MiB."""


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Scores of parties in blocks; one row per party and block."""

    party: Indices
    block: Indices
    score: Floats
    """Mean over the party's matches in the block: 0 to 1, or a little beyond if it was compared."""
    parties: int
    total: int
    """Number of blocks, which have the indices 0 to `total` - 1."""

    @classmethod
    def of(cls, party: Indices, block: Indices, score: Floats, parties: int) -> Self:
        """Return the block scores of match scores, one row each; block numbers may be arbitrary."""
        known, index = np.unique(block, return_inverse=True)
        total = max(1, len(known))
        cells, cell = np.unique(party * total + index, return_inverse=True)
        means = np.bincount(cell, score) / np.bincount(cell)
        return cls(cells // total, cells % total, means, parties, len(known))

    def only(self, parties: Indices) -> "BlockScores":
        """Return the scores of these parties, in this order, in the same blocks."""
        place = np.full(self.parties, -1)
        place[parties] = np.arange(len(parties))
        kept = place[self.party] >= 0
        return BlockScores(
            place[self.party[kept]], self.block[kept], self.score[kept], len(parties), self.total
        )

    @property
    def blocks(self) -> Indices:
        """Number of blocks of each party."""
        return np.bincount(self.party, minlength=self.parties)

    @property
    def means(self) -> Floats:
        """Mean score of each party over its blocks; 0 without a block."""
        return np.bincount(self.party, self.score, self.parties) / np.maximum(self.blocks, 1)

    @property
    def all_alike(self) -> Mask:
        """True for each party that scored the same in all its blocks."""
        low, high = np.full(self.parties, np.inf), np.full(self.parties, -np.inf)
        np.minimum.at(low, self.party, self.score)
        np.maximum.at(high, self.party, self.score)
        return np.asarray(high - low < 1e-9)


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


def intervals_95(scores: BlockScores, resampled: Floats | None = None) -> Floats:
    """Return the ends of the 95 % interval of each party's expected score; shape (parties, 2).

    A party with fewer than MIN_BLOCKS, or with the same score in all blocks, has its row of
    `exact_intervals_95`, because resampling would give a false interval. A party without a block
    has NaN. `resampled` holds the resampled means of all parties, if they are known.
    """
    blocks = scores.blocks
    means = scores.means
    ends = exact_intervals_95(means.clip(0, 1), blocks)
    ends = np.stack((np.minimum(ends[:, 0], means), np.maximum(ends[:, 1], means)), axis=-1)
    ends[blocks == 0] = np.nan
    sure = np.flatnonzero((blocks >= MIN_BLOCKS) & ~scores.all_alike)
    at_once = max(1, _CELLS // RESAMPLES)
    for start in range(0, len(sure), at_once):
        some = sure[start : start + at_once]
        drawn = resampled_means(scores.only(some)) if resampled is None else resampled[some]
        ends[some] = _percentiles(drawn, blocks[some])
    return ends


def exact_intervals_95(means: Floats, blocks: Indices) -> Floats:
    """Return the ends of the Clopper-Pearson intervals; shape (parties, 2).

    Every block counts as won or lost. No score between 0 and 1 varies more, so the intervals are
    conservative, and none has zero width.
    """
    from scipy.special import betaincinv

    won, lost = blocks * means, blocks * (1 - means)
    low = betaincinv(np.maximum(won, 1e-9), lost + 1, _TAIL)
    high = betaincinv(won + 1, np.maximum(lost, 1e-9), 1 - _TAIL)
    return np.stack((np.where(won > 0, low, 0), np.where(lost > 0, high, 1)), axis=-1)


def first_chances(scores: BlockScores, resampled: Floats) -> Floats:
    """Return the share of resamples in which each party has the best mean; ties are shared.

    Parties with fewer than MIN_BLOCKS are excluded and have NaN.
    """
    chances = np.full(scores.parties, np.nan)
    parties = np.flatnonzero(scores.blocks >= MIN_BLOCKS)
    if len(parties):
        means = resampled[parties].round(9)  # means that differ only by rounding are tied
        best = means == means.max(axis=0)
        chances[parties] = (best / best.sum(axis=0)).mean(axis=1)
    return chances


def _percentiles(resampled: Floats, blocks: Indices) -> Floats:
    """Return the ends of the expanded percentile intervals; shape (parties, 2)."""
    from scipy.special import ndtr, stdtrit
    from scipy.stats import quantile

    reach = np.sqrt(blocks / (blocks - 1)) * stdtrit(blocks - 1, 1 - _TAIL)
    low = ndtr(-reach)
    ends: Floats = quantile(resampled, np.stack((low, 1 - low), axis=-1), axis=-1)
    return ends
