"""The course of a match, from turn to turn and from year to year."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .actions import Action
from .build import buildable
from .events import (
    DisplayFilled,
    Event,
    GiftLaid,
    IncomeReceived,
    YearStarted,
)
from .scoring import final_evaluation, year_evaluation
from .state import BUYERS, GIFTS, LIT_WINDOWS, MASK, NOT_COUNTED, State, pack_hand
from .vocabulary import MARKET_TYPES, Area, DecisionKind, GiftKind

_SPACE: Final = DecisionKind.SPACE
_CIRCLE, _BANK, _COLOURED = int(Area.BUILDING_CIRCLE), int(Area.BANK), int(Area.COLOURED_BUILDING)
_SPIES, _PATRONAGE = int(Area.HOUSE_OF_SPIES), int(Area.CALIPHS_PATRONAGE)
_TENT, _LIT_HOUSE = int(Area.TENT), int(Area.HOUSE_OF_LIGHTED_WINDOWS)
_ASARI: Final = GiftKind.ASARI
_GENIE = int(Area.HOUSE_OF_THE_BOTTLE_GENIE)


def end_turn(state: State, events: list[Event]) -> None:
    """Let the next seat that holds a buyer dispatch, or end the year if no seat holds any."""
    sizes = state.hand_sizes
    seats = len(sizes)
    seat = state.turn_seat
    for _ in range(seats):
        seat += 1
        if seat == seats:
            seat = 0
        if sizes[seat]:
            state.turn_seat = state.seat = seat
            state.kind = _SPACE
            state.legal = space_options(state, seat)
            return
    end_year(state, events)


def space_options(state: State, seat: int) -> list[Action]:
    """Return the spaces to which a seat may dispatch.

    A space must be free, the seat must have buyers that fit, and it must be able to make the move
    (ruling R2). Asari from gift cards on the space count towards the cost (ruling R19).
    """
    rules = state.rules
    offers = rules.area_offers
    asari = state.money[seat]
    free = state.free_spaces if state.hand_sizes[seat] > 1 else _fitting(state, seat)
    gifts = state.gift_spaces
    legal: list[Action] = []
    for area in (1, 2, 3, 4):
        if free[area]:
            key = free[area] | gifts[area] << 8
            legal += offers[area].get(key) or rules.offer_alike(area, key)
    _, _, _, _, _, circle, bank, _, spies, patronage, tent, lit, genie = free
    if circle and (asari or gifts[_CIRCLE]):
        numbers = state.buildable_counts[seat]
        if numbers == NOT_COUNTED:
            numbers = buildable_counts(state, seat)
        if numbers > 1:
            key = circle | (asari if asari < 15 else 15) << 8 | numbers << 12
            plots = offers[_CIRCLE].get(key)
            if gifts[_CIRCLE]:
                plots = _payable_with_gifts(state, rules.offer_plots(key | 15 << 8), asari)
            legal += rules.offer_plots(key) if plots is None else plots
    if bank:
        legal += offers[_BANK].get(bank) or rules.offer_payable(_BANK, bank)
    legal.append(rules.coloured_building)
    if spies:
        base_pile, trunk_pile, window_pile, turret_pile = state.piles
        if base_pile or trunk_pile or window_pile or turret_pile:
            legal += _payable(state, _SPIES, spies, asari)
    if patronage:
        key = patronage | gifts[_PATRONAGE] << 8
        legal += offers[_PATRONAGE].get(key) or rules.offer_alike(_PATRONAGE, key)
    if rules.professional:
        if tent and state.buyer_pile:
            legal += _payable(state, _TENT, tent, asari)
        if lit and state.lit_stack:
            legal += _lit_house(state, lit, asari)
        if genie:
            legal += _payable(state, _GENIE, genie, asari)
    return legal


def _lit_house(state: State, free: int, asari: int) -> tuple[Action, ...]:
    rules = state.rules
    gifts = state.gift_spaces[_LIT_HOUSE]
    payable = asari >= rules.lowest_offer
    if not payable and not gifts:
        return ()
    key = free | gifts << 8
    every = rules.area_offers[_LIT_HOUSE].get(key) or rules.offer_alike(_LIT_HOUSE, key)
    return every if payable else _payable_with_gifts(state, every, asari)


def _payable(state: State, area: int, free: int, asari: int) -> tuple[Action, ...]:
    rules = state.rules
    if state.gift_spaces[area]:
        every = rules.offer_payable(area, free | 60 << 8)
        return _payable_with_gifts(state, every, asari)
    key = free | (asari if asari < 60 else 60) << 8
    found = rules.area_offers[area].get(key)
    return rules.offer_payable(area, key) if found is None else found


def _payable_with_gifts(state: State, spaces: Iterable[Action], asari: int) -> tuple[Action, ...]:
    """Return the spaces that the purse can pay for with the space's gift cards (ruling R19)."""
    rules = state.rules
    payable = []
    for action in spaces:
        info = rules.spaces_by_action[action]
        cost = rules.lowest_offer if info.area == _LIT_HOUSE else info.cost
        cards = state.chests[info.chest] if info.chest >= 0 else ()
        if cost <= asari + sum([card.asari for card in cards if card.kind == _ASARI]):
            payable.append(action)
    return tuple(payable)


def _fitting(state: State, seat: int) -> list[int]:
    """Return the free spaces by area.

    If the seat's only buyer has the wrong colour for an area, the area has no spaces.
    """
    hand = state.hands[seat]
    free = state.free_spaces[:]
    for area, colour in enumerate(state.area_colours):
        if colour and not hand & MASK[colour]:
            free[area] = 0
    return free


def buildable_counts(state: State, seat: int) -> int:
    """Return the numbers of sections that a seat could build now (see `build.buildable`)."""
    numbers = state.buildable_counts[seat]
    if numbers == NOT_COUNTED:
        numbers = state.buildable_counts[seat] = buildable(
            state.unbuilt_of(seat),
            state.lit_held_by(seat),
            state.unlit_windows_of(seat),
            state.towers[seat],
        )
    return numbers


def end_year(state: State, events: list[Event]) -> None:
    """Evaluate the year, then start the next year or evaluate the match."""
    rules = state.rules
    for evaluated in year_evaluation(state.towers, state.patronage_seat):
        state.prestige[evaluated.seat] += evaluated.prestige
        events.append(evaluated)
    if state.year < rules.edition.years:
        start_year(state, events)
        return
    for final in final_evaluation(rules.edition, state.towers, state.money):
        state.prestige[final.seat] += final.prestige
        events.append(final)
    state.seat = -1
    state.legal = ()


def start_year(state: State, events: list[Event]) -> None:
    """Clear the board, deal all buyers, fill the displays and chests, and pay every seat."""
    rules = state.rules
    edition = rules.edition
    state.year += 1
    state.free_spaces = list(rules.board)
    state.area_colours = [0] * len(state.area_colours)
    state.dispatched = [()] * len(state.dispatched)
    state.face_down = []
    events.append(YearStarted(state.patronage_seat, state.year, rules.hand_size))
    pile = list(rules.buyers)
    state.shuffle(BUYERS, pile)
    for seat in range(rules.seats):
        state.hands[seat] = pack_hand(pile[-rules.hand_size :])
        state.hand_sizes[seat] = rules.hand_size
        del pile[-rules.hand_size :]
    state.buyer_pile = pile
    for seat in range(rules.seats):
        asari = edition.starting_asari[seat] if state.year == 1 else edition.yearly_asari
        state.money[seat] += asari
        events.append(IncomeReceived(seat, asari))
    for market in range(4):
        _fill_display(state, market, events)
    for info in rules.chests:
        if state.gift_deck:
            card = rules.gift_cards[state.gift_deck.pop()]
            state.chests[info.chest] += (card,)
            state.gift_spaces[info.area] |= info.bit
            events.append(GiftLaid(0, info.space, card))
    state.turn_seat = state.seat = state.patronage_seat
    state.kind = _SPACE
    state.legal = space_options(state, state.seat)


def _fill_display(state: State, market: int, events: list[Event]) -> None:
    pile = state.piles[market]
    missing = state.rules.edition.display_size - sum(state.display_of(market))
    added = sorted(pile[-missing:]) if missing else []
    if not added:
        return
    del pile[-len(added) :]
    types = MARKET_TYPES[market]
    for number in added:
        state.display_counts[market * 10 + number] += 1
        state.types_on_display[market] |= 1 << number
    events.append(DisplayFilled(0, tuple([types[number] for number in added])))


def set_up(state: State) -> None:
    """Shuffle the piles, the lit windows and the gifts, before the first year."""
    rules = state.rules
    for market, rows in enumerate(rules.edition.tiles):
        counts = [count for colour in rows for count in colour]
        pile = [number for number, count in enumerate(counts) for _ in range(count)]
        state.shuffle(market, pile)
        state.piles[market] = pile
    if rules.professional:
        lit = rules.edition.lit_windows
        state.lit_stack = [c for c, count in enumerate(lit, 1) for _ in range(count)]
        state.shuffle(LIT_WINDOWS, state.lit_stack)
    if rules.gifts:
        state.gift_deck = list(rules.gift_deck)
        state.shuffle(GIFTS, state.gift_deck)
