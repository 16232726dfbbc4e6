"""The guarantees of groups and blocks that the docstring of the module describes."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb

import pytest

from asara_server.tournament.schedule.blocks import (
    Block,
    balanced_count,
    balanced_groups,
    block_sizes,
    circle_blocks,
    disjoint_blocks,
)
from tests.sizes import others_long

ALONE = tuple(range(200))
"""Entries that are each a team of their own."""

SIZES = (*range(4, 12), 13, 16, 25, 31, 50, 200)
"""Numbers of entries: all small ones, and some others, prime ones and powers among them."""


def check(n: int, k: int, each: int, tables: int) -> tuple[int, int]:
    """What always holds; returns by how much the numbers of tables and of meetings differ."""
    count = -(-n * each // k)
    blocks = disjoint_blocks(ALONE[:n], k, count, tables)
    for block in blocks:
        present = [entry for table in block for entry in table]
        assert len(set(present)) == len(present)
        assert all(len(table) == k for table in block)
        assert len(block) <= tables
        assert len(block) > 1 or tables == 1
    assert 0 <= sum(map(len, blocks)) - count <= 1
    turns = dict.fromkeys(range(n), 0)
    for block in blocks:
        for table in block:
            for entry in table:
                turns[entry] += 1
        assert max(turns.values()) - min(turns.values()) <= 6  # at any moment
    met = meetings(blocks)
    numbers = [met[frozenset(pair)] for pair in combinations(range(n), 2)]
    return max(turns.values()) - min(turns.values()), max(numbers) - min(numbers)


def meetings(blocks: Sequence[Block]) -> Counter[frozenset[int]]:
    return Counter(
        frozenset(pair) for block in blocks for table in block for pair in combinations(table, 2)
    )


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 21, 40])
def test_in_the_circle_all_pairs_meet_once_before_any_meets_again(n: int) -> None:
    pairs = n * (n - 1) // 2
    tables = min(4, n // 2)
    blocks = circle_blocks(n, 2 * pairs, tables)
    once = meetings(blocks[: len(blocks) // 2])
    assert set(once.values()) == {1}
    assert len(once) == pairs
    assert set(meetings(blocks).values()) == {2}
    for block in blocks:
        assert 2 <= len(block) <= tables
        assert len({entry for table in block for entry in table}) == 2 * len(block)


@pytest.mark.parametrize("tables", [2, 3, 4, 7])
def test_no_block_has_one_table_only(tables: int) -> None:
    for count in range(2, 40):
        sizes = list(block_sizes(count, tables))
        assert sum(sizes) in {count, count + 1}
        assert min(sizes) >= 2
        assert max(sizes) <= tables
        assert len(sizes) == -(-count // tables)


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("n", SIZES)
def test_every_size_is_balanced(n: int, k: int) -> None:
    if n >= 2 * k:
        for each in (1, 2, 31):
            turns, met = check(n, k, each, min(4, n // k))
            assert turns <= 1
            assert met <= 3


def check_groups(n: int, k: int, each: int) -> None:
    groups = balanced_groups(ALONE[:n], k, each)
    assert all(len(set(group)) == k and set(group) <= set(range(n)) for group in groups)
    assert len(groups) == balanced_count(n, k, each)
    turns = Counter(one for group in groups for one in group)
    assert set(turns.values()) <= {each, each + 1}
    assert len(turns) == n
    assert sum(times > each for times in turns.values()) < k
    met = meetings([(group,) for group in groups])
    numbers = [met[frozenset(pair)] for pair in combinations(range(n), 2)]
    assert max(numbers) - min(numbers) <= (1 if k == 2 else 2)
    if each * (k - 1) % (n - 1) == 0:  # all pairs can meet equally often
        assert len(set(numbers)) == 1
    ahead = [0] * n
    for group in groups:
        for one in group:
            ahead[one] += 1
        assert max(ahead) - min(ahead) <= 4  # at any moment


@pytest.mark.parametrize(
    ("n", "k", "each"),
    others_long([(7, 3, 3), (8, 4, 7), (13, 3, 6), (16, 4, 5), (12, 2, 7), (50, 4, 9)], 99),
)
def test_groups_are_balanced(n: int, k: int, each: int) -> None:
    check_groups(n, k, each)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 3), (6, 4)])
def test_more_blocks_than_groups_are_all_groups_and_some_again(n: int, k: int) -> None:
    each = comb(n - 1, k - 1)
    times = Counter(tuple(sorted(group)) for group in balanced_groups(ALONE[:n], k, 2 * each + 1))
    assert set(times) == set(combinations(range(n), k))
    assert min(times.values()) == 2
    check_groups(n, k, 2 * each + 1)
