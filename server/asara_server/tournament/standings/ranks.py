"""Computes which ranks the data allow, and each entry's chance of being first. Pure and
deterministic.

The true rank of an entry is one more than the number of entries with a higher expected score. Its
rank set follows from comparing all entries with each other. With a probability of 95 %, not a
single one of these comparisons is wrong:

    best rank   1 + number of entries that are certainly better
    worst rank  entries - number of entries that are certainly worse

So all entries' sets contain their true ranks simultaneously (Mogstad, Romano, Shaikh and Wilhelm,
"Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement
across Countries", 2024; the R package `csranks`). Two entries certainly differ if the difference of
their scores, divided by its standard error, exceeds a bound. To find the bound, scores are drawn
without any true difference: in 95 % of these draws, the largest quotient of all pairs is below the
bound. Pairs that differ are removed, and the bound for the remaining pairs is drawn again, until no
further pair differs (step-down; Romano and Wolf, "Exact and Approximate Stepdown Methods for
Multiple Hypothesis Testing", 2005).

The unit is the block. Entries that met in a block have dependent scores there, so draws and
standard errors use the covariance of all scores. The bound is converted from the normal
distribution to Student's, using the smaller of the two entries' numbers of blocks. Three additions
guard against errors with few blocks:

- With fewer than ten blocks, each block is treated as won or lost.
- Otherwise, a quarter of a block is added that is won or lost, as often as the entry's blocks with
  one more win and one more loss. So no variance is zero, although all blocks may have ended alike.
- The bound is multiplied by (n + 2) / n, or (n + 1) / n with fewer than ten blocks, for as many
  wins and losses n as leave the same doubt as the blocks (see `intervals`). Otherwise, thirteen
  coins, which have only two results, would separate two equal entries in 9 % of cases.

The first chance is the share of draws, around the scores, in which the entry is first. Draws are
multiplied as the bound is.
"""

from typing import Final

import numpy as np

from asara_server.tournament.standings.intervals import ERROR, MIN_BLOCKS
from asara_server.tournament.standings.result_table import BlockScores, Floats, Indices, Mask

DRAWS: Final = 10_000
"""Number of draws; chance changes a probability of ½ by about 0.5 %."""
_CELLS: Final = 2e8
"""Maximum number of entry pairs times draws; with many entries, there are fewer draws."""
_FEWEST_DRAWS: Final = 250
_CELLS_AT_ONCE: Final = 1_000_000
_MOST_ROUNDS: Final = 4
"""Maximum rounds of step-down; further rounds hardly ever find another pair."""
_SEED: Final = 4
"""Fixed seed of the draws, so that the same results give the same standings."""
_ADDED_BLOCKS: Final = 0.25


def ranks_and_chances(
    scores: BlockScores, error: float = ERROR, group: Indices | None = None
) -> tuple[Indices, Floats]:
    """Return each party's best and worst rank, shape (parties, 2), and its chance of being first.

    A party without a block may have any rank, and its chance is NaN. `error` is the probability
    that any rank is wrong. Parties with different `group` values cannot be compared: none is
    certainly better, and no party has a chance.
    """
    if group is None:
        group = np.zeros(scores.parties, np.intp)
    played = scores.blocks > 0
    ranks = np.tile(np.array([1, scores.parties]), (scores.parties, 1))
    chances = np.full(scores.parties, np.nan)
    if played.any():
        some = np.ix_(played, played)
        means = scores.means[played]
        covariance = _covariance(scores)[some]
        drawn = draws(covariance)
        group = group[played]
        comparable = group[:, np.newaxis] == group
        freedom = scores.blocks[played] - 1
        ranks[played] = rank_sets(means, covariance, drawn, freedom, error, comparable)
        ranks[played, 1] += np.count_nonzero(~played)  # an entry that has not played may be better
        if comparable.all():
            wide = drawn * _widening(means, np.diag(covariance), freedom)
            first = (means + wide).argmax(axis=1)
            chances[played] = np.bincount(first, minlength=len(means)) / len(first)
    return ranks, chances


def rank_sets(
    means: Floats,
    covariance: Floats,
    drawn: Floats,
    freedom: Indices,
    error: float = ERROR,
    comparable: Mask | bool = True,
) -> Indices:
    """Return each party's best and worst rank; shape (parties, 2).

    `drawn` are draws of `means` without true differences. `freedom` gives each party's degrees of
    freedom for its variance. `comparable` has a row and a column for each party.
    """
    from scipy.special import ndtr, stdtrit

    parties = len(means)
    variances = np.diag(covariance)
    apart = np.sqrt(np.maximum(variances + variances[:, np.newaxis] - 2 * covariance, 1e-18))
    lead = (means[:, np.newaxis] - means) / apart
    widening = _widening(means, variances, freedom)
    open_ = ~np.eye(parties, dtype=np.bool_)
    for _ in range(_MOST_ROUNDS):
        bound = np.quantile(_largest(drawn, apart, open_), 1 - error)
        student = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1), ndtr(bound)), np.inf)
        student *= widening
        better = open_ & comparable & (lead > np.maximum(student, student[:, np.newaxis]))
        if not better.any():
            break
        open_ &= ~better
    certain = ~open_ & ~np.eye(parties, dtype=np.bool_)
    return np.stack((1 + certain.sum(axis=0), parties - certain.sum(axis=1)), axis=-1)


def draws(covariance: Floats) -> Floats:
    """Return draws of the normal distribution around 0; shape (draws, parties)."""
    number = int(min(DRAWS, max(_FEWEST_DRAWS, _CELLS / len(covariance) ** 2)))
    rng = np.random.default_rng(_SEED)
    root = np.linalg.cholesky(covariance)
    return np.asarray(rng.standard_normal((number, len(covariance))) @ root.T)


def _largest(drawn: Floats, apart: Floats, open_: Mask) -> Floats:
    """Return the largest standardized difference of each draw among the pairs still open."""
    scale = np.where(open_, 1 / apart, 0).astype(np.float32)
    parts = np.array_split(drawn.astype(np.float32), 1 + drawn.size * len(scale) // _CELLS_AT_ONCE)
    leads = ((part[:, :, np.newaxis] - part[:, np.newaxis]) * scale for part in parts)
    return np.concatenate([lead.max(axis=(1, 2)) for lead in leads])


def _widening(means: Floats, variances: Floats, freedom: Indices) -> Floats:
    blocks = freedom + 1
    share = (blocks * means + 1) / (blocks + 2)
    matches = np.maximum(blocks, share * (1 - share) / variances)
    return np.asarray(1 + np.where(blocks < MIN_BLOCKS, 1, 2) / matches)


def _covariance(scores: BlockScores) -> Floats:
    """Return the covariance of the mean scores; shape (parties, parties)."""
    from scipy.sparse import csr_array

    blocks, means = np.maximum(scores.blocks, 1), scores.means
    rest = (scores.score - means[scores.party]) / blocks[scores.party]
    rest *= np.sqrt(blocks / np.maximum(blocks - 1, 1))[scores.party]
    table = csr_array((rest, (scores.block, scores.party)), (scores.total, scores.parties))
    covariance = (table.T @ table).toarray()
    share = (blocks * means.clip(0, 1) + 1) / (blocks + 2)
    added = _ADDED_BLOCKS * share * (1 - share) / blocks**2
    won_or_lost = np.maximum(0.25 / blocks - np.diag(covariance), added)
    covariance[np.diag_indices_from(covariance)] += np.where(
        blocks < MIN_BLOCKS, won_or_lost, added
    )
    return np.asarray(covariance)
