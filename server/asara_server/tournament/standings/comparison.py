"""Scores on duplicate deals, compared with the scores of others who held the same seat. Pure.

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

from dataclasses import dataclass
from typing import Any

import numpy as np

from asara_server.tournament.standings.result_table import Floats, Indices, Mask, ResultTable

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
