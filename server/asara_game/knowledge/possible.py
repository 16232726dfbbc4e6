"""The limits of what a view leaves open: what other seats can hold, and what they can know.

All limits follow from the rules and from public facts: every section in a tower was paid for, no
space pays more than its printed amount, and every lit window that a seat keeps was paid for. The
limits are not the tightest possible, but no course of play can exceed them. `determinize` deals
within the limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

from asara_game.rules import Rules, SpaceInfo
from asara_game.view import PublicView, View
from asara_game.vocabulary import (
    Area,
    DecisionKind,
    GiftKind,
    Space,
)

UNLIMITED: Final = 10**6
"""Stands for no limit: by the second year, a seat may have bought any number of sections."""

_TURRET_MARKET: Final = int(Area.TURRET_MARKET)
_CIRCLE, _SPIES, _TENT = int(Area.BUILDING_CIRCLE), int(Area.HOUSE_OF_SPIES), int(Area.TENT)
_LIT_HOUSE = int(Area.HOUSE_OF_LIGHTED_WINDOWS)
_GENIE = int(Area.HOUSE_OF_THE_BOTTLE_GENIE)


class SpaceLimits(NamedTuple):
    """The effect of one dispatch to a space, not counting gift cards."""

    info: SpaceInfo
    least_first: int
    """Minimum gain in Asari in the first year; section prices are counted separately."""
    most_first: int
    """Maximum gain in Asari in the first year; section prices are counted separately."""
    least: int
    """Minimum gain in Asari, sections included."""
    most: int
    """Maximum gain in Asari. Plots, sections and lit windows are counted separately, by seat."""
    sections: int
    """Number of sections that a dispatch to the space can bring."""
    chest: int
    """1 if gift cards are laid on the space, else 0."""


class Limits(NamedTuple):
    """The limits that follow from the rules of a match alone."""

    spaces: dict[Space, SpaceLimits]
    year_most: int
    """Maximum gain of a seat from its moves in one year, in Asari."""
    card_price: int
    """Maximum price in Asari that a gift card can ask."""
    lit_card_price: int
    """Maximum price in Asari of a gift card that gives a lit window; 0 if there is no such card."""
    lit_cards: frozenset[int]
    """Gift cards that give a lit window, as indices of `rules.gift_cards`."""
    lit_total: int
    """Number of lit windows in the game."""
    drawn_least: float
    """Minimum number of lit windows drawn for each one that is kept."""
    drawn_most: float
    returned_most: float
    """Maximum number of windows put under the stack for each one that is kept."""
    returned_at_once: int
    """Maximum number of windows put under the stack in one visit."""
    lit_price: float
    """Minimum number of Asari paid for a lit window."""


@lru_cache(maxsize=64)
def limits_of(rules: Rules) -> Limits:
    """Return the limits of a match with these rules."""
    edition = rules.edition
    offers = edition.lit_offers
    lit_cards = [card for card in rules.gift_cards if card.kind == GiftKind.BUY_LIT_WINDOW]
    lit_card_price = max((card.asari for card in lit_cards), default=0)
    prices = [offer.asari / offer.kept for offer in offers] + [card.asari for card in lit_cards]
    return Limits(
        spaces={info.space: _space_limits(rules, info) for info in rules.spaces},
        year_most=_most_in_a_year(rules),
        card_price=max(rules.highest_price, lit_card_price),
        lit_card_price=lit_card_price,
        lit_cards=frozenset(map(rules.gift_cards.index, lit_cards)),
        lit_total=sum(edition.lit_windows),
        drawn_least=min(offer.drawn / offer.kept for offer in offers),
        drawn_most=max(offer.drawn / offer.kept for offer in offers),
        returned_most=max((offer.drawn - offer.kept) / offer.kept for offer in offers),
        returned_at_once=max(offer.drawn - offer.kept for offer in offers),
        lit_price=min(prices),
    )


def _space_limits(rules: Rules, info: SpaceInfo) -> SpaceLimits:
    area, cost, income = info.area, info.cost, info.income
    offers = [offer.asari for offer in rules.edition.lit_offers]
    section = rules.highest_price
    lost = info.chest >= 0  # a gift card may leave the seat unable to move (ruling R10)
    if area <= _TURRET_MARKET:
        found = (0, 0, -section, 0, 1)
    elif area == _CIRCLE:
        found = (-cost, -cost, -cost, 0, 0)
    elif area == _SPIES:
        found = (-cost, -cost, -cost - section, -cost, 1)
    elif area == _LIT_HOUSE:
        found = (-max(offers), -min(offers), -max(offers), 0, 0)
    elif area == _GENIE:
        edition = rules.edition
        costs = (*edition.plots, *edition.spies, *edition.tent, *offers)
        dearest = max(*costs, section, max(edition.spies) + section)
        best = _most_of_a_wish(rules) - cost
        found = (-cost - max(costs), best, -cost - dearest, best, 1)
    else:
        found = (income - cost, income - cost, income - cost, income - cost, 0)
    least_first, most_first, least, most, sections = found
    if lost and not income:
        most_first, most = max(most_first, 0), max(most, 0)
    return SpaceLimits(info, least_first, most_first, least, most, sections, int(lost))


def _most_of_a_wish(rules: Rules) -> int:
    return max(*rules.edition.bank, rules.edition.coloured_building)


def _most_in_a_year(rules: Rules) -> int:
    """Return the maximum a seat can gain from its moves in a year if it buys and builds nothing.

    The seat sends all its buyers to the coloured building, except for buyers that earn more
    elsewhere or recruit other buyers in the tent.
    """
    edition = rules.edition
    coloured = edition.coloured_building
    wish = _most_of_a_wish(rules)
    genie = edition.genie if rules.genie else ()
    tents = edition.tent if rules.professional else ()
    better = [max(0, value - coloured) for value in edition.bank]
    better += [max(0, wish - cost - coloured) for cost in genie]
    better.sort(reverse=True)
    in_pile = len(rules.buyers) - rules.seats * rules.hand_size
    chosen = sum(rules.gift_cards[i].kind == GiftKind.CHOOSE_BUYER for i in rules.gift_deck)
    most = 0
    for used in range(len(tents) + 1):
        recruits = chosen + edition.tent_buyers * (used + len(genie)) if tents else chosen
        buyers = rules.hand_size + min(in_pile, recruits) - used
        gain = buyers * coloured + sum(better[: max(buyers, 0)]) - sum(tents[:used])
        most = max(most, gain)
    return most


# Other seats.


class SeatLimits:
    """The limits set by other seats' dispatches this year; lists are by seat.

    - `least`, `most`: minimum and maximum gain in Asari from the dispatches
    - `chests`: number of dispatches to chest spaces
    - `room`: number of unbuilt sections that the seat can hold
    - `spent`: minimum number of Asari that the seat has paid for what it has built
    """

    __slots__ = ("chests", "least", "most", "room", "spent")

    def __init__(self, seen: View, limits: Limits) -> None:
        public, rules = seen.public, seen.rules
        seats = rules.seats
        first = public.year == 1
        self.least = [0] * seats
        self.most = [0] * seats
        self.chests = [0] * seats
        self.room = [0 if first else UNLIMITED] * seats
        self.spent = [0] * seats
        spaces = limits.spaces
        for marks in public.dispatched:
            for space, seat, _ in marks:
                _, least_first, most_first, least, most, sections, chest = spaces[space]
                self.chests[seat] += chest
                self.room[seat] += sections + chest
                self.least[seat] += least_first if first else least
                self.most[seat] += most_first if first else most
        prices = rules.edition.prices
        for seat, known in enumerate(public.seats):
            lit = known.lit_windows
            for tower in known.towers:
                sections = tower.height
                self.room[seat] -= sections
                self.spent[seat] += sections * prices[tower.colour - 1]
                lit += tower.lit
                if not first:  # what was paid for plots; those of the first year are in `most`
                    self.spent[seat] += sections + tower.lit
            if not first:
                self.spent[seat] += int(lit * limits.lit_price)

    def means(self, seen: View, limits: Limits, seat: int, gift: int) -> tuple[int, int]:
        """Return the minimum and maximum Asari a seat can have, assuming it holds no sections.

        `gift` is the number of Asari on all gift cards taken. The maximum is also the maximum price
        of the sections that the seat can hold, not counting the amount it has to keep (see
        `purse`). The purse starts with the starting money or, after the first year, with at least
        the yearly income.
        """
        edition = seen.rules.edition
        year = seen.public.year
        starting = edition.starting_asari[seat]
        paid = self.spent[seat]
        chests = self.chests[seat]
        if year == 1:
            low = starting + self.least[seat] - paid - limits.lit_card_price * chests
            high = starting + self.most[seat] - paid + (gift if chests else 0)
        else:
            low = edition.yearly_asari + self.least[seat] - limits.card_price * chests * year
            earlier = (year - 1) * (edition.yearly_asari + limits.year_most)
            high = starting + earlier + self.most[seat] - paid + gift
        return low, high


def purse(means: tuple[int, int], year: int, held: int) -> tuple[int, int]:
    """Return the minimum and maximum Asari of a seat with these means.

    `held` is the total price of the sections that the seat holds. If the minimum exceeds the
    maximum, the seat cannot have paid for them.
    """
    low, high = means
    if year == 1:  # later, money of earlier years may have paid for the sections
        low -= held
    return max(low, 0), high - held


# The stack of lit windows (ruling R9): those put under it lie below all whose place nobody knows,
# until a gift card lets somebody search the stack, which is shuffled then.


def kept_lit_windows(public: PublicView, seat: int) -> int:
    """Return how many lit windows a seat has kept so far, built or not."""
    known = public.seats[seat]
    return known.lit_windows + sum([tower.lit for tower in known.towers])


def lit_room(seen: View, limits: Limits) -> list[int]:
    """Return how many stack places each seat can know; 0 for the view's own seat."""
    public = seen.public
    own = seen.private.seat
    return [
        0 if seat == own else int(kept_lit_windows(public, seat) * limits.returned_most)
        for seat in range(seen.rules.seats)
    ]


def unknown_lit_windows(
    seen: View, limits: Limits, room: Sequence[int], shuffled: bool
) -> tuple[int, int]:
    """Return the minimum and maximum number of stack windows whose places nobody knows.

    `shuffled` is True if a gift card may have let somebody search the stack. If the minimum exceeds
    the maximum, a card must have done so.
    """
    public, own = seen.public, seen.private
    size = public.lit_stack_size
    known = own.known_lit_windows
    kept = sum([kept_lit_windows(public, seat) for seat in range(seen.rules.seats)])
    left = limits.lit_total
    if seen.decision is not None and seen.decision.kind == DecisionKind.LIT_KEEP:
        left -= len(own.searched_lit_windows)
    least = max(0, left - int(kept * limits.drawn_most), size - len(known) - sum(room))
    most = size if shuffled else max(0, left - ceil(kept * limits.drawn_least))
    if known:
        most = min(most, known[0][0])
    return least, most


# States.


def check_moment(seen: View) -> None:
    """Raise ValueError for a view from within another seat's turn."""
    if seen.decision is None:
        public = seen.public
        hands = any(seat.hand_size for seat in public.seats)
        if hands or public.year != seen.rules.edition.years:
            raise ValueError("the view is from within another seat's turn")


def gifts_taken(seen: View, deck: Sequence[int]) -> list[int]:
    """Return the gift cards taken so far, given this deck, as indices of `rules.gift_cards`."""
    rules = seen.rules
    left = list(rules.gift_deck)
    for card in deck:
        left.remove(card)
    lying = [card for _, cards in seen.public.chests for card in cards]
    if seen.decision is not None:
        lying += seen.decision.gifts
    for card in map(rules.gift_cards.index, lying):
        left.remove(card)
    return left


def gift_asari(rules: Rules, taken: Iterable[int]) -> int:
    """Return the number of Asari that these gift cards give."""
    cards = rules.gift_cards
    return sum([cards[i].asari for i in taken if cards[i].kind == GiftKind.ASARI])
