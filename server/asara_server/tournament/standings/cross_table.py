"""The cross table: the score of every entry against every other entry. Pure."""

from collections.abc import Sequence

import numpy as np

from asara_server.tournament.standings.block_scores import BlockScores
from asara_server.tournament.standings.intervals import ERROR, intervals_95
from asara_server.tournament.standings.model import PairingRow
from asara_server.tournament.standings.result_table import Floats, Indices, ResultTable


def cross_table(
    names: Sequence[str], parts: ResultTable, order: Sequence[str], error: float = ERROR
) -> tuple[PairingRow, ...]:
    """Return a row for each pair of entries that met, with the earlier one in `order` as `entry`.

    `parts` is the result table, made with `names`.
    """
    place = {name: number for number, name in enumerate(order)}
    ordered = np.array([place[name] for name in names], np.intp)[parts.entry]
    pair, block, score = _meetings(parts, ordered, len(names))
    pairs, party = np.unique(pair, return_inverse=True)
    scores = BlockScores.of(party, block, score, len(pairs))
    return tuple(
        PairingRow(
            entry=order[code // len(names)],
            opponent=order[code % len(names)],
            matches=matches,
            blocks=blocks,
            score=mean,
            interval_95=(low, high),
        )
        for code, matches, blocks, mean, (low, high) in zip(
            pairs.tolist(),
            np.bincount(party, minlength=len(pairs)).tolist(),
            scores.blocks.tolist(),
            scores.means.tolist(),
            intervals_95(scores, error).tolist(),
            strict=True,
        )
    )


def _meetings(parts: ResultTable, entry: Indices, entries: int) -> tuple[Indices, Indices, Floats]:
    """Return the pair, block and score for every pair of seats in every match.

    The pair i < j is encoded as i * entries + j, and the score is the score of i.
    """
    rows = [np.empty((2, 0), np.intp)]
    for seats in np.unique(parts.seats):
        match = np.flatnonzero(parts.seats == seats).reshape(-1, seats).T
        rows += [match[[one, other]] for one in range(seats) for other in range(one)]
    one, other = np.concatenate(rows, axis=1)
    apart = entry[one] != entry[other]
    one, other = one[apart], other[apart]
    above = np.where(entry[one] < entry[other], one, other)
    below = one + other - above
    score = (1 + np.sign(parts.score[above] - parts.score[below])) / 2
    return entry[above] * entries + entry[below], parts.block[above], score
