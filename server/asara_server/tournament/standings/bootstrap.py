"""Means over deal blocks, and how sure they are: the bootstrap. Pure, and the same every time.

The unit is the block, since matches of one deal are not independent. A resample draws as many
blocks as were played, with replacement, and takes the mean of every party anew; a party is an
entry, or a pair of entries. All parties see the same drawn blocks: who met in a block rises and
falls together, so that "who is first" can be asked of every resample.

`scipy.stats.bootstrap` draws the numbers of the blocks, once for all parties: a call for each would
lose who met whom. Its statistic counts how often each block was drawn, and multiplies these counts
with the sparse table of scores.

Intervals are percentiles of the resampled means, taken further out for few blocks: the expanded
percentile interval (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015). It covers
as it says from about ten blocks on. BCa is too narrow there, as the tests show, and needs a
jackknife for each party.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from asara_server.tournament.standings.result_table import Floats, Indices, Mask

RESAMPLES = 4_000
"""So many that chance moves the ends of an interval by about 1 % of its width."""

MIN_BLOCKS = 10
"""Of a party that resampling tells something about."""

_SEED = 4
"""Of the dice; fixed, so that the same results give the same standings."""

_TAIL = 0.025
"""Probability beyond each end of a 95 % interval."""

_CELLS = 1 << 22
"""Numbers of one table in memory: 32 MiB."""


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Scores of parties in blocks; a row for each block that a party played in."""

    party: Indices
    block: Indices
    score: Floats
    """0 to 1; mean over the matches of the party in the block."""
    parties: int
    total: int
    """Blocks that anybody played in; these are numbered 0 to `total` - 1."""

    @classmethod
    def of(cls, party: Indices, block: Indices, score: Floats, parties: int) -> Self:
        """From scores in matches, a row for each; blocks may have any numbers."""
        numbers, number = np.unique(block, return_inverse=True)
        total = max(1, len(numbers))
        cells, cell = np.unique(party * total + number, return_inverse=True)
        means = np.bincount(cell, score) / np.bincount(cell)
        return cls(cells // total, cells % total, means, parties, len(numbers))

    def only(self, parties: Indices) -> "BlockScores":
        """The scores of these parties, in this order, in the same blocks."""
        place = np.full(self.parties, -1)
        place[parties] = np.arange(len(parties))
        kept = place[self.party] >= 0
        return BlockScores(
            place[self.party[kept]], self.block[kept], self.score[kept], len(parties), self.total
        )

    @property
    def blocks(self) -> Indices:
        """How many each party played."""
        return np.bincount(self.party, minlength=self.parties)

    @property
    def means(self) -> Floats:
        """Of each party over its blocks; 0 without a block."""
        return np.bincount(self.party, self.score, self.parties) / np.maximum(self.blocks, 1)

    @property
    def all_alike(self) -> Mask:
        """Parties that scored the same in all their blocks."""
        low, high = np.full(self.parties, np.inf), np.full(self.parties, -np.inf)
        np.minimum.at(low, self.party, self.score)
        np.maximum.at(high, self.party, self.score)
        return np.asarray(high - low < 1e-9)


def resampled_means(scores: BlockScores) -> Floats:
    """Means of the parties in each resample; shape (parties, RESAMPLES).

    A party that has no block in a resample keeps its mean there.
    """
    from scipy.sparse import csr_array
    from scipy.stats import bootstrap

    shape = (scores.parties, scores.total)
    cells = (scores.party, scores.block)
    sums = csr_array((scores.score, cells), shape)
    played = csr_array((np.ones_like(scores.score), cells), shape)
    means = scores.means[:, np.newaxis]

    def statistic(drawn: Indices, axis: int) -> Floats:  # noqa: ARG001  # scipy names it
        """Means by the numbers of the drawn blocks, shape (batch, blocks); (parties, batch)."""
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
    """Low and high end of the 95 % interval of each party's expected score; shape (parties, 2).

    Where a party has fewer than MIN_BLOCKS, or scored the same in all of them, resampling would
    give a false interval, and it has `exact_intervals_95`. Without a block it has NaN. `resampled`
    are the means of all parties, where they are there already.
    """
    blocks = scores.blocks
    ends = exact_intervals_95(scores.means, blocks)
    ends[blocks == 0] = np.nan
    sure = np.flatnonzero((blocks >= MIN_BLOCKS) & ~scores.all_alike)
    at_once = max(1, _CELLS // RESAMPLES)
    for start in range(0, len(sure), at_once):
        some = sure[start : start + at_once]
        means = resampled_means(scores.only(some)) if resampled is None else resampled[some]
        ends[some] = _percentiles(means, blocks[some])
    return ends


def exact_intervals_95(means: Floats, blocks: Indices) -> Floats:
    """Low and high end of the intervals of Clopper and Pearson; shape (parties, 2).

    They take every block for one that is won or lost. No score between 0 and 1 varies more, so that
    they are rather too wide, and never of no width.
    """
    from scipy.special import betaincinv

    won, lost = blocks * means, blocks * (1 - means)
    low = betaincinv(np.maximum(won, 1e-9), lost + 1, _TAIL)
    high = betaincinv(won + 1, np.maximum(lost, 1e-9), 1 - _TAIL)
    return np.stack((np.where(won > 0, low, 0), np.where(lost > 0, high, 1)), axis=-1)


def first_chances(scores: BlockScores, resampled: Floats) -> Floats:
    """Share of the resamples in which each party has the best mean; those who tie share it.

    Parties with fewer than MIN_BLOCKS do not take part, and have NaN.
    """
    chances = np.full(scores.parties, np.nan)
    parties = np.flatnonzero(scores.blocks >= MIN_BLOCKS)
    if len(parties):
        means = resampled[parties].round(9)  # what is equal but for the order of its sum is a tie
        best = means == means.max(axis=0)
        chances[parties] = (best / best.sum(axis=0)).mean(axis=1)
    return chances


def _percentiles(resampled: Floats, blocks: Indices) -> Floats:
    """Ends of the expanded percentile intervals; shape (parties, 2)."""
    from scipy.special import ndtr, stdtrit
    from scipy.stats import quantile

    reach = np.sqrt(blocks / (blocks - 1)) * stdtrit(blocks - 1, 1 - _TAIL)
    low = ndtr(-reach)
    ends: Floats = quantile(resampled, np.stack((low, 1 - low), axis=-1), axis=-1)
    return ends
