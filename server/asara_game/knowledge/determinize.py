"""Other worlds: complete states that a seat cannot tell from the true one."""

from __future__ import annotations

import random
from math import log
from typing import Final

from asara_game.deal import RandomShuffler
from asara_game.moves import options
from asara_game.state import State, known_lit_window, unbuilt_index
from asara_game.view import View
from asara_game.vocabulary import (
    MARKET_TYPES,
    DecisionKind,
    GiftKind,
)

from .hidden import HiddenBuyers, HiddenLitWindows, unseen_sections
from .possible import (
    Limits,
    SeatLimits,
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
    HiddenBuyers(seen).deal(state, rng)
    if seen.rules.professional:
        HiddenLitWindows(seen).deal(state, rng)
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
    others = [seat for seat in range(seen.rules.seats) if seat != seen.private.seat]
    budgets = _budgets(seen, means)
    held = [0] * seen.rules.seats
    unseen = unseen_sections(seen)
    for market in range(4):
        searched, left = _of_market(seen, unseen, market)
        pile = searched
        shuffle(pile, rng)
        shuffle(left, rng)
        if not searched:
            size = seen.public.pile_sizes[market]
            pile, left = left[:size], left[size:]
        state.piles[market] = pile
        for dealt in left:
            number = dealt
            price = prices[number >> 1]
            able = [s for s in others if room[s] > 0 and held[s] + price <= budgets[s]]
            if not able:
                most = max([budgets[s] - held[s] for s in others if room[s] > 0], default=-1)
                places = [i for i, other in enumerate(pile) if prices[other >> 1] <= most]
                if searched or not places:
                    return None
                place = _pick(places, rng)
                pile[place], number = number, pile[place]
                price = prices[number >> 1]
                able = [s for s in others if room[s] > 0 and held[s] + price <= budgets[s]]
            seat = _pick(able, rng)
            room[seat] -= 1
            held[seat] += price
            state.unbuilt[unbuilt_index(seat, market * 10 + number)] += 1
    return held


def _share_cheapest(
    state: State, seen: View, room: list[int], means: list[tuple[int, int]], rng: random.Random
) -> list[int]:
    """Give the other seats the cheapest possible sections, shared so that every seat can pay.

    This is the fallback after random dealing has failed. Return, by seat, the total price of the
    sections dealt to the other seats.
    """
    prices = seen.rules.edition.prices
    others = [seat for seat in range(seen.rules.seats) if seat != seen.private.seat]
    unseen = unseen_sections(seen)
    indices: list[int] = []
    for market in range(4):
        for index in range(market * 10, market * 10 + 10):
            for seat in others:
                state.unbuilt[unbuilt_index(seat, index)] = 0
        pile, left = _of_market(seen, unseen, market)
        if not pile:
            shuffle(left, rng)
            left.sort(key=lambda number: prices[number >> 1], reverse=True)
            size = seen.public.pile_sizes[market]
            pile, left = left[:size], left[size:]
        shuffle(pile, rng)
        state.piles[market] = pile
        indices += [market * 10 + number for number in left]
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


def _of_market(seen: View, unseen: list[int], market: int) -> tuple[list[int], list[int]]:
    """Return a market's pile, if the seat is searching it, and the other sections unseen.

    Sections are given as numbers within their market.
    """
    searched = seen.private.searched_sections
    pile: list[int] = []
    if searched and searched[0].kind - 1 == market:
        pile = [MARKET_TYPES[market].index(section) for section in searched]
    left = [number for number in range(10) for _ in range(unseen[market * 10 + number])]
    for number in pile:
        left.remove(number)
    return pile, left


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
    left = gifts_taken(seen, ())
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
