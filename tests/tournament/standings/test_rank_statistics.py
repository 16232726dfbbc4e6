"""Rank sets and ladder against tournaments of players of known strength.

`ASARA_FIGURES=1 pytest -s -m long -k test_rank_statistics` prints the figures of README.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from asara_server.tournament.schedule.looks import looks_of
from asara_server.tournament.standings.intervals import error_of, intervals_95
from asara_server.tournament.standings.ladder import ANCHOR_RATING, POINTS, ladder
from asara_server.tournament.standings.plackett_luce import choices, fit
from asara_server.tournament.standings.ranks import ranks_and_chances
from asara_server.tournament.standings.result_table import Floats, Indices, ResultTable
from tests.sizes import others_long, simulated
from tests.tournament.standings.simulation import World, drawn_groups, drawn_tables, points
from tests.tournament.standings.test_statistics import (
    EIGHT,
    FIELD,
    allowance,
    block_scores,
    compared_scores,
    table_of,
)

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
SINGLE_MATCHES = {
    "two entries": World((0.0, 0.0), 2),
    "equal": World(NO_DIFFERENCE, 2),
    "two levels": World((0.0, 0.0, 0.0, 1.0, 1.0, 1.0), 2),
    "one far better": World((0.0, 2.0, 0.0), 2),
    "four seats, a field": World(EIGHT, 4),
}
"""Worlds of blocks that are one match, whose scores are further apart than means of several."""
DUPLICATE_WORLDS = {
    "equal": (World(NO_DIFFERENCE, 2), 2),
    "a field": (World(FIELD, 2), 3),
    "four seats, a field": (World(EIGHT, 4), 2),
}
"""Worlds of duplicate blocks, with the number of tables."""
STOPPED_WORLDS = WORLDS | {
    "three levels": World((-1.0, 0.0, 1.0), 2),
    "two close entries": World((0.0, 0.2), 2),
}
BLOCKS = (10, 20, 60)
"""Mean number of blocks of an entry."""


def tournaments(
    world: World, number: int, blocks: int, *, adaptive: bool = False, single: bool = False
) -> Iterator[tuple[Indices, Indices]]:
    """Groups and ranks of mirrored blocks, in which everybody has two blocks at least.

    If adaptive, half of all groups are drawn as always, and those of every later round of blocks
    are of neighbours in the scores so far. If single, a block is only its first match.
    """
    dice = np.random.default_rng(blocks)
    entries, k = len(world.strengths), world.seats
    total = blocks * entries // k
    matches = 1 if single else k
    for _ in range(number):
        while True:
            groups = drawn_groups(world, total, dice)
            ranks = world.ranks(groups, dice, mirrored=True)[:, :matches]
            for start in range(total // 2, total, 4) if adaptive else ():
                scores = points(ranks[:start]).mean(axis=1)
                means = np.bincount(groups[:start].ravel(), scores.ravel(), entries) / np.maximum(
                    np.bincount(groups[:start].ravel(), minlength=entries), 1
                )
                order = np.argsort(means)
                first = dice.integers(entries - k + 1, size=min(4, total - start))
                groups[start : start + 4] = order[first[:, np.newaxis] + np.arange(k)]
                played = world.ranks(groups[start : start + 4], dice, mirrored=True)
                ranks[start : start + 4] = played[:, :matches]
            if np.bincount(groups.ravel(), minlength=entries).min() >= 2:
                break
        yield groups, ranks


def true_ranks(world: World) -> Indices:
    expected = world.expected
    return np.asarray(1 + (expected > expected[:, np.newaxis] + 1e-9).sum(axis=1))


def hold(sets: Indices, true: Indices) -> bool:
    """True if every rank set holds the true rank of its entry."""
    return bool(((sets[:, 0] <= true) & (true <= sets[:, 1])).all())


def rank_coverage(world: World, number: int, blocks: int, *, single: bool = False) -> float:
    """Share of the tournaments in which all rank sets hold the truth."""
    true = true_ranks(world)
    held = []
    for groups, ranks in tournaments(world, number, blocks, single=single):
        sets, _ = ranks_and_chances(block_scores(world, groups[np.newaxis], ranks[np.newaxis]))
        held.append(hold(sets, true))
    return float(np.mean(held))


def duplicate_rank_coverage(world: World, tables: int, number: int, blocks: int) -> float:
    """The same for duplicate blocks, whose scores are compared."""
    true = true_ranks(world)
    total = blocks * len(world.strengths) // (tables * world.seats)
    dice = np.random.default_rng(blocks)
    held = []
    for _ in range(number):
        drawn = drawn_tables(world, total, tables, dice)
        ranks = world.duplicate_ranks(drawn, dice)
        scores = compared_scores(world, drawn[np.newaxis], ranks[np.newaxis])
        held.append(hold(ranks_and_chances(scores)[0], true))
    return float(np.mean(held))


def results_of(groups: Indices, ranks: Indices) -> ResultTable:
    """The results of one tournament of mirrored blocks."""
    score = points(ranks)
    block, match, place = np.indices(score.shape)
    table = table_of(groups[block, place].reshape(-1, 1, ranks.shape[2]), score.ravel())
    return replace(
        table,
        block=block.ravel(),
        match=(block * ranks.shape[1] + match).ravel(),
        deal=np.full(ranks.size, -1),
    )


def true_ratings(world: World) -> Floats:
    """What the ladder would say after so many blocks that only the model could be wrong."""
    groups = drawn_groups(world, 30_000, np.random.default_rng(1))
    ranks = world.ranks(groups, np.random.default_rng(2), mirrored=True)
    table = results_of(groups, ranks)
    made = choices(table.entry, table.match, table.score, table.block)
    strengths = fit(made, len(world.strengths), len(groups)).strengths
    return np.asarray(ANCHOR_RATING + POINTS * (strengths - strengths.mean()))


def ladder_coverage(
    world: World, number: int, blocks: int, *, adaptive: bool = False, single: bool = False
) -> float:
    """Share of the intervals of the ladder that hold the truth."""
    true = true_ratings(world)
    held = []
    for groups, ranks in tournaments(world, number, blocks, adaptive=adaptive, single=single):
        table = results_of(groups, ranks)
        rows = {row.entry: row for row in ladder(world.names, table, paired_by_results=adaptive)}
        for name, rating in zip(world.names, true, strict=True):
            low, high = rows[name].interval_95 or (np.nan, np.nan)
            held.append(low <= rating <= high)
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
    for groups, ranks in tournaments(world, number, blocks):
        looks = looks_of([str(block) for block in range(len(groups))])
        error = error_of(looks)
        for look in looks:
            scores = block_scores(world, groups[np.newaxis, :look], ranks[np.newaxis, :look])
            sets, _ = ranks_and_chances(scores, error)
            settled = bool((sets[:, 0] == sets[:, 1]).all())
            if settled or look == looks[-1]:
                low, high = intervals_95(scores, error).T
                held = (low <= world.expected) & (world.expected <= high)
                wrong = not hold(sets, true)
                ends.append((wrong, float(held.mean()), settled, look / looks[-1]))
                break
    return Stopped(*np.mean(ends, axis=0).tolist())


@pytest.mark.parametrize("words", others_long(["a field", "equal"], 2))
def test_a_run_that_ends_early_makes_few_false_claims(words: str) -> None:
    found = stopped(WORLDS[words], 30, 60)
    assert found.false_claims < 0.05 + allowance(30)
    assert found.held > 0.95 - allowance(30)


@pytest.mark.parametrize("words", others_long(["equal", "four seats, two levels, heavy-tailed"], 2))
def test_rank_sets_hold_the_true_ranks_of_all_entries(words: str) -> None:
    assert rank_coverage(WORLDS[words], 60, 20) > 0.94 - allowance(60)


def test_rank_sets_of_a_field_become_single_ranks() -> None:
    """Coverage is not bought with sets that say nothing."""
    world = World((-2.0, -1.0, 0.0, 1.0, 2.0), 2)
    for groups, ranks in tournaments(world, 1, 200):
        sets, chances = ranks_and_chances(
            block_scores(world, groups[np.newaxis], ranks[np.newaxis])
        )
        assert sets.tolist() == [[5, 5], [4, 4], [3, 3], [2, 2], [1, 1]]
        assert chances.tolist() == [0, 0, 0, 0, 1]


def test_the_ladder_is_unbiased_whoever_met_whom() -> None:
    """Neighbours meet more often; a mean score would push them together."""
    world = World(EIGHT, 2)
    found: list[NDArray[np.float64]] = []
    for groups, ranks in tournaments(world, 40, 60, adaptive=True):
        rows = {
            row.entry: row.rating or 0.0 for row in ladder(world.names, results_of(groups, ranks))
        }
        found.append(np.array([rows[name] for name in world.names]))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (abs(mean - true_ratings(world)) < 4 * error + 10).all()


def figures(number: int) -> None:
    """Print and check coverage in so many tournaments of each world and size.

    Ladders have half as many, with each way of pairing, and duplicate blocks a quarter.
    """
    half, quarter = number // 2, number // 4
    print(f"\nblocks of an entry {BLOCKS}: rank sets | ladder | ladder, adaptive pairing")
    every: list[list[float]] = [[], []]
    for words, world, single in (
        *((words, world, False) for words, world in WORLDS.items()),
        *((words, world, True) for words, world in SINGLE_MATCHES.items()),
    ):
        ranks = [rank_coverage(world, number, blocks, single=single) for blocks in BLOCKS]
        drawn, adaptive = (
            [ladder_coverage(world, half, blocks, adaptive=how, single=single) for blocks in BLOCKS]
            for how in (False, True)
        )
        show(f"{words}{', single matches' if single else ''}", ranks, drawn, adaptive)
        every[0] += ranks
        every[1] += drawn + adaptive
        assert min(ranks) > 0.94 - allowance(number)
        assert min(drawn + adaptive) > 0.94 - allowance(half)
    for words, (world, tables) in DUPLICATE_WORLDS.items():
        ranks = [duplicate_rank_coverage(world, tables, quarter, blocks) for blocks in BLOCKS]
        show(f"{words}, duplicate", ranks)
        every[0] += ranks
        assert min(ranks) > 0.94 - allowance(quarter)
    print(f"mean: rank sets {np.mean(every[0]):.1%}, ladder {np.mean(every[1]):.1%}", flush=True)
    assert max(np.mean(every[0]), np.mean(every[1])) < 0.99


def show(words: str, *shares: list[float]) -> None:
    texts = ("  ".join(f"{share:6.1%}" for share in some) for some in shares)
    print(f"{words:38}", " | ".join(texts), flush=True)


def stopped_figures(number: int) -> None:
    """Print and check the false claims in so many tournaments of each world that end early."""
    for words, world in STOPPED_WORLDS.items():
        found = stopped(world, number, 150)
        print(
            f"ends early: {words:38} false claims {found.false_claims:.1%}, intervals "
            f"{found.held:.1%}, settled {found.settled:.0%}, {found.blocks:.0%} of the blocks",
            flush=True,
        )
        assert found.false_claims < 0.05 + allowance(number)


@pytest.mark.long
def test_figures_of_rank_sets_and_ladder() -> None:
    figures(simulated(400))
    stopped_figures(simulated(400))
