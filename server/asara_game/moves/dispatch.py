"""Dispatching: a space is chosen, then buyers are laid on it."""

from __future__ import annotations

from typing import Final

from asara_game.actions import Action, LayBuyers
from asara_game.events import BuyersDispatched, Event
from asara_game.state import ONE, Dispatched, State, buyer_counts
from asara_game.vocabulary import Area, BuyerColour, DecisionKind

from .areas import MOVES
from .gifts import take_gifts

# Looking up a member of an enum takes as long as calling a function; these stand on every path.
_BUYERS: Final = DecisionKind.BUYERS
_COLOURED: Final = int(Area.COLOURED_BUILDING)
_ANY_FACE_DOWN: Final = 7
"""Stands for the coloured building among the colours that an area can ask for."""
_MOST_LAYS: Final = 50_000
_lays_by_key: dict[int, tuple[Action, ...]] = {}
"""By hand and colour; saves a quarter of a decision of the engine."""
_new: Final = tuple.__new__
"""Makes a named tuple in half the time that calling its class takes; all fields are given."""


def choose_space(state: State, action: Action, events: list[Event]) -> None:
    state.space = state.rules.spaces_by_action[action]
    state.kind = _BUYERS
    state.legal = lay_options(state)


def lay_options(state: State) -> tuple[Action, ...]:
    area = state.space.area
    colour = _ANY_FACE_DOWN if area == _COLOURED else state.area_colours[area]
    key = state.hands[state.seat] << 3 | colour
    lays = _lays_by_key.get(key)
    if lays is None:
        if len(_lays_by_key) > _MOST_LAYS:
            _lays_by_key.clear()
        lays = _lays_by_key[key] = _lays(key >> 3, colour)
    return lays


def _lays(hand: int, colour: int) -> tuple[Action, ...]:
    """One buyer of the colour (any if the area has none), or two face down (RULES R1)."""
    counts = dict(zip(BuyerColour, buyer_counts(hand), strict=True))
    held = [c for c in BuyerColour if counts[c]]
    if colour == _ANY_FACE_DOWN:
        return tuple(LayBuyers((c,), True) for c in held)
    if not colour:
        return tuple(LayBuyers((c,), False) for c in held)
    singles = (LayBuyers((c,), False) for c in held if c == colour)
    pairs = ((a, b) for a in held for b in held if a < b or (a == b and counts[a] > 1))
    return (*singles, *(LayBuyers(pair, True) for pair in pairs))


def lay_buyers(state: State, action: LayBuyers, events: list[Event]) -> None:
    info = state.space
    seat = state.seat
    area = info.area
    buyers = action.buyers
    for buyer in buyers:
        state.hands[seat] -= ONE[buyer]
    count = len(buyers)
    state.hand_sizes[seat] -= count
    shown: BuyerColour | int = 0
    if action.face_down:
        state.face_down.append((seat, info.space, buyers))
    else:
        shown = state.area_colours[area] = buyers[0]
    mark = _new(Dispatched, (info.space, seat, shown))
    marks = (*state.dispatched[area], mark)
    if area != _COLOURED:
        state.free_spaces[area] ^= info.bit
        if len(marks) > 1 and marks[-2] > mark:
            marks = tuple(sorted(marks))
    state.dispatched[area] = marks
    events.append(_new(BuyersDispatched, (seat, info.space, shown, count, 0, 0)))
    if info.chest >= 0 and state.chests[info.chest]:
        state.gift_queue = state.chests[info.chest]
        state.chests[info.chest] = ()
        state.gift_spaces[area] &= ~info.bit
        take_gifts(state, events)
    else:
        MOVES[area](state, info, events, False)
