"""The sequential test: its likelihoods against other ways to find them, its rates by simulation.

`ASARA_FIGURES=1 pytest -s -m long -k test_sprt` prints the figures of README.md.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom

from asara_server.tournament.standings.sprt import (
    SCORES,
    SequentialTest,
    Verdict,
    interval,
    log_likelihood,
    mean_score,
)
from tests.sizes import simulated
from tests.tournament.standings.simulation import World, rotations

VALUES = np.array(SCORES)

Draw = Callable[[int, int, np.random.Generator], NDArray[np.intp]]
"""Indices into SCORES, of shape (duels, blocks)."""

counts_of_blocks = st.lists(st.integers(0, 60), min_size=5, max_size=5).map(np.array)


# What is computed


def test_a_ratio_that_fishtest_computes() -> None:
    """Published with the raw statistics of a test of a chess engine: 128 pairs of games."""
    counts = np.array([13, 37, 50, 25, 3])
    score = 1 / (1 + 10 ** (-2.716 / 400))
    ratio = log_likelihood(counts, score) - log_likelihood(counts, 0.5)
    assert ratio == pytest.approx(-0.53772, abs=5e-5)


# What is told


def test_all_blocks_even_means_no_difference_and_all_won_means_better() -> None:
    """By hand: 0.9 of the blocks, or of ½ against 0.55, to the power of the blocks."""
    test = SequentialTest(margin=0.05, alpha=0.05, beta=0.05)
    assert test.verdict(np.array([0, 0, 28, 0, 0])) is Verdict.OPEN
    assert test.verdict(np.array([0, 0, 29, 0, 0])) is Verdict.NO_DIFFERENCE
    assert test.verdict(np.array([0, 0, 0, 0, 38])) is Verdict.OPEN
    assert test.verdict(np.array([0, 0, 0, 0, 39])) is Verdict.A_BETTER
    assert test.verdict(np.array([39, 0, 0, 0, 0])) is Verdict.B_BETTER
    assert test.verdict(np.zeros(5)) is Verdict.OPEN


@settings(max_examples=20)
@given(counts_of_blocks)
def test_swapping_the_entries_swaps_what_is_told(counts: NDArray[np.intp]) -> None:
    test = SequentialTest()
    np.testing.assert_allclose(test.ratios(counts), test.ratios(counts[::-1])[::-1], atol=1e-6)


@pytest.mark.long
@settings(max_examples=30)
@given(counts_of_blocks, st.sampled_from([0.02, 0.05, 0.2]), st.floats(0.01, 0.99))
def test_the_interval_holds_what_is_likely_and_never_contradicts_what_is_told(
    counts: NDArray[np.intp], margin: float, mean: float
) -> None:
    """It holds what is at most 20 times less likely than what was seen."""
    low, high = interval(counts)
    assert 0 <= low < high <= 1
    if counts.sum():
        assert low <= mean_score(counts) <= high
    likelihood = log_likelihood(counts, mean)
    if low + 1e-5 < mean < high - 1e-5:
        assert likelihood > -math.log(20)
    if mean < low - 1e-5 or mean > high + 1e-5:
        assert likelihood < -math.log(20)
    match SequentialTest(margin).verdict(counts):
        case Verdict.A_BETTER:
            assert low > 0.5
        case Verdict.B_BETTER:
            assert high < 0.5
        case Verdict.NO_DIFFERENCE:
            assert 0.5 - margin <= low
            assert high <= 0.5 + margin


def test_an_interval_without_a_block_is_everything() -> None:
    assert interval(np.zeros(5)) == (0, 1)


def test_what_is_left_is_right_where_all_blocks_are_alike() -> None:
    test = SequentialTest()
    assert test.blocks_left(np.zeros(5)) == math.inf
    for done in (1, 10, 28):
        assert math.ceil(test.blocks_left(np.array([0, 0, done, 0, 0]))) == 29 - done
        assert math.ceil(test.blocks_left(np.array([0, 0, 0, 0, done]))) == 39 - done


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0, -0.1, 0.6, 1e300])
@pytest.mark.parametrize("name", ["margin", "alpha", "beta"])
def test_settings_that_make_no_sense_are_refused(name: str, bad: float) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: must be 0.001 to 0.\d+, not "):
        SequentialTest(**{name: bad})


# How often it is wrong


class Outcome(NamedTuple):
    """Shares of many duels, and what they took."""

    a_better: float
    b_better: float
    no_difference: float
    blocks: float
    """Mean of a duel."""
    longest: int
    covered: float
    """Share whose interval at the end holds the truth."""


def play(
    test: SequentialTest, draw: Draw, mean: float, duels: int, *, most: int = 20_000, seed: int = 1
) -> Outcome:
    """Many duels to their end, or as far as `most` blocks; the test is asked after every block."""
    dice = np.random.default_rng(seed)
    counts = np.zeros((duels, 5))
    told = np.full((duels, 3), False)
    running = np.arange(duels)
    lower, upper = test.bounds
    played = 0
    while len(running) and played < most:
        at_once = min(64, most - played)
        scores = draw(len(running), at_once, dice)
        sums = counts[running, np.newaxis] + np.cumsum(np.eye(5)[scores], axis=1)
        ratios = test.ratios(sums)
        verdicts = np.concatenate(
            (ratios >= upper, (ratios <= lower).all(axis=-1, keepdims=True)), axis=-1
        )
        first = verdicts.any(axis=-1).argmax(axis=1)
        row = np.arange(len(running))
        ended = verdicts[row, first].any(axis=-1)
        told[running] = verdicts[row, first]
        counts[running] = np.where(ended[:, np.newaxis], sums[row, first], sums[:, -1])
        running = running[~ended]
        played += at_once
    blocks = counts.sum(axis=1)
    covered = log_likelihood(counts, mean) >= -math.log(20)  # what `interval` holds, but quicker
    a_better, b_better, no_difference = map(float, told.mean(axis=0))
    return Outcome(
        a_better,
        b_better,
        no_difference,
        float(blocks.mean()),
        int(blocks.max()),
        float(covered.mean()),
    )


def drawn(shares: tuple[float, ...], mean: float) -> Draw:
    """Independent blocks whose scores have these shares, tilted until they have this mean."""
    low, high = -60.0, 60.0
    p = np.array(shares)
    for _ in range(100):
        tilt = (low + high) / 2
        p = np.array(shares) * np.exp(tilt * VALUES)
        p /= p.sum()
        low, high = (tilt, high) if p @ VALUES < mean else (low, tilt)
    return lambda duels, blocks, dice: dice.choice(5, (duels, blocks), p=p)


def players(mean: float) -> Draw:
    """Players of known strength, who play each deal in both seats; see `World`."""
    deal, match = 1.0, 0.7
    strength = float(ndtri(mean)) * math.hypot(deal, match) * math.sqrt(2)
    world = World((strength, 0.0), seats=2, deal=deal, match=match)
    assert world.expected[0] == pytest.approx(mean)

    def draw(duels: int, blocks: int, dice: np.random.Generator) -> NDArray[np.intp]:
        tables = rotations(np.tile([0, 1], (duels * blocks, 1)))
        won = (world.ranks(tables, dice)[tables == 0] == 1).reshape(duels, blocks, 2)
        return np.asarray(2 * won.sum(axis=2))

    return draw


WORLDS = {
    "players": players,
    "coins": lambda mean: drawn((0.25, 0, 0.5, 0, 0.25), mean),
    "all scores": lambda mean: drawn((0.2, 0.2, 0.2, 0.2, 0.2), mean),
    "mostly even": lambda mean: drawn((0.05, 0, 0.9, 0, 0.05), mean),
    "often ¾, else 0": lambda mean: drawn((1 / 3, 0, 0, 2 / 3, 0), mean),
    "won or lost": lambda mean: drawn((0.5, 0, 0, 0, 0.5), mean),
    "lopsided": lambda mean: drawn((0.01, 0.04, 0.15, 0.3, 0.5), mean),
}


def at_most(rate: float, duels: int) -> float:
    """The share of duels that a probability of `rate` exceeds with one of 0.001."""
    return float(binom.isf(0.001, duels, rate)) / duels


def judge(test: SequentialTest, world: str, duels: int, truth: float) -> Outcome:
    """Play at this true score, and hold the rates to what is stated."""
    outcome = play(test, WORLDS[world](truth), truth, duels)
    assert sum(outcome[:3]) == pytest.approx(1), "a duel did not end"
    if truth <= 0.5:
        assert outcome.a_better <= at_most(test.alpha / 2, duels)
    if truth >= 0.5:
        assert outcome.b_better <= at_most(test.alpha / 2, duels)
    if truth == 0.5:
        assert outcome.a_better + outcome.b_better <= at_most(test.alpha, duels)
    if abs(truth - 0.5) >= test.margin:
        assert outcome.no_difference <= at_most(test.beta, duels)
    assert 1 - outcome.covered <= at_most(0.05, duels)
    return outcome


@pytest.mark.parametrize("truth", [0.5, 0.6])
def test_duels_end_and_are_wrong_no_more_often_than_stated(truth: float) -> None:
    judge(SequentialTest(margin=0.1), "players", 300, truth)


@pytest.mark.parametrize("margin", [0.05, 0.3])
def test_the_interval_holds_after_few_blocks(margin: float) -> None:
    """The small margin leaves all duels to the limit, the large one ends most of them before."""
    outcome = play(SequentialTest(margin), players(0.75), 0.75, 300, most=12)
    assert 1 - outcome.covered <= at_most(0.06, 300)


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_rates_and_lengths_in_many_duels(world: str) -> None:
    test = SequentialTest()
    for truth in (0.45, 0.5, 0.525, 0.55, 0.6, 0.75):
        outcome = judge(test, world, simulated(2_000), truth)
        print(
            f"{world:16} {truth:.3f}  A {outcome.a_better:.3f}  B {outcome.b_better:.3f}  "
            f"none {outcome.no_difference:.3f}  blocks {outcome.blocks:4.0f}  "
            f"longest {outcome.longest:5}  covered {outcome.covered:.3f}"
        )
