"""The statistics against tournaments of players of known strength.

`ASARA_FIGURES=1 pytest -s -m long -k test_statistics` prints the figures of README.md.
"""

import numpy as np
import pytest
from scipy.stats import multinomial

from asara_server.tournament.standings.intervals_and_ranks import intervals_95
from asara_server.tournament.standings.result_table import BlockScores, Floats
from asara_server.tournament.standings.standings import compute_standings, cross_table
from tests.sizes import others_long, simulated
from tests.tournament.standings.simulation import (
    World,
    allowance,
    block_scores,
    points,
    results,
    rotations,
    show,
    table_of,
)

FIELD = (-1.0, -0.5, -0.1, 0.1, 0.4, 1.1)
EIGHT = (-1.1, -0.8, -0.5, -0.1, 0.1, 0.5, 0.8, 1.1)
SIXTEEN = tuple(float(strength) for strength in np.linspace(-1.1, 1.1, 16))
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
DUPLICATE = {
    "two seats": (World(FIELD, 2), 3),
    "two seats, equal, drawish": (World((0.0,) * 4, 2, step=2.5), 2),
    "four seats": (World(EIGHT, 4), 2),
    "four seats, heavy-tailed": (World(EIGHT, 4, luck="heavy-tailed"), 2),
    "four seats, one far better": (World((3.0, *EIGHT[1:]), 4), 2),
}
"""Worlds of duplicate blocks, with the number of tables."""
CROSS = {
    "two entries": (World(EQUAL, 2), 12),
    "three entries, three seats": (World((0.6, *EQUAL), 3), 12),
    "four seats, heavy-tailed": (World((1.0, 0.0, *EQUAL), 4, luck="heavy-tailed"), 10),
    "six entries, two seats": (World(FIELD, 2), 240),
    "six entries, four seats, drawish": (World(FIELD, 4, step=1.5), 40),
}
"""Worlds of the cross table, with the number of blocks."""
SAVINGS = {
    "2 entries, 2 seats": ((-0.1, 0.1), 2),
    "4 entries, 2 seats": (FIELD[1:5], 2),
    "6 entries, 2 seats": (FIELD, 2),
    "6 entries, 3 seats": (FIELD, 3),
    "8 entries, 4 seats": (EIGHT, 4),
    "16 entries, 2 seats": (SIXTEEN, 2),
    "16 entries, 4 seats": (SIXTEEN, 4),
}
BLOCKS = (10, 12, 16, 20, 30, 60)


def simulate(
    world: World,
    tournaments: int,
    blocks: int,
    *,
    tables: int = 0,
    shared: bool = True,
    seed: int = 1,
) -> BlockScores:
    """Tournaments whose tables are drawn: mirrored, duplicate, or independent if not `shared`."""
    dice = np.random.default_rng(seed)
    drawn = world.drawn(tournaments * blocks, dice, tables)
    ranks = world.ranks(drawn, dice, shared=shared)
    shape = (tournaments, blocks, *drawn.shape[1:])
    return block_scores(world, drawn.reshape(shape), ranks.reshape(shape), duplicate=tables > 0)


def coverage(scores: BlockScores, expected: Floats) -> float:
    """Share of the parties whose interval holds their expected score, which repeat."""
    low, high = intervals_95(scores).T
    truth = np.resize(expected, len(low))
    return float(((low <= truth) & (truth <= high)).mean())


def by_row(table: Floats) -> BlockScores:
    """One party for each row."""
    party, block = np.indices(table.shape)
    return BlockScores.of(party.ravel(), block.ravel(), table.ravel(), len(table))


def first_scores(world: World, tournaments: int, blocks: int, *, shared: bool) -> BlockScores:
    """Scores of the first entry alone, which plays every block with drawn opponents."""
    dice = np.random.default_rng(blocks)
    others = np.argsort(dice.random((tournaments * blocks, len(world.strengths) - 1)), axis=1) + 1
    tables = rotations(np.insert(others[:, : world.seats - 1], 0, 0, axis=1))
    score = points(world.ranks(tables, dice, shared=shared))[tables == 0]
    return by_row(score.reshape(tournaments, blocks, -1).mean(axis=2))


def gain(world: World, tournaments: int, matches: int, tables: int = 0) -> float:
    """How many times as many matches independent deals need for the same width.

    A width shrinks with the root of the number of matches, and both have as many.
    """

    def width(tables: int, *, shared: bool = True) -> float:
        blocks = matches // (tables or world.seats)
        scores = simulate(world, tournaments, blocks, tables=tables, shared=shared)
        low, high = intervals_95(scores).T
        return float((high - low).mean())

    return (width(0, shared=False) / width(tables)) ** 2


@pytest.mark.parametrize("tables", [0, 2])
def test_standings_have_the_scores_and_intervals_that_the_simulation_judges(tables: int) -> None:
    world = World(EIGHT, seats=4)
    dice = np.random.default_rng(5)
    drawn = world.drawn(40, dice, tables)
    ranks = world.ranks(drawn, dice)
    played = results(world, drawn, ranks, duplicate=tables > 0)
    standings = compute_standings("Model", world.names, len(played), played)
    scores = block_scores(world, drawn[np.newaxis], ranks[np.newaxis], duplicate=tables > 0)
    rows = {row.entry: row for row in standings.overall}
    found = [(rows[name].score, *(rows[name].interval_95 or ())) for name in world.names]
    judged = np.column_stack((scores.means, intervals_95(scores)))
    np.testing.assert_allclose(found, judged, atol=1e-6)
    assert standings.matches.blocks == 40
    shares = [(one.rule_sets, one.seats, one.matches) for one in standings.deal_shares]
    assert shares == ([("basic", 4, 80)] if tables else [])
    assert all(0.4 < one.share < 0.9 for one in standings.deal_shares)
    assert compute_standings("Model", world.names, len(played), played[::-1]) == standings


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


def test_a_strong_field_at_the_other_tables_costs_nobody_anything() -> None:
    """Deals give nothing, so that all that can be wrong is the comparison."""
    world = World((-2.0, -2.0, 0.0, 0.0, 2.0, 2.0), seats=2, deal=0.0, match=1.0)
    means = simulate(world, 40, 100, tables=3).means.reshape(40, -1).mean(axis=0)
    np.testing.assert_allclose(means, world.expected, atol=0.015)


def cross_coverage(world: World, tournaments: int, blocks: int) -> float:
    """Share of the pairs of all tournaments whose interval in the cross table holds the truth.

    All tournaments are in one table, with entries of their own.
    """
    entries = len(world.strengths)
    dice = np.random.default_rng(blocks)
    drawn = world.drawn(tournaments * blocks, dice)
    own = drawn + entries * (np.arange(len(drawn)) // blocks)[:, np.newaxis, np.newaxis]
    names = [str(number) for number in range(tournaments * entries)]
    pairs = cross_table(names, table_of(own, world.ranks(drawn, dice)), names)
    held = []
    for pair in pairs:
        if pair.blocks >= BLOCKS[0]:
            low, high = pair.interval_95
            truth = world.above[int(pair.entry) % entries, int(pair.opponent) % entries]
            held.append(low <= truth <= high)
    assert len(held) >= tournaments
    return float(np.mean(held))


@pytest.mark.long
def test_figures_of_few_blocks() -> None:
    number = simulated(4_000, 20)
    print(f"\ncovered by {BLOCKS} blocks: mirrored | independent")
    for words, world in FEW_BLOCKS.items():
        truth = world.expected[:1]
        mirrored, independent = (
            [coverage(first_scores(world, number, n, shared=shared), truth) for n in BLOCKS]
            for shared in (True, False)
        )
        show(words, mirrored, independent)
        assert min(mirrored + independent) > 0.94 - allowance(number)
    number = simulated(600, 20)
    for words, (world, tables) in DUPLICATE.items():
        found = [simulate(world, number, blocks, tables=tables, seed=blocks) for blocks in BLOCKS]
        covered = [coverage(scores, world.expected) for scores in found]
        show(f"duplicate, {words}", covered)
        assert min(covered) > 0.94 - allowance(number)
    number = simulated(1_500, 20)
    for words, (world, blocks) in CROSS.items():
        share = cross_coverage(world, number, blocks)
        show(f"cross table, {words}", [share])
        assert share > 0.94 - allowance(number)


@pytest.mark.long
def test_figures_of_what_blocks_save() -> None:
    number = simulated(1_000, 25)
    print(f"\nchance moves coverage by {allowance(number):.1%}")
    print("covered: mirrored, independent, duplicate | saved: mirrored, duplicate")
    for words, (field, seats) in SAVINGS.items():
        most = min(4, len(field) // seats)
        tables = (0, most) if most > 1 else (0,)
        for deal in (0.25, 0.5, 1.0):
            world = World(field, seats, deal)
            found = [
                simulate(world, number, 60),
                simulate(world, number, 60, shared=False),
                *(simulate(world, number, 60, tables=one) for one in tables[1:]),
            ]
            covered = [coverage(scores, world.expected) for scores in found]
            saved = [1 - 1 / gain(world, simulated(60, 4), 240 * seats, one) for one in tables]
            show(f"{words}, {tables[-1]} tables, {deal / world.match:g}", covered, saved)
            assert min(covered) > 0.95 - allowance(number)
            assert min(saved) > 0
