"""What a view leaves open: its worlds include the true state, and each of them is possible."""

import random
from collections.abc import Iterator
from operator import itemgetter

import pytest

from asara_game.engine import apply
from asara_game.knowledge import determinize as dealing
from asara_game.knowledge.determinize import determinize
from asara_game.state import State, lit_colour
from asara_game.view import View, view
from tests.found_cases import seeds
from tests.game.knowledge.possible_states import is_possible
from tests.game.play import POLICIES, WIDE_CASES, Policy, check_tables, playout, visitor
from tests.game.table import EVERYTHING, Table, rules


def saver(legal, dice):
    """Earns money and declines whatever can be declined, so that a purse grows without limits."""
    wanted = [
        a for a in legal if any(w in str(a) for w in ("bank", "coloured", "decline", "asari"))
    ]
    return dice.choice(wanted or legal)


def spender(legal, dice):
    """Pays as much as it can for anything but sections that it builds."""
    words = ("spies", "lit-windows", "genie", "tent", "pay", "market", "take")
    wanted = [a for a in legal if any(word in str(a) for word in words)]
    return dice.choice(wanted or [a for a in legal if str(a) != "decline"])


def played_by(*policies: Policy) -> Policy:
    """Each turn is played by one of these policies."""
    present = [policies[0]]

    def policy(legal, dice):
        if str(legal[0]).startswith("dispatch"):
            present[0] = dice.choice(policies)
        return present[0](legal, dice)

    return policy


PLAYERS = (saver, spender, played_by(*POLICIES, saver, spender))


def views(rule_sets: str, seats: int, seed: int, policy: Policy) -> Iterator[tuple[View, State]]:
    """Every view from which worlds can be dealt, with the true state."""
    for state, _, _ in playout(rules(rule_sets, seats), seed, policy):
        for seat in range(seats):
            seen = view(state, seat)
            if seen.decision is not None or state.seat < 0:
                yield seen, state


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_every_true_state_is_among_the_worlds_of_its_views(rule_sets, seats):
    for seed in seeds(1):
        for policy in PLAYERS:
            for seen, state in views(rule_sets, seats, seed, policy):
                assert is_possible(seen, state), (seen, state.money, state.lit_stack)


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_every_world_is_possible(rule_sets, seats):
    dice = random.Random(2)
    for number, (seen, _) in enumerate(views(rule_sets, seats, 2, PLAYERS[-1])):
        if number % 2:
            world = determinize(seen, dice)
            assert is_possible(seen, world)
            check_tables(world)


def test_worlds_are_drawn_from_all_that_is_possible():
    """Every colour of buyer, section and lit window occurs in each hidden place."""
    seen = view(Table(EVERYTHING, 2).state, 0)
    dice = random.Random(1)
    worlds = [determinize(seen, dice) for _ in range(200)]
    assert {world.buyer_pile[-1] for world in worlds} == {1, 2, 3, 4, 5}
    assert {world.lit_stack[-1] for world in worlds} == {1, 2, 3, 4, 5}
    assert len({world.piles[0][-1] for world in worlds}) >= 5
    assert len({world.hands[1] for world in worlds}) > 80
    assert len({world.gift_deck[-1] for world in worlds}) >= 8


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_the_purses_of_the_worlds_cover_the_true_ones(rule_sets, seats):
    """The richest and the poorest rival of a match, who does nothing but earn or pay."""
    dice = random.Random(3)
    policy = played_by(saver, saver, spender)
    moments = [(seen, state.money[:]) for seen, state in views(rule_sets, seats, 3, policy)]
    rivals = [
        (asari, other, seen)
        for seen, money in moments
        if seen.public.year > 1
        for other, asari in enumerate(money)
        if other != seen.private.seat
    ]
    rivals.sort(key=itemgetter(0))
    for asari, other, seen in (rivals[-1], rivals[0]):
        drawn = [determinize(seen, dice).money[other] for _ in range(150)]
        assert min(drawn) <= asari + 2
        assert max(drawn) >= asari
        assert len(set(drawn)) > 25


def visited(*offers: str) -> Table:
    """Seat 0 and then seat 1 have visited the House of Lighted Windows for these prices."""
    table = Table("pro")
    for seat, offer in enumerate(offers):
        table.turn(seat)
        table.money(seat, 20 + seat)
        table.play(f"dispatch lit-windows {seat + 1}")
        while table.kind in ("BUYERS", "LIT_OFFER", "LIT_KEEP", "LIT_RETURN"):
            table.play(offer if table.kind == "LIT_OFFER" else table.offered()[0])
    return table


def owners(state: State) -> list[int]:
    """By place from the bottom: the seat that knows it, or -1."""
    return [(window >> 3) - 1 for window in state.lit_stack]


def test_rivals_know_the_places_that_they_have_filled():
    table = visited("pay 10")
    assert owners(table.state) == [0] * 3 + [-1] * 10
    seen = view(table.state, 1)
    worlds = [determinize(seen, random.Random(seed)) for seed in range(200)]
    # Two windows were kept: either two of five drawn, or one of three, twice.
    assert {tuple(owners(world)) for world in worlds} == {
        tuple([0] * known + [-1] * (13 - known)) for known in (3, 4)
    }
    assert all(len({lit_colour(w.lit_stack[place]) for w in worlds}) == 5 for place in range(13))


def test_places_under_ones_own_are_known_to_rivals():
    table = visited("pay 4", "pay 10")
    assert owners(table.state) == [1] * 3 + [0] * 2 + [-1] * 7
    seen = view(table.state, 0)
    worlds = [determinize(seen, random.Random(seed)) for seed in range(200)]
    found = {tuple(owners(world)) for world in worlds}
    assert tuple(owners(table.state)) in found
    assert all(known[:5] == (1, 1, 1, 0, 0) for known in found)


def test_nobody_knows_a_place_before_the_first_visit():
    seen = view(Table("pro+genie", 4).state, 0)
    for seed in range(20):
        assert set(owners(determinize(seen, random.Random(seed)))) == {-1}


def test_within_another_seats_turn_there_are_no_worlds():
    table = Table("pro", 3)
    table.play("dispatch base-market 1")
    with pytest.raises(ValueError, match="another seat's turn"):
        determinize(view(table.state, 1), random.Random(1))


def check_first_year(seed: int, worlds: int) -> None:
    """Worlds of the first year, in which every Asari counts."""
    dice = random.Random(seed)
    for policy in (spender, visitor):
        for seen, state in views(EVERYTHING, 3, seed, policy):
            if seen.public.year > 1:
                break
            assert is_possible(seen, state)
            for _ in range(worlds):
                assert is_possible(seen, determinize(seen, dice))


def test_drawn_worlds_can_be_played_and_stay_possible():
    for seed in seeds(2):
        seats, dice = 2 + seed % 3, random.Random(seed)
        for number, (seen, _) in enumerate(views(EVERYTHING, seats, seed, visitor)):
            if number % 80 or seen.decision is None:
                continue
            world = determinize(seen, dice)
            assert is_possible(seen, world)
            while world.seat >= 0:
                for own in (view(world, seat) for seat in range(seats)):
                    assert own.decision is None or is_possible(own, world)
                apply(world, dice.choice(world.legal))


def test_in_the_first_year_rivals_can_have_paid_for_what_they_hold():
    for seed in seeds(2):
        check_first_year(seed, 2)


@pytest.mark.parametrize("asari", [19, 21])
def test_a_purse_that_cannot_be_is_not_possible(asari):
    """At the beginning, everybody knows how much everybody has."""
    state = Table("basic", 3).state
    seen = view(state, 2)
    assert is_possible(seen, state)
    state.money[0] = asari
    assert not is_possible(seen, state)


@pytest.mark.parametrize("seed", range(3))
def test_worlds_stay_possible_if_dealing_at_random_fails(seed, monkeypatch):
    monkeypatch.setattr(dealing, "_deal_sections", lambda *_: None)
    check_first_year(seed, 1)
