"""The statistics against tournaments of players of known strength.

`pytest -s -m long -k test_statistics` prints the figures of the README beside the standings.
"""

import time
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import bootstrap, norm

from asara_server.outcome import match_scores
from asara_server.tournament.standings.bootstrap import BlockScores, intervals_95
from asara_server.tournament.standings.comparison import compared
from asara_server.tournament.standings.result_table import ResultTable
from asara_server.tournament.standings.standings import compute_standings
from tests.tournament.standings.simulation import (
    World,
    drawn_groups,
    drawn_tables,
    duplicate_results,
    results,
)

Floats = NDArray[np.float64]

FIELD = (-1.0, -0.5, -0.1, 0.1, 0.4, 1.1)
EIGHT = (-1.1, -0.8, -0.5, -0.1, 0.1, 0.5, 0.8, 1.1)
SIXTEEN = tuple(float(strength) for strength in np.linspace(-1.1, 1.1, 16))
DUPLICATE = [
    pytest.param(World(FIELD, seats=2), 3, id="two-seats"),
    pytest.param(World(EIGHT, seats=4), 2, id="four-seats"),
]
WORLDS = [
    pytest.param(World(FIELD, seats=2), id="two-seats"),
    pytest.param(World(FIELD, seats=4), id="four-seats"),
]


def block_scores(world: World, groups: NDArray[np.intp], ranks: NDArray[np.intp]) -> BlockScores:
    """The scores of many tournaments at once: entry e of tournament t is party t * entries + e.

    Shapes (tournaments, blocks, seats) and (tournaments, blocks, matches, seats). The dice of the
    bootstrap begin alike for every tournament of as many blocks, so that each party has the
    interval that it would have alone.
    """
    tournaments, _, k = groups.shape
    entries = len(world.strengths)
    score = np.array(match_scores(range(1, k + 1)))[ranks - 1]
    tournament, block, _, place = np.indices(score.shape)
    party = tournament * entries + groups[tournament, block, place]
    return BlockScores.of(party.ravel(), block.ravel(), score.ravel(), tournaments * entries)


def simulate(
    world: World, tournaments: int, blocks: int, *, mirrored: bool = True, seed: int = 1
) -> BlockScores:
    """Tournaments whose groups are drawn."""
    dice = np.random.default_rng(seed)
    groups = drawn_groups(world, tournaments * blocks, dice)
    ranks = world.ranks(groups, dice, mirrored=mirrored)
    k = world.seats
    return block_scores(
        world, groups.reshape(tournaments, blocks, k), ranks.reshape(tournaments, blocks, k, k)
    )


def compared_scores(world: World, tables: NDArray[np.intp], ranks: NDArray[np.intp]) -> BlockScores:
    """As `block_scores`, of duplicate blocks; shapes (tournaments, blocks, tables, seats).

    Each tournament is compared by itself.
    """
    tournaments, entries, k = len(tables), len(world.strengths), world.seats
    points = np.array(match_scores(range(1, k + 1)))
    scores = [
        compared(table_of(own, points[rank - 1])).score
        for own, rank in zip(tables, ranks, strict=True)
    ]
    tournament, block, *_ = np.indices(tables.shape)
    party = tournament * entries + tables
    return BlockScores.of(
        party.ravel(), block.ravel(), np.concatenate(scores), tournaments * entries
    )


def table_of(tables: NDArray[np.intp], score: Floats) -> ResultTable:
    """The results of one tournament of duplicate blocks."""
    block, table, seat = (axis.ravel() for axis in np.indices(tables.shape))
    none = np.zeros(tables.size)
    return ResultTable(
        match=block * tables.shape[1] + table,
        block=block,
        deal=block,
        rules=np.zeros(tables.size, np.intp),
        entry=tables.ravel(),
        seats=np.full(tables.size, tables.shape[2]),
        seat=seat,
        score=score.ravel(),
        win=none,
        prestige=none,
        termination=np.zeros(tables.size, np.intp),
        forfeit=np.zeros(tables.size, np.bool_),
    )


def simulate_duplicate(
    world: World, tournaments: int, blocks: int, tables: int, seed: int = 1
) -> BlockScores:
    """Tournaments of duplicate blocks whose tables are drawn."""
    dice = np.random.default_rng(seed)
    drawn = drawn_tables(world, tournaments * blocks, tables, dice)
    ranks = world.duplicate_ranks(drawn, dice)
    shape = (tournaments, blocks, tables, world.seats)
    return compared_scores(world, drawn.reshape(shape), ranks.reshape(shape))


def coverage(world: World, scores: BlockScores) -> float:
    """Share of the entries of all tournaments whose interval holds their expected score."""
    low, high = intervals_95(scores).reshape(-1, len(world.strengths), 2).transpose(2, 0, 1)
    return float(((low <= world.expected) & (world.expected <= high)).mean())


def allowance(tournaments: int) -> float:
    """How far chance moves a coverage of 95 %, with a probability of 0.999.

    Binomial, with one trial for each tournament: its entries are not independent of each other,
    and the mean of theirs does not vary more than one of them.
    """
    return float(norm.isf(0.0005) * np.sqrt(0.95 * 0.05 / tournaments))


def mean_width(scores: BlockScores) -> float:
    low, high = intervals_95(scores).T
    return float((high - low).mean())


def gain(world: World, tournaments: int, blocks: int) -> float:
    """How many times as many matches independent deals need for the same width.

    A width shrinks with the root of the number of matches, and both have as many.
    """
    independent = mean_width(simulate(world, tournaments, blocks, mirrored=False))
    return (independent / mean_width(simulate(world, tournaments, blocks))) ** 2


def duplicate_gain(world: World, tournaments: int, blocks: int, tables: int) -> float:
    """The same for duplicate blocks, against as many matches in independent blocks."""
    matches = blocks * tables
    independent = simulate(world, tournaments, matches // world.seats, mirrored=False)
    width = mean_width(simulate_duplicate(world, tournaments, blocks, tables))
    return (mean_width(independent) / width) ** 2


@pytest.mark.parametrize("world", WORLDS)
def test_the_model_scores_as_its_formula_says(world: World) -> None:
    scores = simulate(world, 1, 40_000)
    np.testing.assert_allclose(scores.means, world.expected, atol=0.01)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("mirrored", [True, False], ids=["mirrored", "independent"])
def test_intervals_cover_the_expected_score(world: World, mirrored: bool) -> None:
    covered = coverage(world, simulate(world, 800, 60, mirrored=mirrored))
    assert abs(covered - 0.95) < allowance(800)


def test_intervals_from_standings_are_those_that_the_simulation_judges() -> None:
    world = World(FIELD, seats=4)
    dice = np.random.default_rng(5)
    groups = drawn_groups(world, 40, dice)
    ranks = world.ranks(groups, dice, mirrored=True)
    played = results(world, groups, ranks)
    standings = compute_standings("Model", world.names, len(played), played)
    judged = intervals_95(block_scores(world, groups[np.newaxis], ranks[np.newaxis]))
    found = {line.entry: line.interval_95 for line in standings.overall}
    np.testing.assert_allclose([found[name] or () for name in world.names], judged, atol=1e-6)
    assert standings.matches.blocks == 40
    assert {seat.matches for seat in standings.seat_effect} == {160}


def test_a_round_robin_is_covered_at_least_as_often() -> None:
    """Its opponents are not drawn but all the same; that chance is in the interval nevertheless."""
    world = World(FIELD, seats=2)
    dice = np.random.default_rng(2)
    once = np.array(list(combinations(range(len(FIELD)), 2)))
    groups = np.tile(once, (500, 4, 1)).reshape(500, -1, 2)
    ranks = world.ranks(groups.reshape(-1, 2), dice, mirrored=True)
    scores = block_scores(world, groups, ranks.reshape(500, -1, 2, 2))
    assert coverage(world, scores) > 0.95 - allowance(500)


def test_ten_blocks_are_enough_where_bca_is_too_narrow() -> None:
    """Scores in steps of 1/12, as blocks of four seats have them."""
    table = np.random.default_rng(6).binomial(12, 0.6, (800, 10)) / 12
    party, block = np.indices(table.shape)
    scores = BlockScores.of(party.ravel(), block.ravel(), table.ravel(), 800)
    bca = bootstrap(
        (table,), np.mean, axis=1, n_resamples=2_000, method="BCa", rng=np.random.default_rng(4)
    ).confidence_interval
    covered, by_bca = (
        float(((low <= 0.6) & (high >= 0.6)).mean())
        for low, high in (intervals_95(scores).T, (bca.low, bca.high))
    )
    assert abs(covered - 0.95) < allowance(800)
    assert by_bca < 0.95 - allowance(800)


@pytest.mark.parametrize(("world", "tables"), DUPLICATE)
def test_compared_scores_are_unbiased_and_their_intervals_cover_the_expected_score(
    world: World, tables: int
) -> None:
    scores = simulate_duplicate(world, 200, 60, tables)
    assert abs(coverage(world, scores) - 0.95) < allowance(200)
    means = scores.means.reshape(200, -1)
    off = (means.mean(axis=0) - world.expected) / (means.std(axis=0) / np.sqrt(200))
    assert abs(off).max() < 4


@pytest.mark.parametrize(("world", "tables"), DUPLICATE)
def test_duplicate_blocks_need_fewer_matches_than_mirrored_ones(world: World, tables: int) -> None:
    assert duplicate_gain(world, 20, 120, tables) > 1.5


def test_a_strong_field_at_the_other_tables_costs_nobody_anything() -> None:
    """Deals give nothing, so that all that can be wrong is the comparison."""
    world = World((-2.0, -2.0, 0.0, 0.0, 2.0, 2.0), seats=2, deal=0.0, match=1.0)
    means = simulate_duplicate(world, 40, 100, 3).means.reshape(40, -1).mean(axis=0)
    np.testing.assert_allclose(means, world.expected, atol=0.015)


def test_compared_scores_from_standings_are_those_that_the_simulation_judges() -> None:
    world = World(EIGHT, seats=4)
    dice = np.random.default_rng(5)
    tables = drawn_tables(world, 40, 2, dice)
    ranks = world.duplicate_ranks(tables, dice)
    played = duplicate_results(world, tables, ranks)
    standings = compute_standings("Model", world.names, len(played), played)
    scores = compared_scores(world, tables[np.newaxis], ranks[np.newaxis])
    judged = intervals_95(scores)
    found = {line.entry: line for line in standings.overall}
    np.testing.assert_allclose([found[name].score for name in world.names], scores.means, atol=1e-6)
    np.testing.assert_allclose(
        [found[name].interval_95 or () for name in world.names], judged, atol=1e-6
    )
    assert {line.blocks for line in standings.overall} == {40}
    [share] = standings.deal_shares
    assert (share.rule_sets, share.seats, share.matches) == ("basic", 4, 80)
    assert 0.4 < share.share < 0.9
    assert compute_standings("Model", world.names, len(played), played[::-1]) == standings


@pytest.mark.parametrize("world", WORLDS)
def test_mirrored_blocks_need_fewer_matches_than_independent_ones(world: World) -> None:
    assert gain(world, 40, 200) > 1.4


def test_the_promised_saving_is_what_the_matches_show() -> None:
    """So many times the independent matches give intervals of the same width."""
    world = World(FIELD, seats=2)
    factor = gain(world, 40, 200)
    more = simulate(world, 40, round(200 * factor), mirrored=False, seed=3)
    assert mean_width(more) == pytest.approx(mean_width(simulate(world, 40, 200)), rel=0.03)


LONG = [
    (f"{len(field)} entries", World(field, seats=seats, deal=deal, match=0.5))
    for field, seats in (((-0.1, 0.1), 2), (FIELD, 2), (FIELD, 3), (FIELD, 4))
    for deal in (0.25, 0.5, 1.0)
]


@pytest.mark.long
def test_figures() -> None:
    print(f"\ncoverage within {allowance(3_000):.1%} of 95 % is chance")
    print("field      seats  deal luck  covered: mirrored independent  matches saved")
    for words, world in LONG:
        mirrored, independent = (
            coverage(world, simulate(world, 3_000, 60, mirrored=mirrored))
            for mirrored in (True, False)
        )
        factor = gain(world, 200, 200)
        print(
            f"{words:10} {world.seats:5} {world.deal / world.match:9.1f}× {mirrored:18.1%}"
            f" {independent:11.1%} {factor:6.2f}× {1 - 1 / factor:6.0%}"
        )
        for covered in (mirrored, independent):
            assert abs(covered - 0.95) < allowance(3_000)
        assert factor > 1


DUPLICATE_LONG = [
    (len(field), World(field, seats=seats, deal=deal, match=0.5))
    for field, seats in (
        (FIELD[1:5], 2),
        (FIELD, 2),
        (FIELD, 3),
        (EIGHT, 4),
        (SIXTEEN, 2),
        (SIXTEEN, 4),
    )
    for deal in (0.25, 0.5, 1.0)
]


@pytest.mark.long
def test_figures_of_duplicate_blocks() -> None:
    print(f"\ncoverage within {allowance(1_000):.1%} of 95 % is chance")
    print("entries  seats  tables  deal luck  covered  matches saved: duplicate mirrored")
    for entries, world in DUPLICATE_LONG:
        tables = min(4, entries // world.seats)
        covered = coverage(world, simulate_duplicate(world, 1_000, 60, tables))
        blocks = 240 // tables * world.seats
        saved, mirrored = (
            1 - 1 / factor
            for factor in (
                duplicate_gain(world, 60, blocks, tables),
                gain(world, 60, blocks * tables // world.seats),
            )
        )
        print(
            f"{entries:7} {world.seats:6} {tables:7} {world.deal / world.match:9.1f}×"
            f" {covered:8.1%} {saved:24.0%} {mirrored:8.0%}",
            flush=True,
        )
        assert abs(covered - 0.95) < allowance(1_000)
        assert saved > 0


@pytest.mark.long
def test_many_entries_and_blocks_take_seconds() -> None:
    world = World(tuple(np.linspace(-1, 1, 200).tolist()), seats=4)
    dice = np.random.default_rng(7)
    groups = drawn_groups(world, 20_000, dice)
    played = results(world, groups, world.ranks(groups, dice, mirrored=True))
    began = time.process_time()
    standings = compute_standings("Model", world.names, len(played), played)
    seconds = time.process_time() - began
    print(f"\n200 entries, 20,000 blocks of four seats: {seconds:.0f} s of processor time")
    assert seconds < 60
    assert standings.complete
