"""Checks whether a state can be the true one behind a view, within the limits of `possible`."""

from asara_game.knowledge.history import History
from asara_game.knowledge.possible import (
    SeatLimits,
    built_counts,
    check_moment,
    gift_asari,
    gifts_taken,
    limits_of,
    lit_room,
    purse,
    unknown_lit_windows,
)
from asara_game.state import State, lit_colour, lit_index
from asara_game.view import View, view
from asara_game.vocabulary import MARKET_TYPES, SECTION_TYPES, section_index


def is_possible(seen: View, state: State, history: History | None = None) -> bool:
    """Return True if the view's seat cannot rule out a state within these limits.

    If a history is given, its events must allow the state too (see `History.allows`). Raise
    ValueError for a view from within another seat's turn.
    """
    check_moment(seen)
    return (
        view(state, seen.private.seat) == seen
        and _components_fit(seen, state)
        and _sections_and_purses_fit(seen, state)
        and _stack_fits(seen, state)
        and (history is None or history.allows(state))
    )


def _components_fit(seen: View, state: State) -> bool:
    """Return True if no buyer, section, lit window or gift card is missing or present twice."""
    edition = seen.rules.edition
    buyers = [0] * 6
    for buyer in state.buyer_pile:
        buyers[buyer] += 1
    for hand in state.hands:
        for colour in range(5):
            buyers[colour + 1] += hand >> 6 * colour & 63
    for marks in state.dispatched:
        for mark in marks:
            buyers[mark.colour] += 1  # face-down buyers have colour 0
    for _, _, laid in state.face_down:
        for colour in laid:
            buyers[colour] += 1
    lit = [0] * 6
    for window in state.lit_stack:
        lit[lit_colour(window)] += 1
    for colour in state.lit_drawn:
        lit[colour] += 1
    for seat in range(seen.rules.seats):
        for colour in range(1, 6):
            lit[colour] += state.lit_held[lit_index(seat, colour)]
        for tower in state.towers[seat]:
            lit[tower.colour] += tower.lit
    all_lit = edition.lit_windows if seen.rules.professional else (0, 0, 0, 0, 0)
    return (
        tuple(buyers[1:]) == edition.buyers
        and tuple(lit[1:]) == all_lit
        and _all_sections(state)
        == [count for kind in edition.tiles for row in kind for count in row]
        and gifts_taken(seen, state.gift_deck) is not None
    )


def _all_sections(state: State) -> list[int]:
    """Return the counts of all sections, in the order of SECTION_TYPES."""
    counts = state.display_counts[:]
    for market, pile in enumerate(state.piles):
        for number in pile:
            counts[section_index(MARKET_TYPES[market][number])] += 1
    for seat, towers in enumerate(state.towers):
        for index, count in enumerate(state.unbuilt_of(seat)):
            counts[index] += count
        for tower in towers:
            for index, count in built_counts(tower):
                counts[index] += count
    return counts


def _sections_and_purses_fit(seen: View, state: State) -> bool:
    """Return True if every other seat could have the state's sections and money."""
    rules = seen.rules
    limits = limits_of(rules)
    seats = SeatLimits(seen, limits)
    taken = gifts_taken(seen, state.gift_deck) or []
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
    taken = gifts_taken(seen, state.gift_deck) or []
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
