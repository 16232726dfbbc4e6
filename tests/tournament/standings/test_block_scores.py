import numpy as np

from asara_server.tournament.standings.block_scores import BlockScores


def test_matches_of_a_block_are_averaged_first() -> None:
    found = BlockScores.of(
        np.array([1, 1, 1, 0]), np.array([7, 7, 9, 9]), np.array([1.0, 0.0, 1.0, 0.2]), 3
    )
    assert found.total == 2
    assert found.blocks.tolist() == [1, 2, 0]
    assert found.means.tolist() == [0.2, 0.75, 0]


def test_variances_and_ranges_are_those_of_each_party_alone() -> None:
    dice = np.random.default_rng(1)
    party, block = np.repeat([0, 1, 3], [5, 12, 1]), np.r_[0:5, 0:12, 7]
    score = dice.random(18)
    found = BlockScores.of(party, block, score, 4)
    assert found.blocks.tolist() == [5, 12, 0, 1]
    np.testing.assert_allclose(
        found.variances, [score[:5].var(ddof=1), score[5:17].var(ddof=1), 0, 0]
    )
    low, high = found.ranges
    np.testing.assert_array_equal(low, [score[:5].min(), score[5:17].min(), np.inf, score[17]])
    np.testing.assert_array_equal(high, [score[:5].max(), score[5:17].max(), -np.inf, score[17]])
