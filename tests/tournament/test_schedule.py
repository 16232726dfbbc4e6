from collections import Counter
from itertools import combinations

import pytest

from asara_game.rules import parse_rule_sets
from asara_server.tournament.schedule import (
    Match,
    bot_seed,
    even_groups,
    rotated,
    round_robin,
    table_kinds,
)

NAMES = ("ann", "bob", "cid", "dot", "eve", "fay")
BASIC = parse_rule_sets("basic")
PRO_GIFTS = parse_rule_sets("pro+gifts")


def schedule(entries: int = 5, rounds: int = 2) -> list[Match]:
    return round_robin(NAMES[:entries], (2, 3, 4), (BASIC, PRO_GIFTS), rounds)


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 2), (6, 2), (6, 3), (6, 4), (8, 4), (9, 3)])
def test_groups_are_all_groups_and_each_occurs_once(n: int, k: int) -> None:
    groups = [tuple(sorted(group)) for group in even_groups(n, k)]
    assert sorted(groups) == list(combinations(range(n), k))


def test_every_group_meets_in_every_rotation_by_every_rule_in_every_round() -> None:
    met = Counter((m.round, m.rule_sets, frozenset(m.entries)) for m in schedule())
    for group in (set(g) for k in (2, 3, 4) for g in combinations(NAMES[:5], k)):
        for number in (1, 2):
            for rules in (BASIC, PRO_GIFTS):
                assert met[number, rules, frozenset(group)] == len(group)
    tables = [(m.round, m.rule_sets, m.entries) for m in schedule()]
    assert len(set(tables)) == len(tables)
    sits = Counter((len(m.entries), m.entries[0], frozenset(m.entries)) for m in schedule())
    assert set(sits.values()) == {4}  # each of a group starts once per rules and round


def test_the_count_is_known_without_the_list() -> None:
    kinds = table_kinds(5, (2, 3, 4), (BASIC, PRO_GIFTS), rounds=2)
    listed = Counter((len(m.entries), m.rule_sets) for m in schedule())
    assert {(kind.seats, kind.rule_sets): kind.matches for kind in kinds} == listed


def test_names_of_matches_are_readable_distinct_and_in_order() -> None:
    ids = [match.match_id for match in schedule()]
    assert len(set(ids)) == len(ids)
    assert "r2-pro+gifts-0007" in ids
    mine = [match_id for match_id in ids if match_id.startswith("r1-pro+gifts-")]
    assert mine == sorted(mine)


def test_the_order_is_even_at_any_moment() -> None:
    matches = schedule(entries=6, rounds=1)
    total = Counter(name for match in matches for name in match.entries)
    so_far: Counter[str] = Counter()
    gaps = []
    for match in matches:
        so_far.update(match.entries)
        shares = [so_far[name] / total[name] for name in total]
        gaps.append(max(shares) - min(shares))
    assert max(gaps) < 0.05
    half = Counter(len(m.entries) for m in matches[: len(matches) // 2])
    whole = Counter(len(m.entries) for m in matches)
    assert all(abs(half[k] / whole[k] - 0.5) < 0.02 for k in whole)


def test_a_bots_seed_differs_by_entry_and_fits_in_a_signed_64_bit_number() -> None:
    assert len({bot_seed("spring", name) for name in NAMES}) == len(NAMES)
    assert all(0 <= bot_seed("spring", name) < 1 << 63 for name in NAMES)


def test_one_table_again_and_again_moves_everybody_one_seat_on() -> None:
    matches = list(rotated(("ann", "bob", "cid"), BASIC, 5))
    assert [match.entries[0] for match in matches] == ["ann", "bob", "cid", "ann", "bob"]
    assert [match.match_id for match in matches][3:] == ["r2-basic-0004", "r2-basic-0005"]
