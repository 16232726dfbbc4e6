"""Views, and the other worlds that a seat holds possible."""

import random

import pytest

from asara_game.state import lit_colour
from asara_game.view import RunningView, public_view, view
from asara_game.vocabulary import MARKET_TYPES, Colour, DecisionKind
from tests.game.play import POLICIES, WIDE_CASES, playout, visitor
from tests.game.table import Table, rules


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_a_view_is_the_public_part_and_what_only_its_seat_may_see(rule_sets, seats):
    for state, _, _ in playout(rules(rule_sets, seats), 4, visitor):
        public = public_view(state)
        assert public.turn_seat == state.turn_seat
        assert [sum(display) for display in public.displays] == [
            sum(state.display_of(market)) for market in range(4)
        ]
        for seat in range(seats):
            seen = view(state, seat)
            own, decides = seen.private, seat == state.seat
            assert seen.public == public
            assert (own.seat, own.asari) == (seat, state.money[seat])
            assert sum(own.hand) == public.seats[seat].hand_size
            assert sum(own.lit_windows) == public.seats[seat].lit_windows
            assert own[-3:] == (searched(state) if decides else ((), (), ()))
            assert seen.legal == (tuple(state.legal) if decides else ())
            between_turns = state.seat >= 0 and state.kind == DecisionKind.SPACE
            assert (seen.decision is not None) == (decides or between_turns)
            if seen.decision is not None:
                assert (seen.decision.seat, seen.decision.kind) == (state.seat, state.kind)


def searched(state):
    """What the deciding seat looks through: sections, buyers, lit windows."""
    match state.kind:
        case DecisionKind.PILE_SECTION:
            types = MARKET_TYPES[state.searched_market]
            return tuple(types[n] for n in sorted(state.piles[state.searched_market])), (), ()
        case DecisionKind.GIFT_BUYER:
            return (), tuple(sorted(state.buyer_pile)), ()
        case DecisionKind.LIT_KEEP | DecisionKind.LIT_RETURN:
            return (), (), state.lit_drawn
        case DecisionKind.GIFT_LIT_WINDOW:
            return (), (), tuple(sorted(map(lit_colour, state.lit_stack)))
    return (), (), ()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_a_running_view_shows_every_seat_what_a_view_made_anew_shows(rule_sets, seats, policy):
    """Both when it is asked at every moment, and when it is only told the number of events."""
    dice = random.Random(9)
    moments = playout(rules(rule_sets, seats), 8, policy)
    state, _, events = next(moments)
    running, told = RunningView(state), RunningView(state)
    number = len(events)
    for state, _, events in moments:
        number += len(events)
        for seat in range(seats):
            assert running.of(seat) == view(state, seat)
        if state.seat >= 0 and dice.random() < 0.9:
            assert told.deciding(None, number) == view(state, state.seat)


def test_buyers_laid_face_down_are_remembered_by_their_player_for_the_year():
    table = Table()
    table.hand(0, "blue orange orange")
    table.send("coloured-building 1", "orange face-down")
    space = table.info("coloured-building 1").space
    assert table.private(0).face_down == ((space, (5,)),)
    assert table.private(1).face_down == ()
    table.play_out(until=2)
    assert table.private(0).face_down == ()


def test_a_seat_knows_the_places_of_the_windows_that_it_puts_back():
    """One after the other (ruling R9), until all three lie there."""
    table = Table("pro")
    table.lit_stack(" ".join(colour.name for colour in (*Colour, *Colour, *Colour)))
    table.play("dispatch lit-windows 1", f"lay {table.held(0).split()[0]}", "pay 10")
    table.play("keep brown red")
    for answers, known in (
        ([], []),
        (["return black"], ["BLACK"]),
        (["return white"], ["BLACK", "WHITE", "GREEN"]),  # the last one is not asked
    ):
        table.play(*answers)
        size = table.public.lit_stack_size
        found = [(above, colour.name) for above, colour in table.private(0).known_lit_windows]
        assert found == list(zip(range(size - len(known), size), known, strict=True))
