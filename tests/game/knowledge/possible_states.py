"""Checks whether a state can be the true one behind a view, within the limits of `possible`."""

from collections import Counter

from asara_game.knowledge.history import History
from asara_game.knowledge.possible import (
    SeatLimits,
    check_moment,
    gift_asari,
    gifts_taken,
    limits_of,
    lit_room,
    purse,
    unknown_lit_windows,
)
from asara_game.state import State
from asara_game.view import View, view
from asara_game.vocabulary import SECTION_TYPES
from tests.game.play import check_components


def is_possible(seen: View, state: State, history: History | None = None) -> bool:
    """Return True if the view's seat cannot rule out a state within these limits.

    If a history is given, its events must allow the state too (see `History.allows`). Raise
    ValueError for a view from within another seat's turn, and AssertionError if a component is
    missing or there twice.
    """
    check_moment(seen)
    rules = seen.rules
    taken = Counter(rules.gift_cards[index] for index in gifts_taken(seen, state.gift_deck))
    taken.update(state.gift_queue[:1])
    check_components(state, taken)
    return (
        view(state, seen.private.seat) == seen
        and _sections_and_purses_fit(seen, state)
        and _stack_fits(seen, state)
        and (history is None or history.allows(state))
    )


def _sections_and_purses_fit(seen: View, state: State) -> bool:
    """Return True if every other seat could have the state's sections and money."""
    rules = seen.rules
    limits = limits_of(rules)
    seats = SeatLimits(seen, limits)
    taken = gifts_taken(seen, state.gift_deck)
    gift = gift_asari(rules, taken)
    prices = rules.edition.prices
    for seat in range(rules.seats):
        if seat == seen.private.seat:
            continue
        counts = state.unbuilt_of(seat)
        held = sum(
            [count * prices[SECTION_TYPES[i].colour - 1] for i, count in enumerate(counts) if count]
        )
        low, high = purse(seats.means(seen, limits, seat, gift), seen.public.year, held)
        if sum(counts) > seats.room[seat] or not low <= state.money[seat] <= high:
            return False
    return True


def _stack_fits(seen: View, state: State) -> bool:
    """Return True if the other seats could know the stack places that the state says they know."""
    if not seen.rules.professional:
        return True
    limits = limits_of(seen.rules)
    room = lit_room(seen, limits)
    owners = [(window >> 3) - 1 for window in state.lit_stack]  # -1 if nobody knows the window
    unknown = owners.count(-1)
    taken = gifts_taken(seen, state.gift_deck)
    shuffled = not limits.lit_cards.isdisjoint(taken)
    least, most = unknown_lit_windows(seen, limits, room, shuffled)
    return (
        least <= unknown <= most
        and -1 not in owners[: len(owners) - unknown]
        and all(
            owners.count(seat) <= most_known
            for seat, most_known in enumerate(room)
            if seat != seen.private.seat
        )
    )
