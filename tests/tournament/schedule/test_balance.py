"""What balanced schedules guarantee, over many sizes; the module says it in words."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb

import pytest

from asara_server.tournament.schedule.balance import (
    balanced_count,
    balanced_groups,
)
from tests.sizes import others_long
from tests.yardstick import at_most

LARGE = [(n, k, 10) for n in (13, 25, 40) for k in (2, 3, 4)] + [
    (60, 4, 19),
    (100, 3, 33),
    (199, 2, 77),
    (200, 2, 30),
    (200, 3, 30),
    (200, 4, 10),
    (200, 4, 30),
]


def meeting_numbers(n: int, groups: Sequence[Sequence[int]]) -> list[int]:
    met = Counter(frozenset(pair) for group in groups for pair in combinations(group, 2))
    return [met[frozenset(pair)] for pair in combinations(range(n), 2)]


def check(n: int, k: int, each: int) -> int:
    """What always holds; returns by how much the meetings differ."""
    groups = balanced_groups(n, k, each)
    assert all(len(set(group)) == k and set(group) <= set(range(n)) for group in groups)
    assert len(groups) == balanced_count(n, k, each)
    turns = Counter(one for group in groups for one in group)
    assert set(turns.values()) <= {each, each + 1}
    assert len(turns) == n
    assert sum(times > each for times in turns.values()) < k
    numbers = meeting_numbers(n, groups)
    gap = max(numbers) - min(numbers)
    assert gap <= (1 if k == 2 else 2)
    return gap


@pytest.mark.parametrize(("n", "k", "each"), others_long(LARGE, 8))
def test_many_entries_are_balanced_within_seconds(n: int, k: int, each: int) -> None:
    balanced_groups.cache_clear()
    with at_most(400):
        gap = check(n, k, each)
    if n == 200:
        assert gap == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "k", "each"),
    [(7, 3, 3), (9, 3, 4), (13, 3, 6), (13, 4, 4), (16, 4, 5), (8, 4, 7), (10, 3, 9)],
)
def test_where_all_pairs_can_meet_equally_often_they_do(n: int, k: int, each: int) -> None:
    numbers = meeting_numbers(n, balanced_groups(n, k, each))
    assert set(numbers) == {each * (k - 1) // (n - 1)}


@pytest.mark.long
@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 3), (6, 4)])
def test_more_blocks_than_groups_are_all_groups_and_some_again(n: int, k: int) -> None:
    each = comb(n - 1, k - 1)
    times = Counter(tuple(sorted(group)) for group in balanced_groups(n, k, 2 * each + 1))
    assert set(times) == set(combinations(range(n), k))
    assert min(times.values()) == 2
    check(n, k, 2 * each + 1)


@pytest.mark.long
@pytest.mark.parametrize(("n", "k", "each"), [(10, 3, 5), (50, 4, 20), (200, 4, 30)])
def test_at_any_moment_nobody_is_far_ahead(n: int, k: int, each: int) -> None:
    turns = [0] * n
    for group in balanced_groups(n, k, each):
        for one in group:
            turns[one] += 1
        assert max(turns) - min(turns) <= 4


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize(
    "n", others_long([7, *range(8, 33), 4, 5, 6, 50, 64, 100, 128, 199, 200], 99)
)
def test_every_size_is_balanced(n: int, k: int) -> None:
    for each in (1, 2, 3, 4, 5, 7, 10, 13, 20, 31):
        check(n, k, each)
