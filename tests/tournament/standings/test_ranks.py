from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

from asara_server.tournament.standings.intervals_and_ranks import (
    MIN_BLOCKS,
    draws,
    rank_sets,
    ranks_and_chances,
)
from asara_server.tournament.standings.result_table import BlockScores

MANY = 10**9
"""Degrees of freedom of a variance that is known."""


def scores(*rows: Sequence[float]) -> BlockScores:
    """From the scores of each party, block by block; all parties play in all blocks."""
    table = np.array(rows, dtype=np.float64)
    party, block = np.indices(table.shape)
    return BlockScores.of(party.ravel(), block.ravel(), table.ravel(), len(rows))


def test_rank_sets_are_those_of_the_example_of_csranks() -> None:
    """R's `csranks(seq(1, 3, length = 10), rep(0.2, 10))` prints these."""
    covariance = np.diag(np.full(10, 0.04))
    found = rank_sets(
        np.linspace(1, 3, 10), covariance, draws(covariance), np.full(10, MANY, np.intp)
    )
    assert found[:, 0].tolist() == [7, 6, 5, 4, 3, 2, 1, 1, 1, 1]
    assert found[:, 1].tolist() == [10, 10, 10, 10, 9, 8, 7, 6, 5, 4]


def test_an_entry_with_a_single_block_has_no_certain_rank() -> None:
    covariance = np.diag([1e-6, 1e-6])
    found = rank_sets(np.array([0.0, 1.0]), covariance, draws(covariance), np.array([0, 30]))
    assert found.tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("blocks", [8, 11, 13])
def test_coins_separate_two_equal_entries_in_few_cases(blocks: int) -> None:
    """Without a wider bound, in 6 to 9 %."""
    wins = np.arange(blocks + 1)
    found = [
        ranks_and_chances(scores([1] * w + [0] * (blocks - w), [0] * w + [1] * (blocks - w)))[0]
        for w in wins.tolist()
    ]
    apart = [ranks[0, 0] == ranks[0, 1] for ranks in found]
    assert binom.pmf(wins, blocks, 0.5)[apart].sum() < 0.05


def test_entries_that_rise_and_fall_together_are_told_apart_sooner() -> None:
    means = np.array([0.6, 0.5, 0.0])
    covariance = np.diag([0.01, 0.01, 0.01])
    for shared, expected in ((0.0, [[1, 2], [1, 2], [3, 3]]), (0.0095, [[1, 1], [2, 2], [3, 3]])):
        covariance[0, 1] = covariance[1, 0] = shared
        found = rank_sets(means, covariance, draws(covariance), np.full(3, MANY, np.intp))
        assert found.tolist() == expected


def test_who_wins_every_block_is_first_after_ten_and_nothing_is_certain_after_three() -> None:
    ranks, chances = ranks_and_chances(scores([1.0] * MIN_BLOCKS, [0.0] * MIN_BLOCKS))
    assert ranks.tolist() == [[1, 1], [2, 2]]
    assert chances.tolist() == [1, 0]
    ranks, chances = ranks_and_chances(scores([1.0] * 3, [0.0] * 3))
    assert ranks.tolist() == [[1, 2], [1, 2]]
    assert 0.5 < chances[0] < 1


def test_an_entry_that_has_not_played_may_have_any_rank() -> None:
    two = scores([1.0] * 20, [0.0] * 20)
    three = BlockScores(two.party, two.block, two.score, 3, two.total)
    ranks, chances = ranks_and_chances(three)
    assert ranks.tolist() == [[1, 2], [2, 3], [1, 3]]
    assert chances[:2].tolist() == [1, 0]
    assert np.isnan(chances[2])
