"""Rank sets and ladder against tournaments of players of known strength.

`ASARA_FIGURES=1 pytest -s -m long -k test_rank_statistics` prints the figures of README.md.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from asara_server.tournament.schedule.schedule import looks_of
from asara_server.tournament.standings.intervals_and_ranks import (
    error_of,
    intervals_95,
    ranks_and_chances,
)
from asara_server.tournament.standings.plackett_luce import (
    ANCHOR_RATING,
    POINTS,
    choices,
    fit,
    ladder,
)
from asara_server.tournament.standings.result_table import Floats, Indices
from tests.sizes import simulated
from tests.tournament.standings.simulation import (
    World,
    allowance,
    block_scores,
    rotations,
    show,
    table_of,
)
from tests.tournament.standings.test_statistics import EIGHT, FIELD

NO_DIFFERENCE = (0.0,) * 4
WORLDS = {
    "equal": World(NO_DIFFERENCE, 2),
    "two entries": World((0.0, 0.0), 2),
    "equal, deal decides": World(NO_DIFFERENCE, 2, deal=3.0),
    "equal, drawish": World(NO_DIFFERENCE, 2, deal=0.5, match=0.3, step=1.5),
    "equal, rare luck": World(NO_DIFFERENCE, 2, luck="rare"),
    "two levels": World((0.0, 0.0, 0.0, 1.0, 1.0, 1.0), 2),
    "two levels, drawish": World((0.0, 0.0, 0.0, 0.0, 1.0, 1.0), 2, step=1.0),
    "one far better": World((0.0, 2.0, 0.0), 2),
    "a field": World(FIELD, 2),
    "three seats, a field": World(FIELD, 3),
    "four seats, equal": World((0.0,) * 8, 4),
    "four seats, a field": World(EIGHT, 4),
    "four seats, two levels, heavy-tailed": World((0.0,) * 3 + (1.0,) * 3, 4, luck="heavy-tailed"),
}
SINGLE_MATCHES = ("two entries", "equal", "two levels", "one far better", "four seats, a field")
"""Worlds also played in blocks of one match, whose scores are further apart than means."""
DUPLICATE_WORLDS = {
    "equal": (World(NO_DIFFERENCE, 2), 2),
    "a field": (World(FIELD, 2), 3),
    "four seats, a field": (World(EIGHT, 4), 2),
}
"""Worlds of duplicate blocks, with the number of tables."""
STOPPED_WORLDS = {
    **{words: WORLDS[words] for words in (*SINGLE_MATCHES, "equal, drawish", "a field")},
    "three levels": World((-1.0, 0.0, 1.0), 2),
    "two close entries": World((0.0, 0.2), 2),
}
BLOCKS = (10, 20, 60)
"""Mean number of blocks of an entry."""


def tournaments(
    world: World, number: int, blocks: int, *, tables: int = 0, single: bool = False
) -> Iterator[tuple[Indices, Indices]]:
    """Tables and ranks of tournaments in which everybody has two blocks at least.

    If single, a block is only its first match.
    """
    dice = np.random.default_rng(blocks)
    entries = len(world.strengths)
    while number:
        drawn = world.drawn(blocks * entries // (max(tables, 1) * world.seats), dice, tables)
        ranks = world.ranks(drawn, dice)
        if np.bincount(drawn[:, : tables or 1].ravel(), minlength=entries).min() >= 2:
            yield (drawn[:, :1], ranks[:, :1]) if single else (drawn, ranks)
            number -= 1


def true_ranks(world: World) -> Indices:
    expected = world.expected
    return np.asarray(1 + (expected > expected[:, np.newaxis] + 1e-9).sum(axis=1))


def hold(sets: Indices, true: Indices) -> bool:
    """True if every rank set holds the true rank of its entry."""
    return bool(((sets[:, 0] <= true) & (true <= sets[:, 1])).all())


def rank_coverage(
    world: World, number: int, blocks: int, *, tables: int = 0, single: bool = False
) -> float:
    """Share of the tournaments in which all rank sets hold the truth."""
    true = true_ranks(world)
    held = []
    for drawn, ranks in tournaments(world, number, blocks, tables=tables, single=single):
        one = drawn[np.newaxis], ranks[np.newaxis]
        sets, _ = ranks_and_chances(block_scores(world, *one, duplicate=tables > 0))
        held.append(hold(sets, true))
    return float(np.mean(held))


def true_ratings(world: World) -> Floats:
    """What the ladder would say after so many blocks that only the model could be wrong."""
    dice = np.random.default_rng(1)
    drawn = world.drawn(30_000, dice)
    table = table_of(drawn, world.ranks(drawn, dice))
    made = choices(table.entry, table.match, table.score, table.block)
    strengths = fit(made, len(world.strengths), len(drawn)).strengths
    return np.asarray(ANCHOR_RATING + POINTS * (strengths - strengths.mean()))


def ladder_coverage(world: World, number: int, blocks: int, *, single: bool = False) -> float:
    """Share of the intervals of the ladder that hold the truth."""
    true = dict(zip(world.names, true_ratings(world), strict=True))
    held = []
    for drawn, ranks in tournaments(world, number, blocks, single=single):
        for row in ladder(world.names, table_of(drawn, ranks)):
            low, high = row.interval_95 or (np.nan, np.nan)
            held.append(low <= true[row.entry] <= high)
    return float(np.mean(held))


class Stopped(NamedTuple):
    """Tournaments that end once all ranks are settled, or after all blocks."""

    false_claims: float
    """Share of them in which a rank set is wrong at the end."""
    held: float
    """Share of the intervals of scores that hold the truth at the end."""
    settled: float
    """Share of them in which all ranks are settled."""
    blocks: float
    """Mean share of the blocks that were played."""


def stopped(world: World, number: int, blocks: int) -> Stopped:
    true = true_ranks(world)
    ends = []
    for drawn, ranks in tournaments(world, number, blocks):
        looks = looks_of([str(block) for block in range(len(drawn))])
        error = error_of(looks)
        for look in looks:
            scores = block_scores(world, drawn[np.newaxis, :look], ranks[np.newaxis, :look])
            sets, _ = ranks_and_chances(scores, error)
            settled = bool((sets[:, 0] == sets[:, 1]).all())
            if settled or look == looks[-1]:
                low, high = intervals_95(scores, error).T
                held = (low <= world.expected) & (world.expected <= high)
                wrong = not hold(sets, true)
                ends.append((wrong, float(held.mean()), settled, look / looks[-1]))
                break
    return Stopped(*np.mean(ends, axis=0).tolist())


def test_a_run_that_ends_early_makes_few_false_claims() -> None:
    found = stopped(WORLDS["a field"], 30, 60)
    assert found.false_claims < 0.05 + allowance(30)
    assert found.held > 0.95 - allowance(30)


def test_rank_sets_hold_the_true_ranks_of_all_entries() -> None:
    assert rank_coverage(WORLDS["equal"], 60, 20) > 0.94 - allowance(60)


def test_rank_sets_of_a_field_become_single_ranks() -> None:
    """Coverage is not bought with sets that say nothing."""
    world = World((-2.0, -1.0, 0.0, 1.0, 2.0), 2)
    ((drawn, ranks),) = tournaments(world, 1, 200)
    sets, chances = ranks_and_chances(block_scores(world, drawn[np.newaxis], ranks[np.newaxis]))
    assert sets.tolist() == [[5, 5], [4, 4], [3, 3], [2, 2], [1, 1]]
    assert chances.tolist() == [0, 0, 0, 0, 1]


def test_the_ladder_is_unbiased_whoever_met_whom() -> None:
    """Only neighbours meet; a mean score would push them together."""
    world = World(EIGHT, 2)
    dice = np.random.default_rng(1)
    drawn = rotations(dice.integers(7, size=(20_000, 1)) + np.arange(2))
    rows = ladder(world.names, table_of(drawn, world.ranks(drawn, dice)))
    found = {row.entry: row.rating or 0.0 for row in rows}
    np.testing.assert_allclose([found[name] for name in world.names], true_ratings(world), atol=40)


@pytest.mark.long
def test_figures_of_rank_sets_and_ladder() -> None:
    number, half, quarter = (simulated(one, 25) for one in (500, 250, 125))
    print(f"\nblocks of an entry {BLOCKS}: rank sets | ladder")
    rank_shares, ladder_shares = [], []
    kinds = [(words, False) for words in WORLDS] + [(words, True) for words in SINGLE_MATCHES]
    for words, single in kinds:
        world = WORLDS[words]
        ranked = [rank_coverage(world, number, blocks, single=single) for blocks in BLOCKS]
        rated = [ladder_coverage(world, half, blocks, single=single) for blocks in BLOCKS]
        show(f"{words}{', single matches' if single else ''}", ranked, rated)
        rank_shares += ranked
        ladder_shares += rated
        assert min(ranked) > 0.94 - allowance(number)
        assert min(rated) > 0.94 - allowance(half)
    for words, (world, tables) in DUPLICATE_WORLDS.items():
        ranked = [rank_coverage(world, quarter, blocks, tables=tables) for blocks in BLOCKS]
        show(f"{words}, duplicate", ranked)
        rank_shares += ranked
        assert min(ranked) > 0.94 - allowance(quarter)
    show("mean", [float(np.mean(rank_shares))], [float(np.mean(ladder_shares))])
    assert max(np.mean(rank_shares), np.mean(ladder_shares)) < 0.99


@pytest.mark.long
def test_figures_of_runs_that_end_early() -> None:
    number = simulated(300, 25)
    print("\nends early: false claims, intervals, settled, share of the blocks")
    for words, world in STOPPED_WORLDS.items():
        found = stopped(world, number, 150)
        show(words, list(found))
        assert found.false_claims < 0.05 + allowance(number)
        assert found.held > 0.95 - allowance(number)
