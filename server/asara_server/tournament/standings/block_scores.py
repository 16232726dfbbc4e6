"""Scores of parties in blocks: the data behind every mean, interval and resample. Pure.

The unit is the block, because matches of one deal are not independent. A party is an entry or a
pair of entries.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from asara_server.tournament.standings.result_table import Floats, Indices


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Scores of parties in blocks; one row per party and block."""

    party: Indices
    block: Indices
    score: Floats
    """Mean score over the party's matches in the block: 0 to 1, or slightly beyond if compared."""
    parties: int
    total: int
    """Number of blocks; their indices are 0 to `total` - 1."""

    @classmethod
    def of(cls, party: Indices, block: Indices, score: Floats, parties: int) -> Self:
        """Compute block scores from match scores, one row each; block numbers may be arbitrary."""
        known, index = np.unique(block, return_inverse=True)
        total = len(known)
        cells, cell = np.unique(party * total + index, return_inverse=True)
        means = np.bincount(cell, score) / np.bincount(cell)
        return cls(cells // total, cells % total, means, parties, total)

    @property
    def blocks(self) -> Indices:
        """Number of blocks of each party."""
        return np.bincount(self.party, minlength=self.parties)

    @property
    def means(self) -> Floats:
        """Mean score of each party over its blocks; 0 without a block."""
        return np.bincount(self.party, self.score, self.parties) / np.maximum(self.blocks, 1)

    @property
    def variances(self) -> Floats:
        """Variance of each party's scores (divisor: blocks - 1); 0 with fewer than two blocks."""
        squares = (self.score - self.means[self.party]) ** 2
        return np.bincount(self.party, squares, self.parties) / np.maximum(self.blocks - 1, 1)

    @property
    def ranges(self) -> tuple[Floats, Floats]:
        """Lowest and highest score of each party; infinity and minus infinity without a block."""
        low, high = np.full(self.parties, np.inf), np.full(self.parties, -np.inf)
        np.minimum.at(low, self.party, self.score)
        np.maximum.at(high, self.party, self.score)
        return low, high
