import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap

from asara_server.tournament.standings.bootstrap import (
    MIN_BLOCKS,
    RESAMPLES,
    BlockScores,
    exact_intervals_95,
    first_chances,
    intervals_95,
    resampled_means,
)


def scores(*rows: list[float]) -> BlockScores:
    """From the scores of each party, block by block; all parties play in all blocks."""
    table = np.array(rows, dtype=np.float64)
    party, block = np.indices(table.shape)
    return BlockScores.of(party.ravel(), block.ravel(), table.ravel(), len(rows))


def test_matches_of_a_block_are_averaged_first() -> None:
    found = BlockScores.of(
        np.array([1, 1, 1, 0]), np.array([7, 7, 9, 9]), np.array([1.0, 0.0, 1.0, 0.2]), 3
    )
    assert found.total == 2
    assert found.blocks.tolist() == [1, 2, 0]
    assert found.means.tolist() == [0.2, 0.75, 0]


def test_resampled_means_are_those_of_scipy_for_each_party_alone() -> None:
    """The same blocks are drawn: the generator of `resampled_means` is seeded alike."""
    dice = np.random.default_rng(1)
    rows = dice.random((3, 25))
    joint = resampled_means(scores(*rows.tolist()))
    assert joint.shape == (3, RESAMPLES)
    for row, means in zip(rows, joint, strict=True):
        alone = bootstrap(
            (row,),
            np.mean,
            n_resamples=RESAMPLES,
            method="percentile",
            rng=np.random.default_rng(4),
        )
        np.testing.assert_allclose(means, alone.bootstrap_distribution)


def test_intervals_are_a_little_wider_than_plain_percentiles() -> None:
    row = np.random.default_rng(2).random(20)
    plain = bootstrap(
        (row,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(4)
    ).confidence_interval
    ((low, high),) = intervals_95(scores(row.tolist()))
    assert 1.02 < (high - low) / (plain.high - plain.low) < 1.2


def test_many_parties_have_the_intervals_that_they_have_together() -> None:
    """Parties that do not fit into memory together are resampled in parts."""
    dice = np.random.default_rng(3)
    table = scores(*dice.random((1_500, 12)).tolist())
    together = intervals_95(table, resampled_means(table))
    np.testing.assert_allclose(intervals_95(table), together)


def test_a_party_that_a_resample_leaves_out_keeps_its_mean() -> None:
    party, block = [0] * 200 + [1], [*range(200), 0]
    found = BlockScores.of(np.array(party), np.array(block), np.full(201, 0.25), 2)
    assert resampled_means(found).tolist() == [[0.25] * RESAMPLES] * 2


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_blocks_that_all_ended_alike_have_the_exact_interval(score: float) -> None:
    ((low, high),) = intervals_95(scores([score] * 50))
    assert [low, high] == exact_intervals_95(np.array([score]), np.array([50]))[0].tolist()
    assert high - low > 0.05


def test_few_blocks_have_the_exact_interval_and_none_has_none() -> None:
    few = [0.0, 1.0] * (MIN_BLOCKS // 2)
    ((low, high),) = intervals_95(scores(few[1:]))
    assert (round(low, 3), round(high, 3)) == (0.212, 0.863)  # 5 of 9
    nothing = BlockScores.of(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), 2)
    assert np.isnan(intervals_95(nothing)).all()


def test_the_exact_interval_is_that_of_a_binomial_share() -> None:
    for won, blocks in ((0, 10), (10, 10), (18, 20), (1, 2)):
        found = exact_intervals_95(np.array([won / blocks]), np.array([blocks]))
        np.testing.assert_allclose(found[0], binomtest(won, blocks).proportion_ci(method="exact"))


def test_the_best_is_first_in_as_many_resamples_as_chance_leaves_it() -> None:
    table = scores([0.6, 0.4] * 20, [0.4, 0.6] * 20, [0.1] * 40)
    one, other, last = first_chances(table, resampled_means(table))
    assert one + other == pytest.approx(1)
    assert abs(one - 0.5) < 0.05
    assert last == 0
