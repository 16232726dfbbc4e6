"""Other worlds: complete states that a seat cannot tell from the true one."""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import log
from typing import Final

from asara_game.deal import RandomShuffler
from asara_game.moves import options
from asara_game.state import ONE, State, known_lit_window, lit_index, unbuilt_index
from asara_game.view import SeatView, View
from asara_game.vocabulary import (
    MARKET_TYPES,
    SECTION_TYPES,
    Area,
    BuyerColour,
    DecisionKind,
    GiftKind,
    Space,
)

from .possible import (
    Limits,
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
from .restore import restore, resume_turn
from .shuffling import shuffle

__all__ = ["determinize"]

_COLOURED: Final = int(Area.COLOURED_BUILDING)
_BEFORE_PAYING: Final = frozenset(
    {
        DecisionKind.BUILD_COUNT,
        DecisionKind.PILE,
        DecisionKind.LIT_OFFER,
        DecisionKind.GIFT_BUYER,
        DecisionKind.GIFT_SECTION,
        DecisionKind.GIFT_LIT_WINDOW,
    }
)
"""Decisions that come after a dispatch but before its cost is paid."""


def determinize(seen: View, rng: random.Random) -> State:
    """Return a complete state that the view's seat cannot tell from the true one.

    Hidden components are dealt at random from those that the seat cannot see. Purses and sections
    stay within the limits that `possible` derives from the rules. Later shuffles come from `rng`.
    The result can be any state within these limits, and no other.

    Raise ValueError for a view from within another seat's turn. Also raise ValueError if the view
    shows more sections bought than the other seats can have paid for.
    """
    check_moment(seen)
    state = restore(seen, RandomShuffler(rng))
    limits = limits_of(seen.rules)
    seats = SeatLimits(seen, limits)
    taken = _deal_gifts(state, seen, limits, rng)
    means = _means(seen, seats, limits, taken)
    if not _purses_fit(seen, limits, means):
        taken = _take_asari_cards(state, seen, limits, taken, rng)
        means = _means(seen, seats, limits, taken)
    held = _deal_sections(state, seen, seats.room, means, rng)
    if held is None:
        taken = _take_asari_cards(state, seen, limits, taken, rng)
        means = _means(seen, seats, limits, taken)
        held = _share_cheapest(state, seen, SeatLimits(seen, limits).room, means, rng)
    _deal_buyers(state, seen, rng)
    _deal_lit_windows(state, seen, rng)
    if seen.rules.professional:
        _assign_places(state, seen, limits, taken, rng)
    _deal_money(state, seen, seats, held, means, rng)
    resume_turn(state, seen)
    if state.seat >= 0:
        state.legal = options(state)
    return state


def _pick(items: list[int], rng: random.Random) -> int:
    return items[int(rng.random() * len(items))]


def _means(
    seen: View, seats: SeatLimits, limits: Limits, taken: list[int]
) -> list[tuple[int, int]]:
    gift = gift_asari(seen.rules, taken)
    return [seats.means(seen, limits, seat, gift) for seat in range(seen.rules.seats)]


def _purses_fit(seen: View, limits: Limits, means: list[tuple[int, int]]) -> bool:
    """Return False if a seat must have received more Asari from gift cards than assumed."""
    own = seen.private
    if not seen.rules.gifts:
        return True
    if any(high < 0 for _, high in means):
        return False
    prices = seen.rules.edition.prices
    held = sum([n * prices[i % 10 >> 1] for i, n in enumerate(own.sections) if n])
    high = means[own.seat][1]
    asked = seen.decision
    if asked is not None and asked.space is not None and asked.kind in _BEFORE_PAYING:
        space = limits.spaces[asked.space]
        high -= min(0, space.most_first if seen.public.year == 1 else space.most)
    return own.asari + held <= high


def _budgets(seen: View, means: list[tuple[int, int]]) -> list[int]:
    """Return, by seat, the maximum total price of the sections that the seat can hold."""
    year = seen.public.year
    if year == 1:
        return [high for _, high in means]
    return [high - low if low > 0 else high for low, high in means]


def _deal_sections(
    state: State, seen: View, room: list[int], means: list[tuple[int, int]], rng: random.Random
) -> list[int] | None:
    """Deal the unseen sections: each pile gets its number of sections, the other seats the rest.

    If no seat can pay for a section, it is exchanged for a section from the pile. Return, by seat,
    the total price of the sections dealt to the other seats. Return None if no exchange is
    possible; the other seats' sections are then incomplete.
    """
    prices = seen.rules.edition.prices
    searched = seen.private.searched_sections
    others = [seat for seat in range(seen.rules.seats) if seat != seen.private.seat]
    budgets = _budgets(seen, means)
    held = [0] * seen.rules.seats
    built = built_sections(seen.public.seats)
    for market, types in enumerate(MARKET_TYPES):
        left = _unseen(seen, built, market)
        first = market * 10
        known = searched and searched[0].kind - 1 == market
        if known:
            pile = [types.index(section) for section in searched]
            for number in pile:
                left.remove(number)
            shuffle(pile, rng)
            shuffle(left, rng)
        else:
            shuffle(left, rng)
            size = seen.public.pile_sizes[market]
            pile = left[:size]
            del left[:size]
        state.piles[market] = pile
        for dealt in left:
            number = dealt
            price = prices[number >> 1]
            able = [s for s in others if room[s] > 0 and held[s] + price <= budgets[s]]
            if not able:
                most = max([budgets[s] - held[s] for s in others if room[s] > 0], default=-1)
                places = [i for i, other in enumerate(pile) if prices[other >> 1] <= most]
                if known or not places:
                    return None
                place = _pick(places, rng)
                pile[place], number = number, pile[place]
                price = prices[number >> 1]
                able = [s for s in others if room[s] > 0 and held[s] + price <= budgets[s]]
            seat = _pick(able, rng)
            room[seat] -= 1
            held[seat] += price
            state.unbuilt[unbuilt_index(seat, first + number)] += 1
    return held


def _share_cheapest(
    state: State, seen: View, room: list[int], means: list[tuple[int, int]], rng: random.Random
) -> list[int]:
    """Give the other seats the cheapest possible sections, shared so that every seat can pay.

    This is the fallback after random dealing has failed. Return, by seat, the total price of the
    sections dealt to the other seats.
    """
    prices = seen.rules.edition.prices
    searched = seen.private.searched_sections
    others = [seat for seat in range(seen.rules.seats) if seat != seen.private.seat]
    built = built_sections(seen.public.seats)
    indices: list[int] = []
    for market, types in enumerate(MARKET_TYPES):
        hidden = _unseen(seen, built, market)
        for index in range(market * 10, market * 10 + 10):
            for seat in others:
                state.unbuilt[unbuilt_index(seat, index)] = 0
        if searched and searched[0].kind - 1 == market:
            pile = [types.index(section) for section in searched]
            for number in pile:
                hidden.remove(number)
        else:
            shuffle(hidden, rng)
            hidden.sort(key=lambda number: prices[number >> 1], reverse=True)
            size = seen.public.pile_sizes[market]
            pile = hidden[:size]
            del hidden[:size]
        shuffle(pile, rng)
        state.piles[market] = pile
        indices += [market * 10 + number for number in hidden]
    shuffle(indices, rng)
    indices.sort(key=lambda index: prices[index % 10 >> 1], reverse=True)
    shuffle(others, rng)
    asked = [prices[index % 10 >> 1] for index in indices]
    budgets = _budgets(seen, means)
    shares = _shares(asked, [(room[seat], budgets[seat]) for seat in others])
    held = [0] * seen.rules.seats
    for index, price, share in zip(indices, asked, shares, strict=True):
        seat = others[share]
        held[seat] += price
        state.unbuilt[unbuilt_index(seat, index)] += 1
    return held


def _shares(prices: list[int], limits: list[tuple[int, int]]) -> list[int]:
    """Share out sections with these prices, within each holder's number of sections and budget.

    Return the holder of each section. The search looks at every state of the holders only once per
    section, which keeps the work small. Raise ValueError if the sections cannot be shared out.
    """
    reached: list[dict[tuple[tuple[int, int], ...], int]] = [{tuple(limits): -1}]
    for price in prices:
        after: dict[tuple[tuple[int, int], ...], int] = {}
        for present in reached[-1]:
            for holder, (room, budget) in enumerate(present):
                if room > 0 and budget >= price:
                    rest = (room - 1, budget - price)
                    after.setdefault((*present[:holder], rest, *present[holder + 1 :]), holder)
        reached.append(after)
    if not reached[-1]:
        raise ValueError("the view shows more sections bought than the other seats can have paid")
    present = next(iter(reached[-1]))
    shares: list[int] = []
    for price, before in zip(reversed(prices), reversed(reached), strict=False):
        holder = before[present]
        room, budget = present[holder]
        shares.append(holder)
        present = (*present[:holder], (room + 1, budget + price), *present[holder + 1 :])
    return shares[::-1]


def _unseen(seen: View, built: list[int], market: int) -> list[int]:
    """Sections of a market's kind that the seat cannot see, as numbers within the kind."""
    tiles = seen.rules.edition.tiles[market]
    display = seen.public.displays[market]
    own = seen.private.sections
    left: list[int] = []
    for number in range(10):
        index = market * 10 + number
        count = tiles[number >> 1][number & 1] - built[index] - display[number] - own[index]
        left += [number] * count
    return left


def built_sections(seats: Iterable[SeatView]) -> list[int]:
    """Return the counts of the sections in towers, in the order of SECTION_TYPES."""
    counts = [0] * len(SECTION_TYPES)
    for seat in seats:
        for tower in seat.towers:
            for index, count in built_counts(tower):
                counts[index] += count
    return counts


def _deal_buyers(state: State, seen: View, rng: random.Random) -> None:
    """Deal the other seats' hands and face-down buyers, and the buyer pile."""
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
                hidden.append((mark.seat, mark.space, 1 if area == _COLOURED else 2))
    if own.searched_buyers:
        for buyer in own.searched_buyers:
            left[buyer] -= 1
    pool = [colour for colour, count in left.items() for _ in range(count)]
    shuffle(pool, rng)
    for seat, space, count in hidden:
        buyers = tuple(sorted(BuyerColour(pool.pop()) for _ in range(count)))
        state.face_down.append((seat, space, buyers))
    for seat in range(seen.rules.seats):
        if seat != own.seat:
            for _ in range(state.hand_sizes[seat]):
                state.hands[seat] += ONE[pool.pop()]
    state.buyer_pile = pool
    if own.searched_buyers:
        state.buyer_pile = [int(buyer) for buyer in own.searched_buyers]
        shuffle(state.buyer_pile, rng)


def unseen_lit_windows(seen: View) -> list[int]:
    """Return the counts of lit windows that the seat cannot see, indexed by colour.

    Windows in the stack are included even if the seat knows their places.
    """
    left = [0, *seen.rules.edition.lit_windows]
    for colour, count in enumerate(seen.private.lit_windows, 1):
        left[colour] -= count
    for known in seen.public.seats:
        for tower in known.towers:
            left[tower.colour] -= tower.lit
    for window in seen.private.searched_lit_windows:
        left[window] -= 1
    return left


def _deal_lit_windows(state: State, seen: View, rng: random.Random) -> None:
    """Deal the other seats' lit windows and the stack, in which the seat knows some places."""
    if not seen.rules.professional:
        return
    own = seen.private
    asked = seen.decision
    kinds = (DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN)
    drawn = asked is not None and asked.kind in kinds
    left = unseen_lit_windows(seen)
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
    pool = [colour for colour, count in enumerate(left) for _ in range(count)]
    shuffle(pool, rng)
    shuffle(rest, rng)
    state.lit_stack = [window or (rest if searched else pool).pop() for window in stack]
    for seat, known in enumerate(seen.public.seats):
        if seat != own.seat:
            for _ in range(known.lit_windows):
                state.lit_held[lit_index(seat, pool.pop())] += 1


def _assign_places(
    state: State, seen: View, limits: Limits, taken: list[int], rng: random.Random
) -> None:
    """Let other seats know places in the stack that they may have filled (ruling R9).

    Each run of neighbouring places belongs to one seat. Runs are assigned from top to bottom, in
    the order in which visits filled the stack.
    """
    room = lit_room(seen, limits)
    shuffled = not limits.lit_cards.isdisjoint(taken)
    least, most = unknown_lit_windows(seen, limits, room, shuffled)
    unknown = least + int(rng.random() * max(0, most - least + 1))
    stack = state.lit_stack
    run, seat = 0, -1
    for place in range(len(stack) - 1 - unknown, -1, -1):
        if stack[place] >= known_lit_window(0, 0):  # the viewing seat's own
            run = 0
            continue
        if not run or not room[seat]:
            able = [other for other, places in enumerate(room) if places > 0]
            if not able:
                return
            seat = _pick(able, rng)
            run = 1 + int(rng.random() * limits.returned_at_once)
        run -= 1
        room[seat] -= 1
        stack[place] = known_lit_window(seat, stack[place])


def _deal_gifts(state: State, seen: View, limits: Limits, rng: random.Random) -> list[int]:
    """Deal the rest of the deck from all cards that are neither on the board nor taking effect now.

    Return the gift cards that were taken, as indices of `rules.gift_cards`.
    """
    if not seen.rules.gifts:
        return []
    left = gifts_taken(seen, ()) or []
    shuffle(left, rng)
    size = seen.public.gift_deck_size
    state.gift_deck = left[:size]
    taken = left[size:]
    if taken and limits.lit_cards.isdisjoint(taken) and _was_shuffled(seen, limits):
        for place, card in enumerate(state.gift_deck):
            if card in limits.lit_cards:
                state.gift_deck[place], taken[0] = taken[0], card
                break
    return taken


def _was_shuffled(seen: View, limits: Limits) -> bool:
    """Return True if a gift card for a lit window must have let a seat search the stack."""
    if not seen.rules.professional:
        return False
    least, most = unknown_lit_windows(seen, limits, lit_room(seen, limits), False)
    return least > most


def _take_asari_cards(
    state: State, seen: View, limits: Limits, taken: list[int], rng: random.Random
) -> list[int]:
    """Exchange taken cards for the cards of the deck that give the most Asari.

    Return the cards that are now taken. If the stack was shuffled, one card for a lit window stays.
    """
    cards = seen.rules.gift_cards
    pool = state.gift_deck + taken
    kept: list[int] = []
    if _was_shuffled(seen, limits):
        kept = [card for card in taken if card in limits.lit_cards][:1]
        for card in kept:
            pool.remove(card)
    shuffle(pool, rng)
    pool.sort(key=lambda i: cards[i].asari if cards[i].kind == GiftKind.ASARI else 0)
    size = len(state.gift_deck)
    state.gift_deck = pool[:size]
    shuffle(state.gift_deck, rng)
    return kept + pool[size:]


_TAIL: Final = 0.125
"""Share of purses that are drawn evenly from the full possible range."""


def _deal_money(
    state: State,
    seen: View,
    seats: SeatLimits,
    held: list[int],
    means: list[tuple[int, int]],
    rng: random.Random,
) -> None:
    """Deal the other seats' hidden purses (ruling R15), at random within their limits.

    As in real play, most purses are near the lower limit. Such a purse contains what is left of
    this year's money, plus about one payment from the coloured building for each earlier year. The
    other purses can be anywhere within the limits.
    """
    year = seen.public.year
    for seat in range(seen.rules.seats):
        if seat == seen.private.seat:
            continue
        low, high = purse(means[seat], year, held[seat])
        asari = high + 1
        if year > 1 and rng.random() >= _TAIL:
            usual = seen.rules.edition.coloured_building * year
            usual += (seats.most[seat] - seats.least[seat]) // 2
            asari = low - int(usual / 2 * log((1 - rng.random()) * (1 - rng.random())))
        if asari > high:
            asari = low + int(rng.random() * (high - low + 1))
        state.money[seat] = asari
