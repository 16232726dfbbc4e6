"""The statistics against tournaments of players of known strength.

`ASARA_FIGURES=1 pytest -s -m long -k test_statistics` prints the figures of README.md.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import bootstrap, multinomial, norm

from asara_server.outcome import match_scores
from asara_server.tournament.standings.block_scores import BlockScores
from asara_server.tournament.standings.comparison import compared
from asara_server.tournament.standings.cross_table import cross_table
from asara_server.tournament.standings.intervals import intervals_95
from asara_server.tournament.standings.result_table import ResultTable
from asara_server.tournament.standings.standings import compute_standings
from tests.sizes import others_long, simulated
from tests.tournament.standings.simulation import (
    World,
    drawn_groups,
    drawn_tables,
    duplicate_results,
    groups_with_first,
    points,
    results,
)
from tests.yardstick import at_most

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

    Shapes (tournaments, blocks, seats) and (tournaments, blocks, matches, seats).
    """
    tournaments = len(groups)
    entries = len(world.strengths)
    score = points(ranks)
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
    tournaments, entries = len(tables), len(world.strengths)
    scores = [
        compared(table_of(own, points(rank))).score for own, rank in zip(tables, ranks, strict=True)
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


def covered_by(scores: BlockScores, truth: float) -> float:
    """Share of the parties whose interval holds the truth."""
    low, high = intervals_95(scores).T
    return float(((low <= truth) & (truth <= high)).mean())


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


def block_means(
    world: World, tournaments: int, blocks: int, *, mirrored: bool = True, seed: int = 1
) -> Floats:
    """Block scores of the first entry, which plays in every block; shape (tournaments, blocks)."""
    dice = np.random.default_rng(seed)
    groups = groups_with_first(world, tournaments * blocks, dice)
    ranks = world.ranks(groups, dice, mirrored=mirrored)
    return np.asarray(points(ranks)[:, :, 0].mean(axis=1).reshape(tournaments, blocks))


def by_row(table: Floats) -> BlockScores:
    """One party for each row."""
    party, block = np.indices(table.shape)
    return BlockScores.of(party.ravel(), block.ravel(), table.ravel(), len(table))


def student_widths(table: Floats) -> Floats:
    reach = stdtrit(table.shape[1] - 1, 0.975)
    return np.asarray(2 * reach * table.std(axis=1, ddof=1) / np.sqrt(table.shape[1]))


def guaranteed_widths(table: Floats) -> Floats:
    """Widths of the interval of Learned-Miller and Thomas (2019) for scores between 0 and 1.

    It is the Clopper-Pearson interval if blocks are only won or lost, and covers the mean of every
    distribution, as far as is known. The weights of the scores and of one more block, which is lost
    for the low end and won for the high end, are uniform.
    """
    weights = np.random.default_rng(0).dirichlet(np.ones(table.shape[1] + 1), 4_000)
    means = table @ weights[:, :-1].T
    low = np.quantile(means, 0.025, axis=1)
    high = np.quantile(means + weights[:, -1], 0.975, axis=1)
    return np.asarray(high - low)


EQUAL, BETTER, FAR_BETTER = (0.0, 0.0), (1.0, 0.0), (2.0, 0.0)
FEW_BLOCKS = {
    "equal": World(EQUAL, 2),
    "equal, deal decides": World(EQUAL, 2, deal=1.0, match=0.2),
    "equal, heavy-tailed": World(EQUAL, 2, luck="heavy-tailed"),
    "equal, skewed": World(EQUAL, 2, luck="skewed"),
    "equal, rare luck": World(EQUAL, 2, luck="rare"),
    "equal, drawish": World(EQUAL, 2, deal=0.5, match=0.3, step=1.5),
    "better": World(BETTER, 2),
    "better, drawish": World(BETTER, 2, step=2.5),
    "far better": World(FAR_BETTER, 2),
    "far better, heavy-tailed": World(FAR_BETTER, 2, luck="heavy-tailed"),
    "best of a field": World(FIELD[::-1], 2),
    "three seats, equal": World((0.0, *EQUAL), 3),
    "three seats, far better, coarse": World((2.0, *EQUAL), 3, step=1.0),
    "four seats, equal, heavy-tailed": World((*EQUAL, *EQUAL), 4, luck="heavy-tailed"),
    "four seats, far better, rare luck": World((2.0, 0.0, *EQUAL), 4, luck="rare"),
    "four seats, last of a field": World(FIELD, 4),
}
SHORT = (
    "equal, heavy-tailed",
    "equal, drawish",
    "far better, heavy-tailed",
    "three seats, far better, coarse",
    "four seats, far better, rare luck",
)
"""The worlds of the short tests; `test_figures_of_few_blocks` has all."""

BLOCKS = (10, 12, 16, 20, 30, 60)


def test_points_are_match_scores() -> None:
    for ranks in ((1, 2, 3, 4), (1, 1, 3), (1, 2, 2, 4), (1, 1, 1), (2, 1), (1, 1)):
        np.testing.assert_allclose(points(np.array(ranks)), match_scores(ranks))


@pytest.mark.parametrize("blocks", others_long([10, 12, 16, 20, 30, 40], 3))
def test_mixtures_of_0_a_half_and_1_are_covered(blocks: int) -> None:
    """All samples of blocks of two seats without ties, with their probabilities."""
    counts = np.array(
        [(i, j, blocks - i - j) for i in range(blocks + 1) for j in range(blocks + 1 - i)]
    )
    values = np.array([0, 0.5, 1])
    low, high = intervals_95(by_row(np.array([np.repeat(values, row) for row in counts]))).T
    shares = [(i / 40, j / 40, 1 - (i + j) / 40) for i in range(41) for j in range(41 - i)]
    covered = []
    for share in shares:
        truth = values @ share
        held = (low <= truth + 1e-9) & (high >= truth - 1e-9)
        covered.append(multinomial.pmf(counts, blocks, share)[held].sum())
    assert min(covered) > 0.92
    assert np.mean(np.array(covered) > 0.94) > 0.99


def test_the_simulation_would_see_intervals_that_are_too_narrow() -> None:
    """BCa is, for scores in steps of 1/12, as blocks of four seats have them."""
    table = np.random.default_rng(6).binomial(12, 0.6, (800, 10)) / 12
    bca = bootstrap(
        (table,), np.mean, axis=1, n_resamples=2_000, method="BCa", rng=np.random.default_rng(4)
    ).confidence_interval
    assert ((bca.low <= 0.6) & (bca.high >= 0.6)).mean() < 0.94 - allowance(800)
    assert covered_by(by_row(table), 0.6) > 0.94 - allowance(800)


@pytest.mark.long
@pytest.mark.parametrize("words", SHORT)
def test_coverage_is_not_bought_by_width(words: str) -> None:
    """No wider than what holds for all distributions, and with more blocks Student's interval."""
    world = FEW_BLOCKS[words]
    table = block_means(world, 300, 12)
    assert mean_width(by_row(table)) < guaranteed_widths(table).mean()
    table = block_means(world, 100, 400)
    assert mean_width(by_row(table)) < 1.1 * student_widths(table).mean()


def cross_coverage(world: World, tournaments: int, blocks: int) -> float:
    """Share of the pairs of all tournaments whose interval in the cross table holds the truth.

    All tournaments are in one table, with entries of their own.
    """
    dice = np.random.default_rng(blocks)
    groups = drawn_groups(world, tournaments * blocks, dice)
    ranks = world.ranks(groups, dice, mirrored=True)
    block, _, place = np.indices(ranks.shape)
    entries = len(world.strengths)
    entry = block // blocks * entries + groups[block, place]
    shape = (-1, 1, world.seats)
    table = table_of(entry.reshape(shape), points(ranks).reshape(shape))
    table = replace(table, block=block.ravel(), deal=np.full(ranks.size, -1))
    names = [str(number) for number in range(tournaments * entries)]
    pairs = [pair for pair in cross_table(names, table, names) if pair.blocks >= 10]
    assert len(pairs) >= tournaments
    truths = [world.above[int(p.entry) % entries, int(p.opponent) % entries] for p in pairs]
    return float(
        np.mean(
            [
                pair.interval_95[0] <= truth <= pair.interval_95[1]
                for pair, truth in zip(pairs, truths, strict=True)
            ]
        )
    )


CROSS = {
    "two entries": (World((0.0, 0.0), 2), 12),
    "three entries, three seats": (World((0.6, 0.0, 0.0), 3), 12),
    "four entries, four seats, heavy-tailed": (
        World((1.0, 0.0, 0.0, 0.0), 4, luck="heavy-tailed"),
        10,
    ),
    "six entries, two seats": (World(FIELD, 2), 240),
    "six entries, four seats, drawish": (World(FIELD, 4, step=1.5), 40),
}


@pytest.mark.long
@pytest.mark.parametrize(("world", "tables"), DUPLICATE)
def test_compared_scores_are_unbiased_and_their_intervals_cover_the_expected_score(
    world: World, tables: int
) -> None:
    scores = simulate_duplicate(world, 200, 60, tables)
    assert coverage(world, scores) > 0.95 - allowance(200)
    means = scores.means.reshape(200, -1)
    off = (means.mean(axis=0) - world.expected) / (means.std(axis=0) / np.sqrt(200))
    assert abs(off).max() < 4


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


@pytest.mark.long
def test_figures_of_few_blocks() -> None:
    tournaments = simulated(4_000)
    print(
        f"\ncovered by {BLOCKS} blocks; next to the width: of Student's, of the guaranteed interval"
    )
    for words, world in FEW_BLOCKS.items():
        for mirrored in (True, False):
            covered, student, guaranteed = [], [], []
            for blocks in BLOCKS:
                table = block_means(world, tournaments, blocks, mirrored=mirrored, seed=blocks)
                covered.append(covered_by(by_row(table), world.expected[0]))
                few = table[:500]
                width = mean_width(by_row(few))
                student.append(width / student_widths(few).mean())
                guaranteed.append(width / guaranteed_widths(few).mean())
            print(
                f"{words:34} {'mirrored' if mirrored else 'independent':11}",
                *(f"{share:6.1%}" for share in covered),
                "|",
                *(f"{ratio:4.2f}" for ratio in student),
                "|",
                *(f"{ratio:4.2f}" for ratio in guaranteed),
                flush=True,
            )
            assert min(covered) > 0.94 - allowance(tournaments)
            assert max(guaranteed) < 1.1


@pytest.mark.long
def test_figures_of_the_cross_table_and_of_few_duplicate_blocks() -> None:
    for words, (world, blocks) in CROSS.items():
        covered = cross_coverage(world, simulated(1_500), blocks)
        print(f"cross table, {words:40} {covered:6.1%}", flush=True)
        assert covered > 0.94 - allowance(simulated(1_500))
    for words, world, tables in (
        ("two seats", World(FIELD, 2), 3),
        ("two seats, equal, drawish", World((0.0,) * 4, 2, step=2.5), 2),
        ("four seats", World(EIGHT, 4), 2),
        ("four seats, heavy-tailed", World(EIGHT, 4, luck="heavy-tailed"), 2),
        ("four seats, one far better", World((3.0, *EIGHT[1:]), 4), 2),
    ):
        found = [
            coverage(world, simulate_duplicate(world, simulated(600), blocks, tables, seed=blocks))
            for blocks in BLOCKS
        ]
        print(f"duplicate, {words:40}", *(f"{covered:6.1%}" for covered in found), flush=True)
        assert min(found) > 0.94 - allowance(simulated(600))


LONG = [
    (f"{len(field)} entries", World(field, seats=seats, deal=deal, match=0.5))
    for field, seats in (((-0.1, 0.1), 2), (FIELD, 2), (FIELD, 3), (FIELD, 4))
    for deal in (0.25, 0.5, 1.0)
]


@pytest.mark.long
def test_figures() -> None:
    print(f"\nchance moves coverage by {allowance(simulated(3_000)):.1%}")
    print("field      seats  deal luck  covered: mirrored independent  matches saved")
    for words, world in LONG:
        mirrored, independent = (
            coverage(world, simulate(world, simulated(3_000), 60, mirrored=mirrored))
            for mirrored in (True, False)
        )
        factor = gain(world, 200, 200)
        print(
            f"{words:10} {world.seats:5} {world.deal / world.match:9.1f}× {mirrored:18.1%}"
            f" {independent:11.1%} {factor:6.2f}× {1 - 1 / factor:6.0%}"
        )
        for covered in (mirrored, independent):
            assert covered > 0.95 - allowance(simulated(3_000))
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
    print(f"\nchance moves coverage by {allowance(simulated(1_000)):.1%}")
    print("entries  seats  tables  deal luck  covered  matches saved: duplicate mirrored")
    for entries, world in DUPLICATE_LONG:
        tables = min(4, entries // world.seats)
        covered = coverage(world, simulate_duplicate(world, simulated(1_000), 60, tables))
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
        assert covered > 0.95 - allowance(simulated(1_000))
        assert saved > 0


@pytest.mark.long
@pytest.mark.parametrize(("entries", "blocks", "loops"), [(1_000, 2_500, 120), (200, 25_000, 300)])
def test_many_entries_and_blocks_take_seconds(entries: int, blocks: int, loops: float) -> None:
    world = World(tuple(np.linspace(-1, 1, entries).tolist()), seats=4)
    dice = np.random.default_rng(7)
    groups = drawn_groups(world, blocks, dice)
    played = results(world, groups, world.ranks(groups, dice, mirrored=True))
    with at_most(loops):
        standings = compute_standings("Model", world.names, len(played), played)
    assert standings.complete
