"""Gift cards: they take effect after a dispatch to their space, before the space's move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from asara_game.actions import Action, ChooseBuyer, KeepLitWindows
from asara_game.events import Event, GiftTaken, LitWindowsKept, MoveLost
from asara_game.rules import TAKES
from asara_game.state import BUYERS, LIT_WINDOWS, ONE, State, lit_colour
from asara_game.turns import end_turn
from asara_game.vocabulary import BuyerColour, Colour, DecisionKind, GiftKind

from .areas import MOVES, can_move
from .buying import add_lit_windows, affordable, buy_displayed

_CHOICES: Final = {int(colour): ChooseBuyer(colour) for colour in BuyerColour}
_KEEPS: Final = {int(colour): KeepLitWindows((colour,)) for colour in Colour}


def take_gifts(state: State, events: list[Event]) -> None:
    """Carry out queued cards in the order they were laid, until a card needs a decision.

    After the last card, the space's move begins.
    """
    seat = state.seat
    while state.gift_queue:
        card = state.gift_queue[0]
        if card.kind == GiftKind.ASARI:
            state.money[seat] += card.asari
            events.append(GiftTaken(seat, card, True, card.asari))
        elif card.kind == GiftKind.PRESTIGE:
            state.prestige[seat] += card.prestige
            events.append(GiftTaken(seat, card, True, 0, card.prestige))
        else:
            asked, options = _ASKED[card.kind]
            legal = options(state)
            events.append(GiftTaken(seat, card, bool(legal)))
            if legal:
                state.kind = asked
                state.legal = legal
                return
        state.gift_queue = state.gift_queue[1:]
    info = state.space
    if can_move(state, info, False):
        MOVES[info.area](state, info, events, False)
    else:
        events.append(MoveLost(seat))  # ruling R10
        end_turn(state, events)


def _gift_done(state: State, events: list[Event]) -> None:
    state.gift_queue = state.gift_queue[1:]
    take_gifts(state, events)


# Options of the present card; none if it can have no effect (ruling R10).


def gift_buyer_options(state: State) -> Sequence[Action]:
    return [_CHOICES[colour] for colour in sorted(set(state.buyer_pile))]


def gift_section_options(state: State) -> Sequence[Action]:
    market = state.gift_queue[0].section_kind - 1
    return TAKES[market][affordable(state, state.types_on_display[market])]


def gift_lit_window_options(state: State) -> Sequence[Action]:
    if state.money[state.seat] < state.gift_queue[0].asari:
        return ()
    return [_KEEPS[colour] for colour in sorted(set(map(lit_colour, state.lit_stack)))]


_ASKED: Final[dict[GiftKind, tuple[DecisionKind, Callable[[State], Sequence[Action]]]]] = {
    GiftKind.CHOOSE_BUYER: (DecisionKind.GIFT_BUYER, gift_buyer_options),
    GiftKind.BUY_SECTION: (DecisionKind.GIFT_SECTION, gift_section_options),
    GiftKind.BUY_LIT_WINDOW: (DecisionKind.GIFT_LIT_WINDOW, gift_lit_window_options),
}


def choose_buyer(state: State, action: ChooseBuyer, events: list[Event]) -> None:
    buyer = action.buyer
    state.buyer_pile.remove(buyer)
    state.shuffle(BUYERS, state.buyer_pile)
    state.hands[state.seat] += ONE[buyer]
    state.hand_sizes[state.seat] += 1
    _gift_done(state, events)


def choose_section(state: State, action: Action, events: list[Event]) -> None:
    buy_displayed(state, action, events)
    _gift_done(state, events)


def choose_lit_window(state: State, action: KeepLitWindows, events: list[Event]) -> None:
    colour = action.colours[0]
    seat = state.seat
    stack = list(map(lit_colour, state.lit_stack))
    stack.remove(colour)
    state.shuffle(LIT_WINDOWS, stack)
    state.lit_stack = stack
    price = state.gift_queue[0].asari
    state.money[seat] -= price
    add_lit_windows(state, (colour,))
    events.append(LitWindowsKept(seat, 1, -price))
    _gift_done(state, events)
