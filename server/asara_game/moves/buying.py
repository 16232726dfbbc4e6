"""Buying sections from markets and searched piles, and buying lit windows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from asara_game.actions import Action, KeepLitWindows, PayOffer, ReturnLitWindow, SearchPile
from asara_game.events import (
    Event,
    LitWindowsDrawn,
    LitWindowsKept,
    MoveDeclined,
    PileSearched,
    SectionTaken,
)
from asara_game.rules import DECLINE, TAKES_OR_DECLINE
from asara_game.state import (
    NOT_COUNTED,
    State,
    known_lit_window,
    lit_colour,
    lit_index,
    unbuilt_index,
)
from asara_game.turns import end_turn
from asara_game.vocabulary import Colour, DecisionKind

_new: Final = tuple.__new__
"""Makes a named tuple twice as fast as calling its class; all fields must be given."""


_RETURNS: Final = {int(colour): ReturnLitWindow(colour) for colour in Colour}


def affordable(state: State, types: int) -> int:
    """Return the section types of a market that the purse can pay for, as bits."""
    rules = state.rules
    asari = state.money[state.seat]
    highest = rules.highest_price
    return types & rules.affordable_types[asari if asari < highest else highest]


# From a display.


def display_options(state: State) -> tuple[Action, ...]:
    market = state.space.area - 1
    return TAKES_OR_DECLINE[market][affordable(state, state.types_on_display[market])]


def take_displayed(state: State, action: Action, events: list[Event]) -> None:
    if action is DECLINE:
        events.append(MoveDeclined(state.seat))
    else:
        buy_displayed(state, action, events)
    end_turn(state, events)


def buy_displayed(state: State, action: Action, events: list[Event]) -> None:
    info = state.rules.sections_by_action[action]
    seat = state.seat
    display = state.display_counts
    display[info.index] -= 1
    if not display[info.index]:
        state.types_on_display[info.market] ^= info.bit
    state.money[seat] -= info.price
    state.unbuilt[unbuilt_index(seat, info.index)] += 1
    state.buildable_counts[seat] = NOT_COUNTED
    events.append(_new(SectionTaken, (seat, info.section, False, -info.price, 0)))


# Out of a pile.


def search_pile(state: State, action: SearchPile, events: list[Event]) -> None:
    cost = state.space.cost
    seat = state.seat
    kind = action.kind
    state.money[seat] -= cost
    events.append(PileSearched(seat, kind, -cost))
    state.searched_market = kind - 1
    state.kind = DecisionKind.PILE_SECTION
    state.legal = searched_options(state)


def searched_options(state: State) -> tuple[Action, ...]:
    market = state.searched_market
    types = 0
    for number in state.piles[market]:
        types |= 1 << number
    return TAKES_OR_DECLINE[market][affordable(state, types)]


def take_searched(state: State, action: Action, events: list[Event]) -> None:
    seat = state.seat
    pile = state.piles[state.searched_market]
    if action is DECLINE:
        events.append(MoveDeclined(seat))
    else:
        info = state.rules.sections_by_action[action]
        pile.remove(info.number)
        state.money[seat] -= info.price
        state.unbuilt[unbuilt_index(seat, info.index)] += 1
        state.buildable_counts[seat] = NOT_COUNTED
        events.append(SectionTaken(seat, info.section, True, -info.price))
    state.shuffle(state.searched_market, pile)
    end_turn(state, events)


# Lit windows.


def offer_options(state: State) -> list[Action]:
    asari = state.money[state.seat]
    offers = state.rules.edition.lit_offers
    return [PayOffer(offer.asari) for offer in offers if offer.asari <= asari]


def pay_offer(state: State, action: PayOffer, events: list[Event]) -> None:
    asari = action.asari
    seat = state.seat
    offer = next(offer for offer in state.rules.edition.lit_offers if offer.asari == asari)
    state.money[seat] -= asari
    stack = state.lit_stack
    count = min(offer.drawn, len(stack))  # rulings R7, R17
    state.lit_drawn = tuple([lit_colour(stack.pop()) for _ in range(count)])
    state.lit_to_keep = min(offer.kept, count)
    events.append(LitWindowsDrawn(seat, count, -asari))
    state.kind = DecisionKind.LIT_KEEP
    state.legal = keep_options(state)


def keep_options(state: State) -> list[Action]:
    kept = sorted(set(combinations(sorted(state.lit_drawn), state.lit_to_keep)))
    return [KeepLitWindows(tuple(Colour(c) for c in colours)) for colours in kept]


def keep_lit_windows(state: State, action: KeepLitWindows, events: list[Event]) -> None:
    colours = action.colours
    seat = state.seat
    rest = list(state.lit_drawn)
    for colour in colours:
        rest.remove(colour)
    add_lit_windows(state, colours)
    state.lit_drawn = tuple(rest)
    state.lit_to_keep = 0
    events.append(LitWindowsKept(seat, len(colours)))
    _ask_return(state, events)


def _ask_return(state: State, events: list[Event]) -> None:
    """Ask for the next lit window to return to the stack, or end the turn after the last one."""
    if not state.lit_drawn:
        end_turn(state, events)
        return
    state.kind = DecisionKind.LIT_RETURN
    state.legal = return_options(state)


def return_options(state: State) -> list[Action]:
    """Return one action per colour, ordered by the first drawn window of that colour.

    If a seat takes the first legal action at every step, the windows return in the order drawn.
    """
    return [_RETURNS[colour] for colour in dict.fromkeys(state.lit_drawn)]


def return_lit_window(state: State, action: ReturnLitWindow, events: list[Event]) -> None:
    """Put a window at the very bottom: the first one returned will be drawn first (ruling R9)."""
    rest = list(state.lit_drawn)
    rest.remove(action.colour)
    state.lit_stack.insert(0, known_lit_window(state.seat, action.colour))
    state.lit_drawn = tuple(rest)
    _ask_return(state, events)


def add_lit_windows(state: State, colours: Iterable[Colour]) -> None:
    """Add lit windows to the seat's supply."""
    seat = state.seat
    for colour in colours:
        state.lit_held[lit_index(seat, colour)] += 1
    state.buildable_counts[seat] = NOT_COUNTED
