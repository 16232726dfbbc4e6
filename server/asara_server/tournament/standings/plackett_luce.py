"""The Plackett-Luce model of rankings with ties, fitted to all matches together. Pure.

A match is read as a sequence of choices. First the entries of rank 1 are chosen from the whole
table, then those of rank 2 from who is left, and so on. A set S of entries is chosen with a
probability proportional to

    exp(t(|S|) + mean of the strengths of S)

where t(1) = 0, and t(2), t(3), ... say how likely ties of two, three, ... entries are. Only ties of
a size that occurs can be chosen. With two seats this is the model of Davidson, "On Extending the
Bradley-Terry Model to Accommodate Ties" (1970), otherwise that of Turner, van Etten, Firth and
Kosmidis, "Modelling Rankings in R: the PlackettLuce Package" (2020).

Each choice is a multinomial logit whose utilities are linear in the strengths and in t, so the
logarithm of the likelihood is concave, and Newton's method finds its only maximum in any order of
the matches.

Prior: every entry has won and lost half a match against one more entry, whose strength is 0. So an
entry that only won has a finite strength, and the strengths have a fixed origin, close to their
mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Final

import numpy as np

from asara_server.tournament.standings.result_table import Floats, Indices

PRIOR: Final = 0.5
"""Matches that every entry has won, and lost, against one more entry."""

_STEPS: Final = 60
"""Most steps of Newton's method; about six are needed."""

_CLOSE: Final = 1e-10
"""Largest element of the gradient at the maximum, per match."""

_ROWS_AT_ONCE: Final = 20_000
"""Maximum number of choices whose derivatives are in memory together."""

_WEAK: Final = 1e-6
"""Curvature of the prior of the tie parameters, whose best values can be infinite."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices among equally many entries; one row each."""

    among: Indices
    """Entries to choose from; shape (rows, 2, 3 or more)."""
    chosen: Indices
    """The chosen entries as bits of the columns of `among`."""
    block: Indices


@dataclass(frozen=True, slots=True)
class Fit:
    """The maximum of the likelihood."""

    strengths: Floats
    """By entry, in natural logarithms of odds."""
    ties: Floats
    """t(size) of the tie sizes that occur, the smallest first."""
    hessian: Floats
    """Negative second derivatives by strengths, then ties."""
    block_gradients: Any
    """Gradient of each block, a sparse array of shape (blocks, entries + ties)."""


def choices(entry: Indices, match: Indices, score: Floats, block: Indices) -> list[Choices]:
    """Return the choices of matches, one row a seat, in which a higher score is a better rank.

    The seats of a match are consecutive rows. The last entry of a match chooses itself and is left
    out.
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
            begins = np.ones(len(rows), np.bool_)  # a choice begins here: no tie with the one above
            if start:
                begins = scores[:, start] < scores[:, start - 1]
            tied = scores[:, start:] == scores[:, start, np.newaxis]
            bits = tied @ (1 << np.arange(size - start))
            found.setdefault(int(size) - start, []).append(
                (among[begins, start:], bits[begins], of_block[begins])
            )
    return [
        Choices(*(column[start : start + _ROWS_AT_ONCE] for column in columns))
        for _, parts in sorted(found.items())
        for columns in [[np.concatenate(column) for column in zip(*parts, strict=True)]]
        for start in range(0, len(columns[0]), _ROWS_AT_ONCE)
    ]


def fit(made: Sequence[Choices], entries: int, blocks: int, prior: float = PRIOR) -> Fit:
    """Return the most likely strengths; entries that chose nothing have strength 0.

    `blocks` is the number of blocks. A `prior` of 0 gives maximum likelihood, which exists only if
    results connect all entries in both directions.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import cg

    sizes = {int(bits).bit_count() for part in made for bits in np.unique(part.chosen)}
    ties = sorted(sizes - {1})
    # The opponent of the prior is one more entry, whose strength stays 0.
    columns = np.concatenate((np.arange(entries), entries + 1 + np.arange(len(ties))))
    free = np.ix_(columns, columns)
    model = _Model([*made, *_prior_choices(entries)], entries + 1, ties, prior)
    point = np.zeros(entries + 1 + len(ties))
    best, gradient, hessian = model.derivatives(point)
    scale = sum(len(part.chosen) for part in made) + 1
    for _ in range(_STEPS):
        if np.abs(gradient[columns]).max(initial=0) < _CLOSE * scale:
            break
        step = np.zeros_like(point)
        step[columns] = cg(csr_array(hessian[free]), gradient[columns], rtol=1e-10)[0]
        following = model.derivatives(point + step)
        while following[0] < best - 1e-9 * abs(best):  # the step leads too far
            step /= 2
            following = model.derivatives(point + step)
        point += step
        best, gradient, hessian = following
    gradients = model.block_gradients(point, len(made), blocks)
    return Fit(point[:entries], point[entries + 1 :], hessian[free], gradients[:, columns])


def _prior_choices(entries: int) -> list[Choices]:
    """Return a win and a loss of every entry against one more entry."""
    own = np.arange(entries)
    among = np.column_stack((own, np.full(entries, entries)))
    return [Choices(among, np.full(entries, bits), own) for bits in (1, 2)]


@cache
def _sets(size: int, ties: tuple[int, ...]) -> tuple[Floats, Indices]:
    """Return the sets that can be chosen: the features of each, and the row of each bit pattern.

    Features are the share of every entry, then one for each size of tie.
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
    """The logarithm of the likelihood and its derivatives.

    The last two of the `parts` are those of the prior, and count `prior` times.
    """

    def __init__(
        self, parts: Sequence[Choices], entries: int, ties: Sequence[int], prior: float
    ) -> None:
        self._ties = slice(entries, entries + len(ties))
        self._count = entries + len(ties)
        self._weak = _WEAK if prior else 0.0
        self._parts = []
        for number, part in enumerate(parts):
            rows, size = part.among.shape
            features, row = _sets(size, tuple(ties))
            tie = np.broadcast_to(np.arange(entries, self._count), (rows, len(ties)))
            index = np.concatenate((part.among, tie), axis=1)
            weight = prior if number >= len(parts) - 2 else 1.0
            self._parts.append((index, features, row[part.chosen], part.block, weight))

    def derivatives(self, point: Floats) -> tuple[float, Floats, Floats]:
        """Return the value, the gradient and the negative second derivatives."""
        count = self._count
        value, gradient, hessian = 0.0, np.zeros(count), np.zeros(count * count)
        for index, features, chosen, _, weight in self._parts:
            chances, logarithm = _chances(point[index], features, chosen)
            expected = chances @ features
            curvature = chances @ _outer(features) - _outer(expected)
            cell = index[:, :, np.newaxis] * count + index[:, np.newaxis, :]
            rest = features[chosen] - expected
            value += weight * float(logarithm.sum())
            gradient += weight * np.bincount(index.ravel(), rest.ravel(), count)
            hessian += weight * np.bincount(cell.ravel(), curvature.ravel(), count * count)
        ties = np.zeros(count)
        ties[self._ties] = self._weak
        value -= float((ties * point**2).sum()) / 2
        return value, gradient - ties * point, hessian.reshape(count, count) + np.diag(ties)

    def block_gradients(self, point: Floats, parts: int, blocks: int) -> Any:
        """Return the gradient of the blocks of the first `parts`, as a sparse array."""
        from scipy.sparse import coo_array

        shape = blocks, self._count
        rows, columns, values = [], [], []
        for index, features, chosen, block, _ in self._parts[:parts]:
            chances, _ = _chances(point[index], features, chosen)
            rows.append(np.repeat(block, index.shape[1]))
            columns.append(index.ravel())
            values.append((features[chosen] - chances @ features).ravel())
        if not rows:
            return coo_array(shape).tocsr()
        return coo_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape
        ).tocsr()


def _outer(rows: Floats) -> Floats:
    """Return the products of every two columns; shape (rows, columns²)."""
    width = rows.shape[1]
    return (rows[:, :, np.newaxis] * rows[:, np.newaxis, :]).reshape(len(rows), width * width)


def _chances(values: Floats, features: Floats, chosen: Indices) -> tuple[Floats, Floats]:
    """Return the probability of every set, and the logarithm of that of the chosen one."""
    utility = values @ features.T
    utility -= utility.max(axis=1, keepdims=True)
    chances = np.exp(utility)
    total = chances.sum(axis=1, keepdims=True)
    chances /= total
    return chances, utility[np.arange(len(chosen)), chosen] - np.log(total[:, 0])
