import numpy as np
import pytest
from scipy.stats import bootstrap

from asara_server.tournament.standings.block_scores import BlockScores
from asara_server.tournament.standings.bootstrap import RESAMPLES, first_chances, resampled_means
from asara_server.tournament.standings.intervals import MIN_BLOCKS


def scores(*rows: list[float]) -> BlockScores:
    """From the scores of each party, block by block; all parties play in all blocks."""
    table = np.array(rows, dtype=np.float64)
    party, block = np.indices(table.shape)
    return BlockScores.of(party.ravel(), block.ravel(), table.ravel(), len(rows))


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


def test_a_party_that_a_resample_leaves_out_keeps_its_mean() -> None:
    party, block = [0] * 200 + [1], [*range(200), 0]
    found = BlockScores.of(np.array(party), np.array(block), np.full(201, 0.25), 2)
    assert resampled_means(found).tolist() == [[0.25] * RESAMPLES] * 2


def test_the_best_is_first_in_as_many_resamples_as_chance_leaves_it() -> None:
    table = scores([0.6, 0.4] * 20, [0.4, 0.6] * 20, [0.1] * 40)
    one, other, last = first_chances(table)
    assert one + other == pytest.approx(1)
    assert abs(one - 0.5) < 0.05
    assert last == 0


def test_few_blocks_have_no_chance_to_be_first() -> None:
    (chance,) = first_chances(scores([1.0] * (MIN_BLOCKS - 1)))
    assert np.isnan(chance)
    assert first_chances(scores([1.0] * MIN_BLOCKS)).tolist() == [1]
