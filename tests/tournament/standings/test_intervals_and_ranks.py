"""Intervals against the formulas and the special cases that they contain.

`test_statistics` holds them to their coverage.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from asara_server.tournament.standings.intervals_and_ranks import (
    MIN_BLOCKS,
    blocks_for,
    exact_intervals_95,
    intervals_95,
)
from asara_server.tournament.standings.result_table import BlockScores

few_scores = st.sampled_from([0, 0.25, 1 / 3, 0.5, 0.75, 1])
block_scores = st.lists(st.one_of(few_scores, st.floats(-0.2, 1.2)), min_size=1, max_size=40)


def interval(scores: list[float]) -> tuple[float, float]:
    """The interval of one party."""
    none = np.zeros(len(scores), np.intp)
    ((low, high),) = intervals_95(
        BlockScores.of(none, np.arange(len(scores)), np.array(scores, np.float64), 1)
    )
    return float(low), float(high)


def exact(won: float, blocks: int) -> tuple[float, float]:
    found = binomtest(round(won), blocks).proportion_ci(method="exact")
    return found.low, found.high


@pytest.mark.parametrize(
    ("won", "blocks"), [(0, 10), (1, 12), (10, 10), (18, 20), (1, 2), (30, 60)]
)
def test_blocks_that_are_won_or_lost_have_the_exact_interval(won: int, blocks: int) -> None:
    share = np.array([won / blocks])
    expected = pytest.approx(exact(won, blocks))
    assert exact_intervals_95(share, np.array([blocks]))[0].tolist() == expected
    assert interval([1.0] * won + [0.0] * (blocks - won)) == expected


@pytest.mark.parametrize("blocks", [1, 10, 50])
@pytest.mark.parametrize("score", [0.0, 1 / 3, 0.5, 1.0])
def test_an_interval_has_a_width_if_all_blocks_ended_alike(score: float, blocks: int) -> None:
    """Its ends are possible: other blocks are so rare that none is seen once in forty samples."""
    low, high = interval([score] * blocks)
    for end, other in ((low, 0.0), (high, 1.0)):
        if score != other:
            rare = (end - score) / (other - score)
            assert (1 - rare) ** blocks == pytest.approx(0.025)
        else:
            assert end == score


def test_fewer_than_ten_blocks_are_treated_as_won_or_lost_and_none_has_no_interval() -> None:
    assert MIN_BLOCKS == 10
    assert interval([0.25, 0.75] * 4) == pytest.approx(exact(4, 8))
    assert interval([1.1, 1.3]) == pytest.approx((exact(2, 2)[0], 1.2))
    nothing = BlockScores.of(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), 2)
    assert np.isnan(intervals_95(nothing)).all()


def test_an_interval_ends_at_1_or_at_the_mean_beyond() -> None:
    assert interval([1.1, 1.2] * 8) == pytest.approx((1, 1.15))


@pytest.mark.parametrize(
    ("variance", "error", "blocks"), [(1 / 4, 0.05, 97), (1 / 4, 0.01, 166), (1 / 50, 0.05, 10)]
)
def test_the_number_of_blocks_gives_an_interval_of_the_wanted_width(
    variance: float, error: float, blocks: int
) -> None:
    """For example, 0.25 * (1.96 / 0.1)² = 96.04 blocks; fewer than ten have another interval."""
    assert blocks_for(0.1, variance, error) == blocks


@given(block_scores)
def test_an_interval_holds_its_mean_is_within_0_and_1_and_no_wider_than_the_exact_one(
    scores: list[float],
) -> None:
    low, high = interval(scores)
    mean = float(np.mean(scores))
    assert low <= mean <= high
    assert low >= min(0, mean)
    assert high <= max(1, mean)
    if min(scores) >= 0 and max(scores) <= 1:
        ends = exact_intervals_95(np.array([mean]), np.array([len(scores)]))[0]
        assert high - low <= 1.1 * (ends[1] - ends[0])
    mirrored = interval([1 - score for score in scores])
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-7)
