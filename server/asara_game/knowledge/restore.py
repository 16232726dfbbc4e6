"""Rebuilds states from views: everything a view shows, without what is hidden."""

from __future__ import annotations

from typing import Final

from asara_game.actions import ChooseSpace
from asara_game.deal import Shuffler
from asara_game.rules import AREAS
from asara_game.state import NOT_COUNTED, State, blank, lit_index, pack_hand, unbuilt_index
from asara_game.view import View
from asara_game.vocabulary import Area, DecisionKind

_COLOURED: Final = int(Area.COLOURED_BUILDING)
DRAWN: Final = (DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN)
"""Decisions in which the seat is looking at the windows drawn, not at the stack."""


def restore(seen: View, shuffler: Shuffler) -> State:
    """Return a state that holds everything the view shows.

    The rest is empty: piles, stack and deck, and the hands, purses, sections and lit windows of
    other seats. No decision is open; `resume_turn` opens it.
    """
    state = blank(seen.rules, shuffler)
    _restore_public(state, seen)
    _restore_private(state, seen)
    return state


def _restore_public(state: State, seen: View) -> None:
    public = seen.public
    state.year = public.year
    state.turn_seat = public.turn_seat
    state.patronage_seat = public.patronage_seat
    state.display_counts = [count for display in public.displays for count in display]
    for index, count in enumerate(state.display_counts):
        if count:
            state.types_on_display[index // 10] |= 1 << index % 10
    state.area_colours = list(public.area_colours)
    state.dispatched = list(public.dispatched)
    spaces = seen.rules.spaces_by_action
    for area in range(AREAS):
        if area == _COLOURED:
            continue
        for mark in public.dispatched[area]:
            state.free_spaces[area] &= ~spaces[ChooseSpace(mark.space)].bit
    for space, cards in public.chests:
        info = spaces[ChooseSpace(space)]
        state.chests[info.chest] = cards
        state.gift_spaces[info.area] |= info.bit
    for seat, known in enumerate(public.seats):
        state.prestige[seat] = known.prestige
        state.hand_sizes[seat] = known.hand_size
        state.towers[seat] = known.towers
        state.buildable_counts[seat] = NOT_COUNTED
        for tower in known.towers:
            state.unlit_windows[lit_index(seat, tower.colour)] += tower.unlit_windows


def _restore_private(state: State, seen: View) -> None:
    own = seen.private
    seat = own.seat
    state.money[seat] = own.asari
    state.hands[seat] = pack_hand(
        colour for colour, count in enumerate(own.hand, 1) for _ in range(count)
    )
    for index, count in enumerate(own.sections):
        state.unbuilt[unbuilt_index(seat, index)] = count
    for colour, count in enumerate(own.lit_windows, 1):
        state.lit_held[lit_index(seat, colour)] = count
    state.face_down = [(seat, space, buyers) for space, buyers in own.face_down]


def resume_turn(state: State, seen: View) -> None:
    """Open the view's decision, if it has one, without its legal actions."""
    asked = seen.decision
    if asked is None:
        state.seat = -1
        return
    state.seat = asked.seat
    state.kind = asked.kind
    if asked.space is not None:
        state.space = seen.rules.spaces_by_action[ChooseSpace(asked.space)]
    state.gift_queue = asked.gifts
    state.sections_to_build = asked.sections_to_build
    state.build_steps = asked.build_steps
    state.lit_to_keep = asked.lit_windows_to_keep
    if asked.kind in DRAWN:
        state.lit_drawn = tuple(map(int, seen.private.searched_lit_windows))
    if seen.private.searched_sections:
        state.searched_market = seen.private.searched_sections[0].kind - 1
