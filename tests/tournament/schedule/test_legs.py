"""The order in which matches that share deals are played."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from asara_game.vocabulary import RuleSet
from asara_server.tournament.schedule.schedule import (
    ScheduledMatch,
    group_size,
    list_matches,
    next_leg,
    with_own_deals,
)
from tests.tournament.schedule.test_schedule import layout

BASIC = frozenset({RuleSet.BASIC})
NAMES = [f"bot {number}" for number in range(8)]


def blocks_of(schedule: Sequence[ScheduledMatch]) -> list[list[ScheduledMatch]]:
    blocks: dict[str, list[ScheduledMatch]] = {}
    for match in schedule:
        blocks.setdefault(match.deal_block, []).append(match)
    return list(blocks.values())


def legs(
    group: Sequence[Sequence[ScheduledMatch]], void: Sequence[str] = (), **options: Any
) -> list[list[str]]:
    """Play a group: the first attempts at the matches in `void` fail."""
    attempts = {match.match_id: 1 for block in group for match in block}
    played = []
    while leg := next_leg(group, attempts, **options):
        played.append([f"{one.match.match_id}.{one.number}" for one in leg])
        for match, attempt in leg:
            if match.match_id in void and attempt == 1:
                attempts[match.match_id] = 2
            else:
                del attempts[match.match_id]
    return played


KINDS: list[dict[str, Any]] = [
    {"seats": (2,), "blocks": "mirrored", "entries": 4},
    {"seats": (2, 3, 4), "blocks": "mirrored", "entries": 4},
    {"seats": (2,), "blocks": "duplicate", "entries": 8},
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_leg_has_no_deal_twice_and_all_legs_have_every_match(kind: dict[str, Any]) -> None:
    entries = kind["entries"]
    schedule = list_matches(
        NAMES[:entries], kind["seats"], [BASIC], layout(entries, blocks=kind["blocks"], rounds=3)
    )
    assert any(match.shared_deal for match in schedule)
    group = blocks_of(schedule)
    played = legs(group)
    assert len(played) == max(map(len, group))
    for leg in played:
        assert set(Counter(name.rpartition("-")[0] for name in leg).values()) == {1}
    assert sorted(name for leg in played for name in leg) == sorted(
        f"{match.match_id}.1" for match in schedule
    )
    # No leg is much longer than another, though blocks differ in size.
    assert max(map(len, played)) - min(map(len, played)) <= len(group) // 3


def test_no_leg_favours_a_place_in_the_block() -> None:
    group = blocks_of(list_matches(NAMES[:4], [4], [BASIC], layout(4, blocks="mirrored", rounds=8)))
    for leg in legs(group):
        places = Counter(name.removesuffix(".1").rpartition("-")[2] for name in leg)
        assert places == {"1": 2, "2": 2, "3": 2, "4": 2}


def test_what_is_repeated_comes_after_all_others_of_the_group() -> None:
    group = blocks_of(list_matches(NAMES[:3], [2], [BASIC], layout(3, blocks="mirrored")))
    void = ["r1-basic-0001-1", "r1-basic-0001-2", "r1-basic-0002-1"]
    assert legs(group, void)[2:] == [
        ["r1-basic-0001-1.2", "r1-basic-0002-1.2"],
        ["r1-basic-0001-2.2"],
    ]


def test_tables_with_bots_on_other_machines_are_the_last_of_their_block() -> None:
    schedule = list_matches(NAMES, [2], [BASIC], layout(8, blocks="duplicate", rounds=2))
    group = blocks_of(schedule)
    remote = {"bot 0", "bot 5"}
    entries = {f"{match.match_id}.1": set(match.entries) for match in schedule}
    played = [name for leg in legs(group, remote=remote) for name in leg]
    for block in {name.rpartition("-")[0] for name in played}:
        tables = [
            not remote.isdisjoint(entries[name])
            for name in played
            if name.rpartition("-")[0] == block
        ]
        assert tables == sorted(tables)


@pytest.mark.parametrize(
    ("blocks", "concurrency", "match_s", "size"),
    [
        (1, 8, 1.0, 1),
        (6, 2, 1.0, 6),  # fewer than a group may have
        (150, 2, 1.0, 75),  # 60 would do: two groups of one size are as quick as three
        (10_000, 2, 1.0, 61),
        (10_000, 2, 60.0, 33),
        (10_000, 1, 0.0, 10_000),
    ],
)
def test_a_leg_has_30_seconds_or_16_matches_for_each_match_at_once(
    blocks: int, concurrency: int, match_s: float, size: int
) -> None:
    assert group_size(blocks, concurrency, match_s) == size


def test_matches_with_deals_of_their_own_share_none() -> None:
    schedule = list_matches(NAMES[:3], [2], [BASIC], layout(3, blocks="mirrored"))
    changed = with_own_deals(schedule, ["r1-basic-0001-2"])
    assert [match.match_id for match in changed if not match.shared_deal] == ["r1-basic-0001-2"]
    assert [match.match_id for match in changed] == [match.match_id for match in schedule]
