"""Tabulates the results of many matches as columns of numbers, by seat and by block. Pure.

Scores on duplicate deals are compared with the scores of others who held the same seat.

A match score x of an entry in a seat of a deal is the expected score of the entry, plus what the
deal gives this seat, plus all other luck. The scores of the others in the same seat at the other
tables contain the same gift of the deal. They therefore serve as a control variate (Lavenberg and
Welch, "A Perspective on the Use of Control Variables", 1981), like the expected scores that AIVAT
computes (Burch et al., "AIVAT", AAAI 2018). The compared score is

    z = x - w c,    c = mean over the others of r,    r = score - expected score

The expected score of an entry depends on the entry, the opponents at its table and the seat. It
comes from the additive model score = 1/2 + strength - mean strength of the opponents + seat, fitted
by least squares to other blocks (with folds, see Chernozhukov et al., "Double/debiased machine
learning", 2018). So c is 0 on average, whoever the others are, and on average z equals x. If r
ignored the others' strength, an entry would gain by not being among its own comparisons. If r
ignored their opponents' strength, a strong entry would lose because the others do not play against
it. A fit to the same block would be biased, because r would contain part of the score that it
adjusts (Wu and Gagnon-Bartsch, "The LOOP Estimator", 2018).

The weight that minimises the variance of z is cov(x, c) / var(c). Let V be the variance of r, and D
the covariance of two r in one seat of a deal, which equals the variance of the gift. Then the mean
of h others has

    cov(x, c) = D,    var(c) = (V + (h - 1) D) / h,    so    w = h q / (1 + (h - 1) q),    q = D / V

the formula of Spearman and Brown for the reliability of a mean. q, the share of the deal in the
variance of a score, is fitted to all other blocks with the same seats and rules, from the products
of all pairs of r in one seat of a deal. The variance of z is then about 1 - w q times the variance
of x.

A match with a forfeit was not decided by play, so it is never part of a comparison. An entry
without another block of the same kind has no expected score, and is left out of c. A score without
a comparison stays unchanged, and so does every score outside duplicate blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Self

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


_FOLDS = 10
"""Number of parts of the blocks; each part's expected scores are fitted to the others."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows of a result table with compared scores."""

    score: Floats
    """Each row's score minus what the deal gave its seat."""
    shares: tuple[tuple[int, int, int, float], ...]
    """For each kind of table that has comparisons: the index of its rule sets, its number of seats,
    the number of matches with a comparison, and the share of the deal in the variance of a score.
    """


def compared(table: ResultTable) -> Compared:
    """Return the scores of a table; scores on duplicate deals are compared with each other."""
    score = table.score.copy()
    shares = []
    kind = table.rules * (table.seats.max(initial=0) + 1) + table.seats
    forfeited = np.bincount(table.match, table.forfeit) > 0
    duplicate = (table.deal >= 0) & ~forfeited[table.match]
    for code in np.unique(kind[duplicate]):
        rows = np.flatnonzero(duplicate & (kind == code))
        adjusted, others, share = _compare(table.take(rows))
        score[rows] = adjusted
        if others.any():
            first = rows[0]
            matches = len(np.unique(table.match[rows[others > 0]]))
            shares.append((int(table.rules[first]), int(table.seats[first]), matches, share))
    return Compared(score, tuple(shares))


def _compare(kind: ResultTable) -> tuple[Floats, Indices, float]:
    """Return compared scores, the number of comparisons behind each score, and the deal's share.

    All rows are of one kind of table; an entry has at most one row per block.
    """
    _, block = np.unique(kind.block, return_inverse=True)
    expected, known = _expected_scores(kind, block % _FOLDS)
    rest = np.where(known, kind.score - expected, 0.0)
    cell = kind.deal * kind.seats + kind.seat
    held, total = np.bincount(cell, known), np.bincount(cell, rest)
    others = (held[cell] - known).astype(np.intp)
    mean = (total[cell] - rest) / np.maximum(others, 1)
    # Sums over each block, to be left out when its own weight is fitted.
    products = np.bincount(block, rest * (total[cell] - rest))
    pairs = np.bincount(block, known * others)
    squares, number = np.bincount(block, rest**2), np.bincount(block, known)
    share = _share(
        products.sum() - products,
        pairs.sum() - pairs,
        squares.sum() - squares,
        number.sum() - number,
    )[block]
    weight = others * share / (1 + np.maximum(others - 1, 0) * share)
    sums = (column.sum(keepdims=True) for column in (products, pairs, squares, number))
    (overall,) = _share(*sums)
    return kind.score - weight * mean, others, float(overall)


def _expected_scores(kind: ResultTable, fold: Indices) -> tuple[Floats, Mask]:
    """Return each row's expected score, fitted to other folds, and whether it is known."""
    from scipy.sparse import csr_array

    rows, seats = len(kind), int(kind.seats[0])
    entries = int(kind.entry.max()) + 1
    _, match = np.unique(kind.match, return_inverse=True)
    by_match = kind.entry[np.argsort(match, kind="stable")].reshape(-1, seats)
    # One column per entry and per seat: 1 for the row's own, -1 / (seats - 1) for opponents.
    values = np.full((rows, seats + 2), -1 / (seats - 1))
    values[:, seats:] = 1 + 1 / (seats - 1), 1.0
    columns = np.column_stack((by_match[match], kind.entry, entries + kind.seat))
    starts = np.arange(rows + 1) * (seats + 2)
    design = csr_array((values.ravel(), columns.ravel(), starts), (rows, entries + seats))
    expected, known = np.full(rows, 0.5), np.zeros(rows, np.bool_)
    normal, target = _normal_equations(design, kind.score)
    for number in np.unique(fold):
        held = np.flatnonzero(fold == number)
        own_normal, own_target = _normal_equations(design[held], kind.score[held])
        fitted = _least_squares(normal - own_normal, target - own_target)
        expected[held] += design[held] @ fitted
        elsewhere = np.bincount(kind.entry[fold != number], minlength=entries)
        known[held] = elsewhere[kind.entry[held]] > 0
    return expected, known


def _least_squares(normal: Any, target: Floats) -> Floats:
    """Return the shortest solution of sparse normal equations, which may have many solutions.

    Conjugate gradients find the shortest solution because they start at 0. They also avoid a dense
    factorisation, which for 1,000 entries would take most of the time for computing the standings.
    """
    from scipy.sparse.linalg import cg

    return np.asarray(cg(normal, target, rtol=1e-12)[0])


def _normal_equations(design: Any, score: Floats) -> tuple[Any, Floats]:
    transposed = design.T.tocsr()
    return transposed @ design, transposed @ (score - 0.5)


def _share(products: Floats, pairs: Floats, squares: Floats, number: Floats) -> Floats:
    """Return the covariance of two rows in a cell as a share of their variance; 0 if unknown."""
    covariance = products / np.maximum(pairs, 1)
    variance = squares / np.maximum(number, 1)
    return np.clip(covariance / np.maximum(variance, 1e-9), 0.0, 1.0)


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
