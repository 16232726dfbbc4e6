"""Views, and the other worlds that a seat holds possible."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.edition import load_edition, parse_edition
from asara_game.knowledge.determinize import determinize
from asara_game.rules import RULE_COMBINATIONS, Rules
from asara_game.state import lit_colour
from asara_game.view import public_view, view
from asara_game.vocabulary import MARKET_TYPES, Colour, DecisionKind
from tests.game.knowledge.possible_states import is_possible
from tests.game.play import (
    WIDE_CASES,
    check_components,
    check_tables,
    playout,
    visitor,
)
from tests.game.table import EVERYTHING, Table, rules

SEEDS = st.integers(0, 2**32)


# Views.


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_everybody_has_the_same_public_view_and_a_private_one_of_his_own(rule_sets, seats):
    for state, _, _ in playout(rules(rule_sets, seats), 2):
        public = public_view(state)
        for seat in range(seats):
            seen = view(state, seat)
            assert seen.public == public
            assert seen.private.seat == seat
            assert seen.private.asari == state.money[seat]
            assert sum(seen.private.hand) == public.seats[seat].hand_size
            assert sum(seen.private.lit_windows) == public.seats[seat].lit_windows
            assert seen.legal == (tuple(state.legal) if seat == state.seat else ())
        assert public.turn_seat == state.turn_seat
        assert [sum(display) for display in public.displays] == [
            sum(state.display_of(market)) for market in range(4)
        ]


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_the_decision_is_seen_by_who_decides_and_between_turns_by_all(rule_sets, seats):
    for state, _, _ in playout(rules(rule_sets, seats), 3):
        for seat in range(seats):
            asked = view(state, seat).decision
            if state.seat < 0:
                assert asked is None
            elif seat == state.seat or state.kind == DecisionKind.SPACE:
                assert asked is not None
                assert (asked.seat, asked.kind) == (state.seat, state.kind)
            else:
                assert asked is None


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_what_is_searched_is_seen_while_the_search_lasts_and_by_who_searches(rule_sets, seats):
    for state, _, _ in playout(rules(rule_sets, seats), 4, visitor):
        for seat in range(seats):
            own = view(state, seat).private
            kind = state.kind if seat == state.seat else None
            expected: tuple[object, ...] = ((), (), ())
            if kind == DecisionKind.PILE_SECTION:
                types = MARKET_TYPES[state.searched_market]
                pile = sorted(state.piles[state.searched_market])
                expected = (tuple(types[n] for n in pile), (), ())
            elif kind == DecisionKind.GIFT_BUYER:
                expected = ((), tuple(sorted(state.buyer_pile)), ())
            elif kind in (DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN):
                expected = ((), (), state.lit_drawn)
            elif kind == DecisionKind.GIFT_LIT_WINDOW:
                expected = ((), (), tuple(sorted(map(lit_colour, state.lit_stack))))
            assert own[-3:] == expected


def test_buyers_laid_face_down_are_remembered_by_their_player_for_the_year():
    table = Table()
    table.hand(0, "blue orange orange")
    table.send("coloured-building 1", "orange face-down")
    space = table.info("coloured-building 1").space
    assert table.private(0).face_down == ((space, (5,)),)
    assert table.private(1).face_down == ()
    table.play_out(until=2)
    assert table.private(0).face_down == ()


# Other worlds.


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
@settings(max_examples=1)
@given(seed=SEEDS)
def test_another_world_looks_the_same_and_is_one(rule_sets, seats, seed):
    dice = random.Random(seed)
    for state, _, _ in playout(rules(rule_sets, seats), seed):
        for seat in range(seats):
            seen = view(state, seat)
            if seen.decision is None and state.seat >= 0:
                continue
            world = determinize(seen, dice)
            assert view(world, seat) == seen
            check_tables(world)
            # Cards that were taken are in events, not in views.
            lying = Counter(card for _, cards in seen.public.chests for card in cards)
            deck = Counter(world.rules.gift_cards[i] for i in world.gift_deck)
            queue = Counter(world.gift_queue[1:])
            whole = Counter(world.rules.gift_cards[i] for i in world.rules.gift_deck)
            check_components(world, whole - lying - deck - queue)


def test_what_a_seat_knows_of_the_stack_is_so_in_every_world():
    """After each window that it puts back (ruling R9), until all three lie there."""
    table = Table("pro")
    table.lit_stack(" ".join(colour.name for colour in (*Colour, *Colour, *Colour)))
    table.play("dispatch lit-windows 1", f"lay {table.held(0).split()[0]}", "pay 10")
    table.play("keep brown red")
    for step, known in (
        ("", []),
        ("return black", ["black"]),
        ("return white", ["black", "white", "green"]),  # the last one is not asked
    ):
        table.play(*filter(None, [step]))
        if table.kind == "SPACE":
            table.turn(0)
        seen = view(table.state, 0)
        size = seen.public.lit_stack_size
        found = [(above, colour.name.lower()) for above, colour in seen.private.known_lit_windows]
        assert found == list(zip(range(size - len(known), size), known, strict=True))
        for seed in range(20):
            world = determinize(seen, random.Random(seed))
            assert view(world, 0) == seen
            assert is_possible(seen, world)
            downwards = [lit_colour(window) for window in reversed(world.lit_stack)]
            assert [Colour(lit).name.lower() for lit in downwards[size - len(known) :]] == known


def test_worlds_are_drawn_from_all_that_is_possible():
    """Every colour of buyer, section and lit window occurs in each hidden place."""
    table = Table(EVERYTHING, 2)
    seen = view(table.state, 0)
    dice = random.Random(1)
    worlds = [determinize(seen, dice) for _ in range(200)]
    assert {world.buyer_pile[-1] for world in worlds} == {1, 2, 3, 4, 5}
    assert {world.lit_stack[-1] for world in worlds} == {1, 2, 3, 4, 5}
    assert len({world.piles[0][-1] for world in worlds}) >= 5
    assert len({world.hands[1] for world in worlds}) > 80
    assert len({world.gift_deck[-1] for world in worlds}) >= 8


def test_an_edition_may_list_a_gift_card_in_several_rows():
    data = load_edition().data.replace(
        b'{ kind = "choose-buyer", count = 4 }',
        b'{ kind = "choose-buyer", count = 1 },\n    { kind = "choose-buyer", count = 3 }',
    )
    edition = parse_edition(data)
    assert edition.sha256 != load_edition().sha256
    in_force = Rules(edition, RULE_COMBINATIONS[1], 2)
    assert in_force.gift_cards == rules("basic+gifts", 2).gift_cards
    assert in_force.gift_deck == rules("basic+gifts", 2).gift_deck
