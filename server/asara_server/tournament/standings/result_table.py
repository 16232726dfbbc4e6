"""Tabulates the results of many matches as columns of numbers, by seat and by block. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from asara_codec.results import Termination
from asara_server.outcome import match_scores
from asara_server.tournament.standings.match_result import MatchResult

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One row per seat of each match, in the order of the results."""

    match: Indices
    """Index of the match; the seats of a match are consecutive rows."""
    block: Indices
    """Index of the block."""
    deal: Indices
    """Index of the deal of a duplicate block; -1 for all other matches."""
    rules: Indices
    """Index of the rule sets, in alphabetical order."""
    seats: Indices
    """Number of seats at the table."""
    entry: Indices
    """Index of the entry in the `names` given to `tabulate`."""
    seat: Indices
    score: Floats
    """1 for first place down to 0 for last."""
    win: Floats
    """Share of the win; 0 for a forfeit."""
    prestige: Floats
    termination: Indices
    """Numeric value of a `Termination`."""
    forfeit: Mask

    def __len__(self) -> int:
        return len(self.match)

    def take(self, rows: Indices | Mask) -> "ResultTable":
        """Return the table reduced to these rows."""
        return ResultTable(*(getattr(self, field.name)[rows] for field in fields(self)))

    def connected(self, count: int) -> Indices:
        """Return a number for each entry, equal for entries joined by a chain of matches."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        first = self.entry[np.searchsorted(self.match, self.match)]
        links = csr_array((np.ones(len(self)), (first, self.entry)), (count, count))
        return np.asarray(connected_components(links, directed=False)[1])


def tabulate(names: Sequence[str], results: Sequence[MatchResult]) -> ResultTable:
    """Return these results as a table; no result may be void."""
    index = {name: number for number, name in enumerate(names)}
    blocks: dict[str, int] = {}
    deals = {"": -1}
    rules = {name: number for number, name in enumerate(sorted({r.rule_sets for r in results}))}
    scores_of = cache(match_scores)
    by_match: list[tuple[int, int, int, int]] = []
    entry: list[int] = []
    score: list[float] = []
    win: list[float] = []
    prestige: list[int] = []
    ends: list[int] = []
    for result in results:
        ranks = tuple(line.rank for line in result.seats)
        by_match.append(
            (
                blocks.setdefault(result.deal_block, len(blocks)),
                deals.setdefault(result.duplicate_deal, len(deals) - 1),
                rules[result.rule_sets],
                len(ranks),
            )
        )
        score += scores_of(ranks)
        for line in result.seats:
            entry.append(index[line.entry])
            win.append(1 / ranks.count(1) if line.rank == 1 else 0.0)
            prestige.append(line.prestige)
            ends.append(line.termination)
    each = np.array(by_match, np.intp).reshape(-1, 4)
    seats = each[:, 3]
    match = np.repeat(np.arange(len(each)), seats)
    block, deal, rule_sets, at_table = each.T[:, match]
    termination = np.array(ends, np.intp)
    forfeit = np.isin(termination, [kind for kind in Termination if kind.forfeit])
    return ResultTable(
        match=match,
        block=block,
        deal=deal,
        rules=rule_sets,
        seats=at_table,
        seat=np.arange(len(match)) - np.repeat(np.cumsum(seats) - seats, seats),
        entry=np.array(entry, np.intp),
        score=np.array(score, np.float64),
        win=np.where(forfeit, 0.0, win),
        prestige=np.array(prestige, np.float64),
        termination=termination,
        forfeit=forfeit,
    )


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Scores of parties in blocks; one row per party and block.

    The unit of every mean, interval and resample is the block, because matches of one deal are not
    independent. A party is an entry or a pair of entries.
    """

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
