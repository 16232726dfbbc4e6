"""The ladder: one rating per entry, fitted to all matches together (see `plackett_luce`). Pure.

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
from typing import Final

import numpy as np

from asara_server.tournament.standings.block_scores import BlockScores
from asara_server.tournament.standings.intervals import ERROR
from asara_server.tournament.standings.model import LadderRow
from asara_server.tournament.standings.plackett_luce import Fit, choices, fit
from asara_server.tournament.standings.result_table import Floats, Mask, ResultTable

ANCHOR: Final = "greedy"
ANCHOR_RATING: Final = 1_500
POINTS: Final = 400 / np.log(10)
"""Points for a strength of 1, which means odds of e to one."""

_ADDED_BLOCKS: Final = 2


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
