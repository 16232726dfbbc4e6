"""Dispatching: the seat chooses a space, then lays buyers there."""

from __future__ import annotations

from itertools import combinations_with_replacement
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
_FACE_UP: Final = [LayBuyers((colour,), False) for colour in BuyerColour]
_FACE_DOWN: Final = [LayBuyers((colour,), True) for colour in BuyerColour]
_PAIRS: Final = [
    (a, b, LayBuyers((a, b), True)) for a, b in combinations_with_replacement(BuyerColour, 2)
]
_MOST_LAYS: Final = 50_000
_lays_by_key: dict[int, tuple[Action, ...]] = {}
"""Lays by hand and colour; the cache saves an eighth of the engine's time per decision."""
_new: Final = tuple.__new__
"""Makes a named tuple twice as fast as calling its class; all fields must be given."""


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
    """Return the ways to lay one buyer of the colour, or two face down (ruling R1).

    If the area has no colour yet, the single buyer can have any colour.
    """
    counts = buyer_counts(hand)
    if colour == _ANY_FACE_DOWN:
        return tuple([lay for lay, count in zip(_FACE_DOWN, counts, strict=True) if count])
    if not colour:
        return tuple([lay for lay, count in zip(_FACE_UP, counts, strict=True) if count])
    lays = [_FACE_UP[colour - 1]] if counts[colour - 1] else []
    lays += [lay for a, b, lay in _PAIRS if counts[b - 1] and counts[a - 1] > (a == b)]
    return tuple(lays)


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
