"""The ladder: one rating per entry, fitted to all matches together. Pure.

The model is that of Plackett and Luce, with ties. A match is read as a sequence of choices. First
the entries of rank 1 are chosen from the whole table, then the entries of rank 2 from the rest, and
so on. A set S of entries is chosen with a probability proportional to

    exp(t(|S|) + mean of the strengths of S)

where t(1) = 0, and t(2), t(3), ... determine how likely ties of two, three, ... entries are. Only
tie sizes that occur in the results can be chosen. With two seats this is the model of Davidson, "On
Extending the Bradley-Terry Model to Accommodate Ties" (1970). With more seats it is the model of
Turner, van Etten, Firth and Kosmidis, "Modelling Rankings in R: the PlackettLuce Package" (2020).

Each choice is a multinomial logit whose utilities are linear in the strengths and in t, so the
log-likelihood is concave. Newton's method finds its only maximum, whatever the order of the
matches.

Prior: every entry has won and lost half a match against an imaginary entry of strength 0. This
gives even an entry that only won a finite strength. It also fixes the origin of the strengths close
to their mean.

A rating of 1,500 points is the average of the field. If the built-in bot `greedy` takes part, its
rating is 1,500 instead. Entries that no chain of matches connects cannot be compared. Only the
connected group that contains `greedy`, or else the largest connected group, has ratings.

The interval of a rating is the interval of its difference from the average of the field. Matches of
a block are not independent, so the variance is the sandwich estimate with blocks as clusters
(White, "Maximum Likelihood Estimation of Misspecified Models", 1982), plus two further blocks with
the variance that the model predicts. The quantile is Student's with the entry's number of blocks.
Blocks that are nearly all won or lost do not show their true variance. For a score s, the variance
is therefore at least (2 s - 1)² of the model's variance. Otherwise, few blocks would give intervals
that are too narrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Final

import numpy as np

from asara_server.tournament.standings.intervals_and_ranks import ERROR
from asara_server.tournament.standings.model import LadderRow
from asara_server.tournament.standings.result_table import (
    BlockScores,
    Floats,
    Indices,
    Mask,
    ResultTable,
)

ANCHOR: Final = "greedy"
ANCHOR_RATING: Final = 1_500
POINTS: Final = 400 / np.log(10)
"""Points for a strength of 1, which means odds of e to one."""

_ADDED_BLOCKS: Final = 2
"""Blocks with the variance of the model that are added to an entry's own."""

PRIOR: Final = 0.5
"""Matches that every entry is assumed to have won, and lost, against an imaginary entry."""

_STEPS: Final = 60
"""Maximum steps of Newton's method; about six are needed."""

_CLOSE: Final = 1e-10
"""Maximum element of the gradient, per match, at which the maximum counts as reached."""

_ROWS_AT_ONCE: Final = 20_000
"""Maximum number of choices whose derivatives are in memory together."""

_WEAK: Final = 1e-6
"""Curvature of the prior for the tie parameters, whose best values can be infinite."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Rank choices with the same number of entries: one row per choice."""

    among: Indices
    """Entries to choose from; shape (rows, entries), with two or more entries."""
    chosen: Indices
    """The chosen entries, as bits for the columns of `among`."""
    block: Indices


@dataclass(frozen=True, slots=True)
class Fit:
    """The maximum of the likelihood."""

    strengths: Floats
    """By entry, as natural logarithms of odds."""
    ties: Floats
    """t(size) for each tie size that occurs, smallest first."""
    hessian: Floats
    """Negative second derivatives; rows and columns are the strengths, then the ties."""
    block_gradients: Any
    """Gradient of each block, a sparse array of shape (blocks, entries + ties)."""


def ladder(names: Sequence[str], table: ResultTable, error: float = ERROR) -> tuple[LadderRow, ...]:
    """Return a row per entry, best first; entries without a rating come last.

    `table` is the result table, made with `names`.
    """
    count = len(names)
    matches = np.bincount(table.entry, minlength=count)
    rated = _connected(names, table)
    made = choices(table.entry, table.match, table.score, table.block)
    fitted = fit(made, count, int(table.block.max(initial=-1)) + 1)
    scores = BlockScores.of(table.entry, table.block, table.score, count)
    blocks = scores.blocks
    ratings, ends = _ratings(fitted, scores, rated, error)
    if ANCHOR in names and rated[names.index(ANCHOR)]:
        shift = ANCHOR_RATING - ratings[names.index(ANCHOR)]
        ratings, ends = ratings + shift, ends + shift
    rows = [
        LadderRow(
            entry=names[e],
            matches=int(matches[e]),
            rating=float(ratings[e]) if rated[e] else None,
            interval_95=(
                (float(ends[e, 0]), float(ends[e, 1])) if rated[e] and blocks[e] > 1 else None
            ),
        )
        for e in range(count)
    ]
    return tuple(sorted(rows, key=lambda row: (-(row.rating or -np.inf), row.entry)))


def _connected(names: Sequence[str], table: ResultTable) -> Mask:
    """Return for each entry whether it has a rating: whether matches connect it with the ladder."""
    group = table.connected(len(names))
    played = np.isin(np.arange(len(names)), table.entry)
    chosen = np.bincount(group[played], minlength=1).argmax()
    if ANCHOR in names and played[names.index(ANCHOR)]:
        chosen = group[names.index(ANCHOR)]
    return np.asarray(played & (group == chosen))


def _ratings(fitted: Fit, scores: BlockScores, rated: Mask, error: float) -> tuple[Floats, Floats]:
    """Return ratings and their intervals, with 1,500 as the mean of the `rated` entries."""
    from scipy.special import stdtrit

    count, blocks = len(fitted.strengths), scores.blocks
    field = rated / max(1, int(rated.sum()))
    against = np.zeros((count, len(fitted.hessian)))
    against[:, :count] = np.eye(count) - field
    of_field = np.linalg.solve(fitted.hessian, against.T)  # parameters by entries
    by_block = fitted.block_gradients
    number = max(2, len(np.unique(by_block.nonzero()[0])))
    variance = (of_field * (by_block.T @ by_block @ of_field)).sum(axis=0) * number / (number - 1)
    by_model = (against.T * of_field).sum(axis=0)
    variance += _ADDED_BLOCKS * by_model / np.maximum(blocks, 1)
    variance = np.maximum(variance, (2 * scores.means - 1) ** 2 * by_model)
    quantile = stdtrit(np.maximum(blocks - 1, 1), 1 - error / 2)
    half = POINTS * quantile * np.sqrt(variance)
    ratings = ANCHOR_RATING + POINTS * (fitted.strengths - field @ fitted.strengths)
    return ratings, np.stack((ratings - half, ratings + half), axis=-1)


def choices(entry: Indices, match: Indices, score: Floats, block: Indices) -> list[Choices]:
    """Return the choices of matches, given one row per seat; a higher score means a better rank.

    The seats of a match are consecutive rows. The last remaining entry of a match has no choice and
    is left out.
    """
    found: dict[int, list[tuple[Indices, Indices, Indices]]] = {}
    _, first, seats = np.unique(match, return_index=True, return_counts=True)
    for size in np.unique(seats):
        rows = first[seats == size][:, np.newaxis] + np.arange(size)
        among, scores, of_block = entry[rows], score[rows], block[rows[:, 0]]
        order = np.argsort(-scores, axis=1, kind="stable")
        among = np.take_along_axis(among, order, axis=1)
        scores = np.take_along_axis(scores, order, axis=1)
        for start in range(size - 1):
            begins = np.ones(len(rows), np.bool_)  # a choice begins here: no tie with the row above
            if start:
                begins = scores[:, start] < scores[:, start - 1]
            tied = scores[:, start:] == scores[:, start, np.newaxis]
            bits = tied @ (1 << np.arange(size - start))
            found.setdefault(int(size) - start, []).append(
                (among[begins, start:], bits[begins], of_block[begins])
            )
    return [
        Choices(*map(np.concatenate, zip(*parts, strict=True)))
        for _, parts in sorted(found.items())
    ]


def fit(made: Sequence[Choices], entries: int, blocks: int, prior: float = PRIOR) -> Fit:
    """Return the most likely strengths; entries without a choice have strength 0.

    `blocks` is the number of blocks. A `prior` of 0 gives maximum likelihood, which exists only if
    results connect all entries in both directions.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import cg

    sizes = {int(bits).bit_count() for part in made for bits in np.unique(part.chosen)}
    model = _Model(made, entries, tuple(sorted(sizes - {1})), prior)
    point = np.zeros(model.count)
    best, gradient, hessian = model.derivatives(point)
    scale = sum(len(part.chosen) for part in made) + 1
    for _ in range(_STEPS):
        if np.abs(gradient[:-1]).max(initial=0) < _CLOSE * scale:
            break
        step = np.append(cg(csr_array(hessian), gradient[:-1], rtol=1e-10)[0], 0)
        following = model.derivatives(point + step)
        while following[0] < best - 1e-9 * abs(best):  # the step leads too far
            step /= 2
            following = model.derivatives(point + step)
        point += step
        best, gradient, hessian = following
    gradients = model.block_gradients(point, made, blocks)
    return Fit(point[:entries], point[entries:-1], hessian, gradients)


@cache
def _sets(size: int, ties: tuple[int, ...]) -> tuple[Floats, Indices]:
    """Return the sets that can be chosen: each set's features, and each bit pattern's row.

    The features are the share of every entry, then one feature for each tie size.
    """
    allowed = (1, *ties)
    members = [s for n in allowed for s in combinations(range(size), n)]
    features = np.zeros((len(members), size + len(ties)))
    row = np.zeros(1 << size, np.intp)
    for number, chosen in enumerate(members):
        features[number, list(chosen)] = 1 / len(chosen)
        if len(chosen) > 1:
            features[number, size + ties.index(len(chosen))] = 1
        row[sum(1 << column for column in chosen)] = number
    return features, row


class _Model:
    """The log-likelihood and its derivatives.

    The parameters are the strengths, t of each tie size, and the strength of the prior's imaginary
    entry, which stays 0 and is left out of the second derivatives.
    """

    def __init__(
        self, made: Sequence[Choices], entries: int, ties: tuple[int, ...], prior: float
    ) -> None:
        self.count = count = entries + len(ties) + 1
        self._ties = ties
        self._weak = np.zeros(count)
        self._weak[entries:-1] = _WEAK if prior else 0.0
        own = np.arange(entries)
        against = np.column_stack((own, np.full(entries, count - 1)))
        parts = [(part, 1.0) for part in made]
        parts += [(Choices(against, np.full(entries, bits), own), prior) for bits in (1, 2)]
        self._observed = np.zeros(count)
        self._groups: list[tuple[Indices, Floats, Any]] = []
        for part, weight in parts:
            index, features, chosen = self._rows(part)
            self._observed += weight * np.bincount(index.ravel(), features[chosen].ravel(), count)
            among, number = _distinct(part.among)
            for rows in _chunks(len(among)):
                self._groups.append((*self._columns(among[rows]), weight * number[rows]))

    def derivatives(self, point: Floats) -> tuple[float, Floats, Floats]:
        """Return the value, the gradient, and the negative second derivatives."""
        count = self.count
        value = float(point @ self._observed)
        gradient = self._observed.copy()
        second = np.zeros(count * count)
        for index, features, weight in self._groups:
            chances, logarithm = _chances(point[index], features)
            expected = chances @ features
            curvature = chances @ _outer(features) - _outer(expected)
            value -= float(weight @ logarithm)
            expected *= weight[:, np.newaxis]
            curvature *= weight[:, np.newaxis]
            gradient -= np.bincount(index.ravel(), expected.ravel(), count)
            pairs = index[:, :, np.newaxis] * count + index[:, np.newaxis]
            second += np.bincount(pairs.ravel(), curvature.ravel(), len(second))
        hessian = second.reshape(count, count) + np.diag(self._weak)
        value -= float((self._weak * point**2).sum()) / 2
        return value, gradient - self._weak * point, hessian[:-1, :-1]

    def block_gradients(self, point: Floats, made: Sequence[Choices], blocks: int) -> Any:
        """Return the gradient of each block's choices, as a sparse array."""
        from scipy.sparse import coo_array, csr_array

        shape = blocks, self.count
        total: Any = csr_array(shape)
        for part in made:
            index, features, chosen = self._rows(part)
            for rows in _chunks(len(chosen)):
                chances, _ = _chances(point[index[rows]], features)
                rest = features[chosen[rows]] - chances @ features
                where = np.repeat(part.block[rows], index.shape[1]), index[rows].ravel()
                total += coo_array((rest.ravel(), where), shape).tocsr()
        return total[:, :-1]

    def _rows(self, part: Choices) -> tuple[Indices, Floats, Indices]:
        """Return the parameters and features of choices, and each chosen set's row."""
        return *self._columns(part.among), _sets(part.among.shape[1], self._ties)[1][part.chosen]

    def _columns(self, among: Indices) -> tuple[Indices, Floats]:
        """Return the parameters that matter for choices among these entries, and their features."""
        rows, size = among.shape
        ties = np.arange(self.count - 1 - len(self._ties), self.count - 1)
        tie = np.broadcast_to(ties, (rows, len(ties)))
        return np.concatenate((among, tie), axis=1), _sets(size, self._ties)[0]


def _distinct(among: Indices) -> tuple[Indices, Indices]:
    """Return each distinct group of entries to choose from, and how often it occurs.

    Choices among the same entries have the same probabilities.
    """
    among = np.sort(among, axis=1)
    code = np.ravel_multi_index(tuple(among.T), (int(among.max(initial=0)) + 1,) * among.shape[1])
    _, first, number = np.unique(code, return_index=True, return_counts=True)
    return among[first], number


def _chunks(rows: int) -> list[slice]:
    return [slice(at, at + _ROWS_AT_ONCE) for at in range(0, rows, _ROWS_AT_ONCE)]


def _outer(rows: Floats) -> Floats:
    """Return the products of every two columns; shape (rows, columns²)."""
    width = rows.shape[1]
    return (rows[:, :, np.newaxis] * rows[:, np.newaxis, :]).reshape(len(rows), width * width)


def _chances(values: Floats, features: Floats) -> tuple[Floats, Floats]:
    """Return the probability of every set, and the logarithm of the sum of all exponentials."""
    utility = values @ features.T
    most = utility.max(axis=1, keepdims=True)
    chances = np.exp(utility - most)
    total = chances.sum(axis=1, keepdims=True)
    return chances / total, (most + np.log(total))[:, 0]
