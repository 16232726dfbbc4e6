from collections import Counter
from hashlib import sha256
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.rules import parse_rule_sets
from asara_server.match.deal_secrets import bot_seed
from asara_server.tournament.config.fields import BlockKind
from asara_server.tournament.schedule.layout import Layout, Span, balance, table_kinds
from asara_server.tournament.schedule.schedule import (
    ScheduledMatch,
    list_matches,
    looks_at,
    rotated,
)
from asara_server.tournament.trust.manifest import schedule_bytes
from tests.sizes import others_long
from tests.tournament.sample_bots import SEED

NAMES = ("ann", "bob", "cid", "dot", "eve", "fay", "gus", "hal", "ida", "jim")
BASIC = parse_rule_sets("basic")
PRO_GIFTS = parse_rule_sets("pro+gifts")


def layout(entries: int, **changes: Any) -> Layout:
    return Layout(("",) * entries, **changes)


def schedule(entries: int = 5, rounds: int = 2) -> list[ScheduledMatch]:
    return list_matches(
        NAMES[:entries], (2, 3, 4), (BASIC, PRO_GIFTS), layout(entries, rounds=rounds)
    )


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


plans = st.fixed_dictionaries(
    {
        "seats": st.lists(st.sampled_from((2, 3, 4)), min_size=1, max_size=3, unique=True),
        "rule_sets": st.sampled_from(((BASIC,), (BASIC, PRO_GIFTS))),
        "orders": st.sampled_from(("rotations", "all")),
    }
) | st.fixed_dictionaries(
    {
        "seats": st.just([2, 3]),
        "rule_sets": st.just((BASIC, PRO_GIFTS)),
        "rounds": st.integers(1, 3),
    }
)


@pytest.mark.long
@settings(max_examples=40)
@given(plans, st.integers(4, 7), st.none() | st.integers(1, 8), st.booleans())
def test_a_block_is_one_group_in_all_its_seat_orders_without_a_break(
    plan: dict[str, Any], entries: int, each: int | None, mirrored: bool
) -> None:
    plan = {**plan} if "rounds" in plan else {**plan, "blocks_per_entry": each}
    seats, rule_sets = plan.pop("seats"), plan.pop("rule_sets")
    kind: BlockKind = "mirrored" if mirrored else "independent"
    laid_out = layout(entries, blocks=kind, **plan)
    matches = list_matches(NAMES[:entries], seats, rule_sets, laid_out)
    blocks: dict[str, list[ScheduledMatch]] = {}
    for match in matches:
        blocks.setdefault(match.block, []).append(match)
    assert [match for block in blocks.values() for match in block] == matches
    for name, block in blocks.items():
        assert {match.kind for match in block} == {kind}
        assert {match.shared_deal for match in block} == {name if mirrored else ""}
        assert len({(match.round, match.rule_sets) for match in block}) == 1
        assert [match.match_id.rpartition("-")[0] for match in block] == [name] * len(block)
        assert [m.match_id for m in block] == sorted(m.match_id for m in block)
        group = block[0].entries
        assert len(set(group)) == len(group)
        tables = sorted(match.entries for match in block)
        if plan.get("orders") == "all":
            assert tables == sorted(permutations(group))
        else:
            assert tables == sorted(group[i:] + group[:i] for i in range(len(group)))
    counted = table_kinds(laid_out, seats, rule_sets)
    listed = Counter((len(match.entries), match.rule_sets) for match in matches)
    assert {(kind.seats, kind.rule_sets): kind.matches for kind in counted} == listed
    assert sum(kind.blocks for kind in counted) == len(blocks)


@pytest.mark.long
@pytest.mark.parametrize("each", [None, 9])
def test_the_order_is_even_at_any_moment(each: int | None) -> None:
    matches = list_matches(NAMES, (2, 3, 4), (BASIC, PRO_GIFTS), layout(10, blocks_per_entry=each))
    total = Counter(name for match in matches for name in match.entries)
    so_far: Counter[str] = Counter()
    gaps = []
    for match in matches:
        so_far.update(match.entries)
        shares = [so_far[name] / total[name] for name in total]
        gaps.append(max(shares) - min(shares))
    assert max(gaps) < (0.05 if each is None else 0.15)
    half = Counter(len(m.entries) for m in matches[: len(matches) // 2])
    whole = Counter(len(m.entries) for m in matches)
    assert all(abs(half[k] / whole[k] - 0.5) < 0.03 for k in whole)


def numbers(matches: list[ScheduledMatch]) -> tuple[Counter[str], Counter[frozenset[str]]]:
    """Tables per entry and meetings per pair; a table in several seat orders counts once."""
    tables = {(match.block, frozenset(match.entries)) for match in matches}
    turns = Counter(name for _, table in tables for name in table)
    met = Counter(frozenset(pair) for _, table in tables for pair in combinations(table, 2))
    return turns, met


@pytest.mark.parametrize(
    ("blocks", "each"),
    [("mirrored", None), ("mirrored", 5), ("duplicate", None), ("duplicate", 12)],
)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_what_is_said_of_the_balance_is_what_the_list_has(
    blocks: BlockKind, each: int | None, seats: int
) -> None:
    """Duplicate blocks are even in seats and opponents, too."""
    laid_out = layout(9, blocks=blocks, blocks_per_entry=each)
    matches = list_matches(NAMES[:9], (seats,), (BASIC,), laid_out)
    turns, met = numbers(matches)
    pairs = [met[frozenset(pair)] for pair in combinations(NAMES[:9], 2)]
    assert balance(laid_out, seats) == (
        Span(min(turns.values()), max(turns.values())),
        Span(min(pairs), max(pairs)),
        0,
    )
    sits = Counter((entry, seat) for match in matches for seat, entry in enumerate(match.entries))
    if blocks == "duplicate":
        assert max(sits.values()) - min(sits.values()) <= 1
        assert max(pairs) - min(pairs) <= 2


def test_whoever_plays_once_more_takes_turns_over_the_kinds_of_tables() -> None:
    names = NAMES[:7]
    matches = list_matches(names, (2, 3, 4), (BASIC, PRO_GIFTS), layout(7, blocks_per_entry=3))
    turns, met = numbers(matches)
    # 21 turns do not come out even with 2 seats or 4: one and three entries play once more.
    assert sorted(turns.values()) == [18 + 1] * 6 + [18 + 2]
    one_kind, _ = numbers([m for m in matches if len(m.entries) == 4 and m.rule_sets == BASIC])
    assert sorted(one_kind.values()) == [3, 3, 3, 3, 4, 4, 4]
    assert len(met) == 21  # kinds do not pair alike: all have met


def test_a_bots_seed_differs_by_entry_and_fits_in_a_signed_64_bit_number() -> None:
    assert len({bot_seed(SEED, name) for name in NAMES}) == len(NAMES)
    assert all(0 <= bot_seed(SEED, name) < 1 << 63 for name in NAMES)


@pytest.mark.parametrize(
    ("mirrored", "entries", "names"),
    [
        (False, ("ann", "bob", "cid"), ["r1-basic-0001", "r1-basic-0002", "r1-basic-0003"]),
        (True, ("ann", "bob"), ["r1-basic-0001-1", "r1-basic-0001-2", "r2-basic-0002-1"]),
    ],
)
def test_one_table_again_and_again_moves_everybody_one_seat_on(
    mirrored: bool, entries: tuple[str, ...], names: list[str]
) -> None:
    matches = list(rotated(entries, BASIC, 4, mirrored=mirrored))
    assert [match.entries[0] for match in matches] == [entries[n % len(entries)] for n in range(4)]
    assert [match.match_id for match in matches][:3] == names
    assert matches[3].round == 2
    blocks = [match.match_id.rpartition("-")[0] if mirrored else "" for match in matches]
    assert [match.block for match in matches] == blocks
    assert [match.shared_deal for match in matches] == blocks


def duplicate(
    entries: int, seats: tuple[int, ...] = (2, 3, 4), **changes: Any
) -> list[ScheduledMatch]:
    laid_out = layout(entries, blocks="duplicate", **changes)
    matches = list_matches(NAMES[:entries], seats, (BASIC, PRO_GIFTS), laid_out)
    counted = table_kinds(laid_out, seats, (BASIC, PRO_GIFTS))
    listed = Counter((len(match.entries), match.rule_sets) for match in matches)
    assert {(kind.seats, kind.rule_sets): kind.matches for kind in counted} == listed
    assert sum(kind.blocks for kind in counted) == len({match.block for match in matches})
    return matches


@pytest.mark.parametrize("changes", [{}, {"blocks_per_entry": 7}, {"rounds": 2}])
@pytest.mark.parametrize("entries", others_long([8, 9, 10], 3))
def test_a_duplicate_block_is_one_deal_at_several_tables_with_no_entry_at_two(
    entries: int, changes: dict[str, Any]
) -> None:
    matches = duplicate(entries, **changes)
    blocks: dict[str, list[ScheduledMatch]] = {}
    for match in matches:
        blocks.setdefault(match.block, []).append(match)
    assert [match for block in blocks.values() for match in block] == matches  # side by side
    for name, block in blocks.items():
        assert 2 <= len(block) <= 4
        assert {match.shared_deal for match in block} == {name}
        assert {(match.rule_sets, len(match.entries)) for match in block} == {
            (block[0].rule_sets, len(block[0].entries))
        }
        together = [entry for match in block for entry in match.entries]
        assert len(set(together)) == len(together)
    deals = Counter((match.shared_deal, entry) for match in matches for entry in match.entries)
    assert set(deals.values()) == {1}


def test_a_duplicate_round_of_two_seats_has_every_pair_in_both_orders() -> None:
    matches = duplicate(7, seats=(2,))
    met = Counter((match.entries, match.rule_sets) for match in matches)
    assert met == Counter(
        {(pair, r): 1 for pair in permutations(NAMES[:7], 2) for r in (BASIC, PRO_GIFTS)}
    )


def test_each_round_of_duplicate_blocks_moves_everybody_one_seat_on() -> None:
    matches = duplicate(8, (4,), rounds=4)
    tables: dict[str, list[tuple[str, ...]]] = {}
    for match in matches:
        tables.setdefault(match.match_id.removeprefix(f"r{match.round}-"), []).append(match.entries)
    for first, *later in tables.values():
        assert later == [first[turn:] + first[:turn] for turn in (1, 2, 3)]
    sits = Counter(
        (entry, seat)
        for match in matches
        for seat, entry in enumerate(match.entries)
        if match.round <= 2
    )
    assert max(sits.values()) - min(sits.values()) <= 1


@pytest.mark.parametrize(
    ("entries", "seats", "changes", "remote", "together"),
    [
        (8, 2, {"tables": 2}, (0, 5), 0),
        (16, 2, {"rounds": 2}, (0, 1), 0),
        (40, 4, {"blocks_per_entry": 10}, (3, 17), 1),  # 3 if no tables are exchanged
        (12, 2, {"tables": 2, "blocks_per_entry": 6}, (0, 3, 4), 0),
        (8, 2, {}, (0, 5), 12),  # every block has all entries, and they meet in two of 14
    ],
)
def test_entries_on_other_machines_are_at_one_table_of_a_block_if_that_is_possible(
    entries: int, seats: int, changes: dict[str, Any], remote: tuple[int, ...], together: int
) -> None:
    names = [f"bot {number}" for number in range(entries)]
    away = {names[number] for number in remote}
    laid_out = layout(entries, blocks="duplicate", **changes)
    plain = list_matches(names, (seats,), (BASIC,), laid_out)
    matches = list_matches(names, (seats,), (BASIC,), laid_out, remote=away)
    blocks: dict[str, list[ScheduledMatch]] = {}
    for match in matches:
        blocks.setdefault(match.block, []).append(match)
    tables = [sum(not away.isdisjoint(match.entries) for match in b) for b in blocks.values()]
    assert sum(number > 1 for number in tables) == together
    for block in blocks.values():
        present = [entry for match in block for entry in match.entries]
        assert len(set(present)) == len(present)
    assert Counter(frozenset(m.entries) for m in matches) == Counter(
        frozenset(m.entries) for m in plain
    )
    sits = Counter((entry, seat) for match in matches for seat, entry in enumerate(match.entries))
    assert max(sits.values()) - min(sits.values()) <= 1


TEAMS = ("red", "red", "", "Red", "blue", "blue", "", "", "", "", "", "")
"""One team has three entries, written in two ways."""


@pytest.mark.parametrize("blocks", ["mirrored", "independent", "duplicate"])
@pytest.mark.parametrize("each", [None, 6])
@pytest.mark.parametrize("seats", [(2,), (2, 3, 4)])
def test_entries_of_one_team_never_sit_at_one_table(
    blocks: BlockKind, each: int | None, seats: tuple[int, ...]
) -> None:
    names = (*NAMES, "kim", "lea")
    if blocks == "duplicate" and 4 in seats:
        return  # they need 24 entries
    laid_out = Layout(TEAMS, blocks_per_entry=each, blocks=blocks)
    matches = list_matches(names, seats, (BASIC, PRO_GIFTS), laid_out)
    met = {frozenset(pair) for match in matches for pair in combinations(match.entries, 2)}
    apart = {
        frozenset(pair)
        for team in (("ann", "bob", "dot"), ("eve", "fay"))
        for pair in combinations(team, 2)
    }
    assert met.isdisjoint(apart)
    assert len(met) >= (60 if each is None else 45)
    assert balance(laid_out, 2).pairs_apart == len(apart) == 4
    counted = table_kinds(laid_out, seats, (BASIC, PRO_GIFTS))
    assert sum(kind.matches for kind in counted) == len(matches)
    turns = Counter(name for match in matches for name in match.entries)
    if each is not None:
        assert max(turns.values()) - min(turns.values()) <= 4 * len(seats)
    if blocks == "duplicate":  # nor do they hold one deal at two tables
        for block in {match.block for match in matches}:
            own = {name for match in matches if match.block == block for name in match.entries}
            assert len(own & {"ann", "bob", "dot"}) <= 1
            assert len(own & {"eve", "fay"}) <= 1


@pytest.mark.parametrize(
    ("laid_out", "seats", "remote", "digest"),
    [
        (Layout(TEAMS, blocks="mirrored"), (2, 3), {"bob"}, "87f13aecdd68eb7a"),
        (Layout(TEAMS[:11], blocks_per_entry=5), (2, 3, 4), {}, "94e385bd107f7f27"),
        (
            Layout(TEAMS, blocks_per_entry=6, blocks="duplicate"),
            (2, 3),
            {"bob", "gus"},
            "2b344844b71a8c2f",
        ),
        (layout(12, blocks_per_entry=7, orders="all"), (2, 3, 4), {}, "a550ac6cb31eae1b"),
        (layout(12, blocks="duplicate", rounds=4), (2,), {}, "b80e592dfd215b42"),
        (
            layout(12, blocks_per_entry=7, blocks="duplicate"),
            (2, 4),
            {"bob", "gus"},
            "04b5d8dc0b6e6432",
        ),
    ],
)
def test_a_schedule_stays_the_same_for_the_audits_of_later_versions(
    laid_out: Layout, seats: tuple[int, ...], remote: set[str], digest: str
) -> None:
    names = (*NAMES, "kim", "lea")[: laid_out.entries]
    matches = list_matches(names, seats, (BASIC, PRO_GIFTS), laid_out, remote=remote)
    assert sha256(schedule_bytes(matches)).hexdigest()[:16] == digest


def four(**changes: Any) -> list[ScheduledMatch]:
    return list_matches(NAMES[:4], (2,), (BASIC,), layout(4, **changes))


def test_looks_are_after_whole_rounds_each_half_as_many_again() -> None:
    matches_of_a_round = 12
    rounds = (6, 9, 14, 20, 30, 45, 67, 100)
    assert looks_at(four(rounds=100)) == tuple(n * matches_of_a_round for n in rounds)


def test_one_round_is_looked_at_after_whole_blocks() -> None:
    planned = four(blocks_per_entry=30)
    looks = looks_at(planned)
    assert len(looks) == 8
    assert looks[-1] == len(planned) == 120
    blocks = [match.block for match in planned]
    assert all(blocks[look - 1] != blocks[look] for look in looks[:-1])
