"""Other worlds: complete states that a seat cannot tell from the true one."""

from __future__ import annotations

import random
from collections.abc import Iterable

from .deal import RandomShuffler
from .moves import options
from .rules import AREAS
from .state import (
    NOT_COUNTED,
    ONE,
    State,
    blank,
    known_lit_window,
    lit_index,
    pack_hand,
    unbuilt_index,
)
from .view import SeatView, View
from .vocabulary import (
    MARKET_TYPES,
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    Section,
    SectionKind,
    Space,
    section_index,
)

__all__ = ["determinize"]


def determinize(seen: View, rng: random.Random) -> State:
    """Return a complete state that the view's seat cannot tell from the true one.

    Hidden things are dealt at random from the components that the seat does not see, and later
    shuffles come from `rng`. Raise ValueError for a view from within another seat's turn.
    """
    if seen.decision is None and not _over(seen):
        raise ValueError("the view is from within another seat's turn")
    state = blank(seen.rules, RandomShuffler(rng))
    _restore_public(state, seen)
    _restore_private(state, seen)
    _deal_sections(state, seen, rng)
    _deal_buyers(state, seen, rng)
    _deal_lit_windows(state, seen, rng)
    _deal_gifts(state, seen, rng)
    _deal_money(state, seen, rng)
    _resume_turn(state, seen)
    return state


def _over(seen: View) -> bool:
    sizes = (seat.hand_size for seat in seen.public.seats)
    return seen.public.year == seen.rules.edition.years and not any(sizes)


def _restore_public(state: State, seen: View) -> None:
    public = seen.public
    rules = seen.rules
    state.year = public.year
    state.turn_seat = public.turn_seat
    state.patronage_seat = public.patronage_seat
    state.display_counts = [count for display in public.displays for count in display]
    for market, display in enumerate(public.displays):
        state.types_on_display[market] = sum(1 << i for i, count in enumerate(display) if count)
    state.area_colours = list(public.area_colours)
    state.dispatched = list(public.dispatched)
    spaces = {info.space: info for info in rules.spaces}
    for area in range(AREAS):
        if area == Area.COLOURED_BUILDING:
            continue
        for mark in public.dispatched[area]:
            state.free_spaces[area] &= ~spaces[mark.space].bit
    for space, cards in public.chests:
        info = spaces[space]
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


def _deal_sections(state: State, seen: View, rng: random.Random) -> None:
    """Each pile gets its number of the sections that are left, the other seats the rest."""
    tiles = seen.rules.edition.tiles
    searched = seen.private.searched_sections
    others = [seat for seat in range(seen.rules.seats) if seat != seen.private.seat]
    built = _built(seen.public.seats)
    for market, types in enumerate(MARKET_TYPES):
        left = []
        for number, section in enumerate(types):
            index = section_index(section)
            count = tiles[market][section.colour - 1][section.gold] - built[index]
            count -= seen.public.displays[market][number] + seen.private.sections[index]
            left += [number] * count
        rng.shuffle(left)
        if searched and searched[0].kind - 1 == market:
            pile = [types.index(section) for section in searched]
            for number in pile:
                left.remove(number)
            rng.shuffle(pile)
        else:
            size = seen.public.pile_sizes[market]
            pile = left[:size]
            del left[:size]
        state.piles[market] = pile
        for number in left:
            index = unbuilt_index(rng.choice(others), section_index(types[number]))
            state.unbuilt[index] += 1


def _built(seats: Iterable[SeatView]) -> list[int]:
    """Counts of the sections in towers, in the order of SECTION_TYPES."""
    counts = [0] * len(SECTION_TYPES)

    def add(kind: SectionKind, colour: Colour, gold: bool, count: int = 1) -> None:
        counts[section_index(Section(kind, colour, gold))] += count

    for seat in seats:
        for tower in seat.towers:
            add(SectionKind.BASE, tower.colour, tower.base_gold)
            add(SectionKind.TRUNK, tower.colour, False, tower.plain_trunks)
            add(SectionKind.TRUNK, tower.colour, True, tower.gold_trunks)
            add(SectionKind.WINDOW, tower.colour, False, tower.plain_windows)
            add(SectionKind.WINDOW, tower.colour, True, tower.gold_windows)
            add(SectionKind.TURRET, tower.colour, tower.turret_gold)
    return counts


def _deal_buyers(state: State, seen: View, rng: random.Random) -> None:
    """The other seats' hands and face-down buyers, and the pile."""
    own = seen.private
    left = dict(enumerate(seen.rules.edition.buyers, 1))
    for colour, count in enumerate(own.hand, 1):
        left[colour] -= count
    for _, buyers in own.face_down:
        for buyer in buyers:
            left[buyer] -= 1
    hidden: list[tuple[int, Space, int]] = []
    for area, marks in enumerate(seen.public.dispatched):
        for mark in marks:
            if mark.colour:
                left[mark.colour] -= 1
            elif mark.seat != own.seat:
                hidden.append((mark.seat, mark.space, 1 if area == Area.COLOURED_BUILDING else 2))
    pool: list[int]
    if own.searched_buyers:
        for buyer in own.searched_buyers:
            left[buyer] -= 1
    pool = [colour for colour, count in left.items() for _ in range(count)]
    rng.shuffle(pool)
    for seat, space, count in hidden:
        buyers = tuple(sorted(BuyerColour(pool.pop()) for _ in range(count)))
        state.face_down.append((seat, space, buyers))
    for seat in range(seen.rules.seats):
        if seat != own.seat:
            for _ in range(state.hand_sizes[seat]):
                state.hands[seat] += ONE[pool.pop()]
    state.buyer_pile = [int(buyer) for buyer in own.searched_buyers] or pool
    rng.shuffle(state.buyer_pile)


def _deal_lit_windows(state: State, seen: View, rng: random.Random) -> None:
    """The stack, with the windows whose place the seat knows, and the other seats' lit windows."""
    if not seen.rules.professional:
        return
    own = seen.private
    asked = seen.decision
    drawn = asked is not None and asked.kind == DecisionKind.LIT_KEEP
    left = dict(enumerate(seen.rules.edition.lit_windows, 1))
    for colour, count in enumerate(own.lit_windows, 1):
        left[colour] -= count
    for known in seen.public.seats:
        for tower in known.towers:
            left[tower.colour] -= tower.lit
    for colour in own.searched_lit_windows:
        left[colour] -= 1
    if drawn:
        state.lit_drawn = tuple(int(colour) for colour in own.searched_lit_windows)
    searched = not drawn and own.searched_lit_windows
    stack = [0] * seen.public.lit_stack_size
    rest = [int(colour) for colour in own.searched_lit_windows] if searched else []
    for above, colour in own.known_lit_windows:
        stack[-1 - above] = known_lit_window(own.seat, colour)
        if searched:
            rest.remove(colour)
        else:
            left[colour] -= 1
    pool = [colour for colour, count in left.items() for _ in range(count)]
    rng.shuffle(pool)
    rng.shuffle(rest)
    state.lit_stack = [window or (rest if searched else pool).pop() for window in stack]
    for seat, known in enumerate(seen.public.seats):
        if seat != own.seat:
            for _ in range(known.lit_windows):
                state.lit_held[lit_index(seat, pool.pop())] += 1


def _deal_gifts(state: State, seen: View, rng: random.Random) -> None:
    """The rest of the deck, out of all cards that do not lie on the board or take effect now."""
    rules = seen.rules
    if not rules.gifts:
        return
    left = list(rules.gift_deck)
    lying = [card for _, cards in seen.public.chests for card in cards]
    if seen.decision is not None:
        lying += seen.decision.gifts
    for card in lying:
        left.remove(rules.gift_cards.index(card))
    rng.shuffle(left)
    state.gift_deck = left[: seen.public.gift_deck_size]


def _deal_money(state: State, seen: View, rng: random.Random) -> None:
    """The other seats' purses: hidden (RULES R15), so any amount that the game could have paid."""
    for seat in range(seen.rules.seats):
        if seat != seen.private.seat:
            state.money[seat] = rng.randrange(41)


def _resume_turn(state: State, seen: View) -> None:
    asked = seen.decision
    if asked is None:
        state.seat = -1
        return
    state.seat = asked.seat
    state.kind = asked.kind
    spaces = {info.space: info for info in seen.rules.spaces}
    if asked.space is not None:
        state.space = spaces[asked.space]
    state.gift_queue = asked.gifts
    state.sections_to_build = asked.sections_to_build
    state.build_steps = asked.build_steps
    state.lit_to_keep = asked.lit_windows_to_keep
    if seen.private.searched_sections:
        state.searched_market = seen.private.searched_sections[0].kind - 1
    state.legal = options(state)
