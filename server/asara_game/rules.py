"""The rules in force: an edition, the rule sets and the number of seats, compiled into tables.

The engine looks facts up here instead of computing them at every decision. Tables that depend on
what is free, affordable or held are filled on demand. All matches of one `Rules` share them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from .actions import (
    Action,
    BuildCount,
    ChooseSpace,
    Decline,
    SearchPile,
    TakeSection,
    Wish,
)
from .edition import Edition
from .vocabulary import (
    MARKET_TYPES,
    Area,
    GiftCard,
    RuleSet,
    Section,
    SectionKind,
    Space,
    section_index,
)

RULES_VERSION: Final = 2
"""Increases with every change that would make an earlier match play differently."""

BASIC, PROFESSIONAL, GIFTS, GENIE = RuleSet

RULE_COMBINATIONS: Final[tuple[frozenset[RuleSet], ...]] = (
    frozenset({BASIC}),
    frozenset({BASIC, GIFTS}),
    frozenset({BASIC, PROFESSIONAL}),
    frozenset({BASIC, PROFESSIONAL, GIFTS}),
    frozenset({BASIC, PROFESSIONAL, GENIE}),
    frozenset({BASIC, PROFESSIONAL, GIFTS, GENIE}),
)
"""The six valid combinations, in the order of the README."""

_WORDS: Final = {"basic": BASIC, "pro": PROFESSIONAL, "gifts": GIFTS, "genie": GENIE}

DECLINE: Final = Decline()
SEARCHES: Final = tuple(SearchPile(kind) for kind in SectionKind)
"""By market."""
BUILD_COUNTS: Final = tuple(BuildCount(count) for count in range(16))
TAKES: Final[tuple[tuple[tuple[Action, ...], ...], ...]] = tuple(
    tuple(
        tuple(action for number, action in enumerate(actions) if bits >> number & 1)
        for bits in range(1 << len(actions))
    )
    for actions in (tuple(map(TakeSection, types)) for types in MARKET_TYPES)
)
"""By market, then by bits of its types: the actions that take one section of these types."""
TAKES_OR_DECLINE: Final[tuple[tuple[tuple[Action, ...], ...], ...]] = tuple(
    tuple((*actions, DECLINE) for actions in market) for market in TAKES
)
"""Like TAKES, with the option to decline."""
AREAS: Final = len(Area) + 1
"""Length of lists by area; index 0 is unused."""


def parse_rule_sets(text: str) -> frozenset[RuleSet]:
    """Parse a combination of rule sets, such as `pro+gifts`.

    Raise ValueError for an unknown rule set or an invalid combination.
    """
    chosen = {BASIC}
    for word in text.split("+"):
        if word.strip() not in _WORDS:
            raise ValueError(
                f"unknown rule set {word.strip()!r}; the rule sets are {', '.join(_WORDS)}"
            )
        chosen.add(_WORDS[word.strip()])
    _check_combination(chosen)
    return frozenset(chosen)


def format_rule_sets(rule_sets: Iterable[RuleSet]) -> str:
    """Return the text form that `parse_rule_sets` reads; `pro` includes `basic`."""
    chosen = set(rule_sets)
    words = [word for word, rule_set in _WORDS.items() if rule_set in chosen]
    return "+".join(words[1:] if PROFESSIONAL in chosen else words)


def _check_combination(rule_sets: Iterable[RuleSet]) -> None:
    chosen = set(rule_sets)
    if BASIC not in chosen:
        raise ValueError("every match is played with the basic rules")
    if GENIE in chosen and PROFESSIONAL not in chosen:
        raise ValueError("rule set 'genie' needs 'pro'; write 'pro+genie'")


@dataclass(frozen=True, slots=True, eq=False)
class SpaceInfo:
    """A space of the board, as the engine uses it."""

    space: Space
    area: int
    position: int
    """Position in the space's area, from 0."""
    bit: int
    """Bit of `position`."""
    cost: int
    """Asari to pay before the move (spies, tent, genie), or the number of a plot."""
    income: int
    """Asari that the move pays out: bank, coloured building."""
    chest: int
    """Index of the space's chest; -1 if gifts are never laid here."""
    choose: ChooseSpace
    wish: Wish


@dataclass(frozen=True, slots=True, eq=False)
class SectionInfo:
    """A type of section, as the engine uses it."""

    section: Section
    index: int
    """Index in SECTION_TYPES."""
    market: int
    number: int
    """Index among the types of its market in MARKET_TYPES."""
    bit: int
    """Bit of `number`."""
    price: int
    """Asari."""


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of a match. Raises ValueError for an invalid combination or number of seats."""

    edition: Edition
    rule_sets: frozenset[RuleSet]
    seats: int

    professional: bool = field(init=False)
    gifts: bool = field(init=False)
    genie: bool = field(init=False)

    # The board.
    spaces: tuple[SpaceInfo, ...] = field(init=False, repr=False)
    spaces_by_area: tuple[tuple[SpaceInfo, ...], ...] = field(init=False, repr=False)
    spaces_by_action: dict[Action, SpaceInfo] = field(init=False, repr=False)
    """Spaces by the action that chooses them: `ChooseSpace` or `Wish`."""
    board: tuple[int, ...] = field(init=False, repr=False)
    """By area: bits of all spaces of the area."""
    chests: tuple[SpaceInfo, ...] = field(init=False, repr=False)
    coloured_building: ChooseSpace = field(init=False, repr=False)

    # Buyers and gifts.
    buyers: tuple[int, ...] = field(init=False, repr=False)
    """Colours of all buyers, rising."""
    hand_size: int = field(init=False)
    """Number of buyers dealt to each seat."""
    gift_cards: tuple[GiftCard, ...] = field(init=False, repr=False)
    """The different gift cards."""
    gift_deck: tuple[int, ...] = field(init=False, repr=False)
    """All gift cards, as indices of `gift_cards`."""

    # Sections and lit windows.
    sections_by_action: dict[Action, SectionInfo] = field(init=False, repr=False)
    """Sections by the `TakeSection` action that buys them."""
    affordable_types: tuple[int, ...] = field(init=False, repr=False)
    """Bits of the section types that cost at most this many Asari, indexed by the Asari."""
    highest_price: int = field(init=False)
    lowest_offer: int = field(init=False)
    """Minimum number of Asari to pay in the House of Lighted Windows."""

    area_offers: tuple[dict[int, tuple[Action, ...]], ...] = field(init=False, repr=False)
    """Cached space offers by area. The methods below fill these tables and describe the keys."""

    def __post_init__(self) -> None:
        _check_combination(self.rule_sets)
        if self.seats not in (2, 3, 4):
            raise ValueError(f"a match has 2, 3 or 4 seats, not {self.seats!r}")
        edition = self.edition
        put = object.__setattr__  # elsewhere the object is frozen
        put(self, "professional", PROFESSIONAL in self.rule_sets)
        put(self, "gifts", GIFTS in self.rule_sets)
        put(self, "genie", GENIE in self.rule_sets)
        colours = enumerate(edition.buyers, 1)
        put(self, "buyers", tuple(colour for colour, count in colours for _ in range(count)))
        put(self, "hand_size", edition.hand_sizes[self.seats - 2])
        put(self, "lowest_offer", min(offer.asari for offer in edition.lit_offers))
        self._lay_out_board(put)
        self._lay_out_sections(put)

    def _lay_out_board(self, put: _Put) -> None:
        chest_spaces = self._lay_out_gifts(put)
        spaces = []
        for area, number, position, cost, income in self._printed():
            space = Space(area, number)
            chest = chest_spaces.index(space) if space in chest_spaces else -1
            spaces.append(
                SpaceInfo(
                    space=space,
                    area=int(area),
                    position=position,
                    bit=1 << position,
                    cost=cost,
                    income=income,
                    chest=chest,
                    choose=ChooseSpace(space),
                    wish=Wish(space),
                )
            )
        by_area = tuple(tuple(s for s in spaces if s.area == area) for area in range(AREAS))
        put(self, "spaces", tuple(spaces))
        put(self, "spaces_by_area", by_area)
        put(self, "spaces_by_action", {s.choose: s for s in spaces} | {s.wish: s for s in spaces})
        put(self, "coloured_building", by_area[Area.COLOURED_BUILDING][0].choose)
        put(self, "board", tuple(sum(s.bit for s in row) for row in by_area))
        chests = sorted((s for s in spaces if s.chest >= 0), key=lambda s: s.chest)
        put(self, "chests", tuple(chests))
        put(self, "area_offers", tuple({} for _ in range(AREAS)))

    def _lay_out_gifts(self, put: _Put) -> tuple[Space, ...]:
        """Return the spaces that have a chest."""
        edition = self.edition
        chests: tuple[Space, ...] = ()
        deck: tuple[tuple[GiftCard, int], ...] = ()
        if self.gifts:
            chests, deck = edition.chests, edition.gifts
            if self.professional:
                chests += edition.chests_professional
                deck += edition.gifts_professional
        counts: dict[GiftCard, int] = {}  # the edition may list a card in several rows
        for card, count in deck:
            counts[card] = counts.get(card, 0) + count
        put(self, "gift_cards", tuple(counts))
        indices = tuple(i for i, count in enumerate(counts.values()) for _ in range(count))
        put(self, "gift_deck", indices)
        return chests

    def _printed(self) -> Iterable[tuple[Area, int, int, int, int]]:
        """Yield area, number, position, cost and income of every space, area by area."""
        edition = self.edition
        for kind in SectionKind:
            for position in range(edition.market_spaces):
                yield Area(int(kind)), position + 1, position, 0, 0
        for position, plot in enumerate(edition.plots):
            yield Area.BUILDING_CIRCLE, plot, position, plot, 0
        for position, value in enumerate(edition.bank):
            yield Area.BANK, value, position, 0, value
        yield Area.COLOURED_BUILDING, 1, 0, 0, edition.coloured_building
        for position, cost in enumerate(edition.spies):
            yield Area.HOUSE_OF_SPIES, cost, position, cost, 0
        for position in range(edition.patronage_spaces):
            yield Area.CALIPHS_PATRONAGE, position + 1, position, 0, 0
        if self.professional:
            for position, cost in enumerate(edition.tent):
                yield Area.TENT, cost, position, cost, 0
            for position in range(edition.lit_spaces):
                yield Area.HOUSE_OF_LIGHTED_WINDOWS, position + 1, position, 0, 0
        if self.genie:
            for position, cost in enumerate(edition.genie):
                yield Area.HOUSE_OF_THE_BOTTLE_GENIE, cost, position, cost, 0

    def _lay_out_sections(self, put: _Put) -> None:
        prices = self.edition.prices
        infos = {}
        for market, types in enumerate(MARKET_TYPES):
            for number, section in enumerate(types):
                infos[TakeSection(section)] = SectionInfo(
                    section=section,
                    index=section_index(section),
                    market=market,
                    number=number,
                    bit=1 << number,
                    price=prices[section.colour - 1],
                )
        put(self, "sections_by_action", infos)
        highest = max(prices)
        put(self, "highest_price", highest)
        by_number = [prices[section.colour - 1] for section in MARKET_TYPES[0]]
        affordable = tuple(
            sum(1 << n for n, price in enumerate(by_number) if price <= asari)
            for asari in range(highest + 1)
        )
        put(self, "affordable_types", affordable)

    # A key determines the offered spaces of an area. The engine looks the key up in `area_offers`
    # first; these methods fill the table.

    def offer_alike(self, area: int, key: int) -> tuple[Action, ...]:
        """Return the spaces to offer in an area whose spaces differ only in their gift cards.

        The key holds the free spaces in bits 0-7 and the spaces with cards in bits 8-15. Only the
        first of the spaces without cards is offered.
        """
        offers = []
        plain = False
        for info in self.spaces_by_area[area]:
            if info.bit & key:
                gift = bool(info.bit & key >> 8)
                if gift or not plain:
                    offers.append(info.choose)
                plain = plain or not gift
        return self._remember(area, key, offers)

    def offer_payable(self, area: int, key: int) -> tuple[Action, ...]:
        """Return the free spaces of an area that the purse can pay for.

        The key holds the free spaces in bits 0-7 and the Asari, up to 60, from bit 8 on.
        """
        asari = key >> 8
        return self._remember(
            area,
            key,
            [
                info.choose
                for info in self.spaces_by_area[area]
                if info.bit & key and info.cost <= asari
            ],
        )

    def offer_plots(self, key: int) -> tuple[Action, ...]:
        """Return the free plots that the purse can pay for and where a build is possible.

        The key holds the free plots in bits 0-7, the Asari, up to 15, in bits 8-11, and from bit 12
        on the numbers of sections that can be built (see `build.buildable`).
        """
        area = int(Area.BUILDING_CIRCLE)
        asari, numbers = key >> 8 & 15, key >> 12
        return self._remember(
            area,
            key,
            [
                info.choose
                for info in self.spaces_by_area[area]
                if info.bit & key
                and info.cost <= asari
                and any(numbers >> n & 1 for n in self.plot_counts(info, key))
            ],
        )

    def _remember(self, area: int, key: int, offers: list[ChooseSpace]) -> tuple[Action, ...]:
        found = self.area_offers[area][key] = tuple(offers)
        return found

    def plot_counts(self, plot: SpaceInfo, free: int) -> list[int]:
        """Return the numbers of sections allowed on a plot, rising; `free` has bits of free plots.

        Allowed are the plot's own number and the numbers of the plots directly below it, down to
        the first free plot.
        """
        plots = self.spaces_by_area[Area.BUILDING_CIRCLE]
        counts = [plot.cost]
        for lower in reversed(plots[: plot.position]):
            if lower.bit & free:
                break
            counts.append(lower.cost)
        return counts[::-1]


class _Put(Protocol):
    """Type of `object.__setattr__`."""

    def __call__(self, target: object, name: str, value: object, /) -> None: ...
