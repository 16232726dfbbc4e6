"""The rules in force: an edition, the rule sets and the number of seats, compiled into tables.

The engine looks things up here instead of working them out at every decision. Tables that depend on
what is free, affordable or held are filled when first needed, and shared by all matches of one
`Rules`.
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
    format_space,
)
from .edition import Edition, EditionError
from .vocabulary import (
    SECTION_TYPES,
    Area,
    GiftCard,
    RuleSet,
    Section,
    SectionKind,
    Space,
)

__all__ = ["RULE_COMBINATIONS", "Rules", "SpaceInfo", "format_rule_sets", "parse_rule_sets"]

#: Changes whenever a match played before would play differently.
RULES_VERSION: Final = 1

BASIC, PROFESSIONAL, GIFTS, GENIE = RuleSet

#: The six valid combinations, in the order of the rules page.
RULE_COMBINATIONS: Final[tuple[frozenset[RuleSet], ...]] = (
    frozenset({BASIC}),
    frozenset({BASIC, GIFTS}),
    frozenset({BASIC, PROFESSIONAL}),
    frozenset({BASIC, PROFESSIONAL, GIFTS}),
    frozenset({BASIC, PROFESSIONAL, GENIE}),
    frozenset({BASIC, PROFESSIONAL, GIFTS, GENIE}),
)

_WORDS: Final = {"basic": BASIC, "pro": PROFESSIONAL, "gifts": GIFTS, "genie": GENIE}

DECLINE: Final = Decline()
#: Entries of a table that is then begun anew, so that it cannot grow for ever.
_MANY: Final = 50_000
AREAS: Final = len(Area) + 1


def parse_rule_sets(text: str) -> frozenset[RuleSet]:
    """The combination that `pro+gifts` and the like name; raises ValueError."""
    chosen = {BASIC}
    for word in text.split("+"):
        if word.strip() not in _WORDS:
            raise ValueError(f"no rule set {word.strip()!r}; one of {', '.join(_WORDS)}")
        chosen.add(_WORDS[word.strip()])
    _check_combination(chosen)
    return frozenset(chosen)


def format_rule_sets(rule_sets: Iterable[RuleSet]) -> str:
    """`pro+gifts` and the like; `pro` stands for `basic` as well."""
    chosen = set(rule_sets)
    words = [word for word, rule_set in _WORDS.items() if rule_set in chosen]
    return "+".join(words[1:] if PROFESSIONAL in chosen else words)


def _check_combination(rule_sets: Iterable[RuleSet]) -> None:
    chosen = set(rule_sets)
    if BASIC not in chosen:
        raise ValueError("every match is played with the basic rules")
    if GENIE in chosen and PROFESSIONAL not in chosen:
        raise ValueError("rule set 'genie' needs 'pro': write 'pro+genie'")


@dataclass(frozen=True, slots=True, eq=False)
class SpaceInfo:
    """A space of the board, as the engine uses it."""

    space: Space
    area: int
    #: Position in its area, and the bit of that position.
    position: int
    bit: int
    #: Asari to pay before the move: spies, tent, genie; the number of a plot.
    cost: int
    #: Asari that the move pays out: bank, coloured building.
    income: int
    #: Index of its chest, -1 where gifts are never laid.
    chest: int
    choose: ChooseSpace
    wish: Wish


@dataclass(frozen=True, slots=True, eq=False)
class TakeInfo:
    """A section, as the engine uses it: where it is counted and what it costs."""

    section: Section
    market: int
    #: Index in a list of 40 counts by kind, colour, gold.
    index: int
    #: Its bit among the ten of its market.
    bit: int
    #: Index among a seat's 40 unbuilt sections, which are kept by colour, kind, gold.
    stock: int
    colour: int
    price: int


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of a match; raises ValueError for an invalid combination or number of seats."""

    edition: Edition
    rule_sets: frozenset[RuleSet]
    seats: int

    spaces: tuple[SpaceInfo, ...] = field(init=False, repr=False)
    by_area: tuple[tuple[SpaceInfo, ...], ...] = field(init=False, repr=False)
    by_action: dict[Action, SpaceInfo] = field(init=False, repr=False)
    #: Bits of all spaces, by area.
    board: tuple[int, ...] = field(init=False, repr=False)
    chests: tuple[SpaceInfo, ...] = field(init=False, repr=False)
    #: Kinds of gift cards, and the deck as indices of them.
    gift_cards: tuple[GiftCard, ...] = field(init=False, repr=False)
    gift_deck: tuple[int, ...] = field(init=False, repr=False)
    #: Colours of all buyers, rising.
    buyers: tuple[int, ...] = field(init=False, repr=False)
    hand_size: int = field(init=False)
    professional: bool = field(init=False)
    gifts: bool = field(init=False)
    genie: bool = field(init=False)
    by_section: dict[Action, TakeInfo] = field(init=False, repr=False)
    #: By market: for each mask of ten section types, the actions that take one of them;
    #: and those with the choice to decline.
    takes: tuple[tuple[tuple[Action, ...], ...], ...] = field(init=False, repr=False)
    may_take: tuple[tuple[tuple[Action, ...], ...], ...] = field(init=False, repr=False)
    #: Mask of the ten section types that Asari pay for, by Asari up to the highest price.
    affordable: tuple[int, ...] = field(init=False, repr=False)
    top_price: int = field(init=False)
    least_offer: int = field(init=False)
    #: By area: what is offered there, filled as needed.
    offers: tuple[dict[int, tuple[Action, ...]], ...] = field(init=False, repr=False)
    #: The offers of the four markets together.
    market_offers: dict[int, tuple[Action, ...]] = field(init=False, repr=False)
    coloured_building: ChooseSpace = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_combination(self.rule_sets)
        if self.seats not in (2, 3, 4):
            raise ValueError(f"a match has 2, 3 or 4 seats, not {self.seats}")
        edition = self.edition
        put = object.__setattr__  # the tables follow from the fields; the object stays frozen
        put(self, "professional", PROFESSIONAL in self.rule_sets)
        put(self, "gifts", GIFTS in self.rule_sets)
        put(self, "genie", GENIE in self.rule_sets)
        colours = enumerate(edition.buyers, 1)
        put(self, "buyers", tuple(colour for colour, count in colours for _ in range(count)))
        put(self, "hand_size", edition.hand_sizes[self.seats - 2])
        put(self, "least_offer", min(offer.asari for offer in edition.lit_offers))
        self._lay_out_board(put)
        self._lay_out_sections(put)

    def _lay_out_board(self, put: _Put) -> None:
        edition = self.edition
        chest_spaces: tuple[Space, ...] = ()
        deck: tuple[tuple[GiftCard, int], ...] = ()
        if self.gifts:
            chest_spaces, deck = edition.chests, edition.gifts
            if self.professional:
                chest_spaces += edition.chests_professional
                deck += edition.gifts_professional
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
        known = {info.space for info in spaces}
        for space in chest_spaces:
            if space not in known or space.area == Area.COLOURED_BUILDING:
                raise EditionError(f"chests: no space {format_space(space)!r} for a chest")
        by_area = tuple(tuple(s for s in spaces if s.area == area) for area in range(AREAS))
        put(self, "spaces", tuple(spaces))
        put(self, "by_area", by_area)
        put(self, "coloured_building", by_area[Area.COLOURED_BUILDING][0].choose)
        put(self, "board", tuple(sum(s.bit for s in row) for row in by_area))
        chests = sorted((s for s in spaces if s.chest >= 0), key=lambda s: s.chest)
        put(self, "chests", tuple(chests))
        put(self, "by_action", {s.choose: s for s in spaces} | {s.wish: s for s in spaces})
        counts: dict[GiftCard, int] = {}  # a card may be in several rows
        for card, count in deck:
            counts[card] = counts.get(card, 0) + count
        put(self, "gift_cards", tuple(counts))
        indices = tuple(i for i, count in enumerate(counts.values()) for _ in range(count))
        put(self, "gift_deck", indices)
        put(self, "market_offers", {})
        put(self, "offers", tuple({} for _ in range(AREAS)))

    def _printed(self) -> Iterable[tuple[Area, int, int, int, int]]:
        """Area, number, position, cost and income of every space, in the order of the areas."""
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
        infos = []
        for index, section in enumerate(SECTION_TYPES):
            colour = section.colour - 1
            infos.append(
                TakeInfo(
                    section=section,
                    market=section.kind - 1,
                    index=index,
                    bit=1 << (index % 10),
                    stock=colour * 8 + (section.kind - 1) * 2 + section.gold,
                    colour=colour,
                    price=prices[colour],
                )
            )
        actions = [TakeSection(section) for section in SECTION_TYPES]
        put(self, "by_section", dict(zip(actions, infos, strict=True)))
        takes = tuple(
            tuple(
                tuple(actions[market * 10 + i] for i in range(10) if mask >> i & 1)
                for mask in range(1 << 10)
            )
            for market in range(4)
        )
        put(self, "takes", takes)
        may_take = tuple(tuple((*options, DECLINE) for options in market) for market in takes)
        put(self, "may_take", may_take)
        top = max(prices)
        put(self, "top_price", top)
        affordable = tuple(
            sum(1 << i for i in range(10) if prices[i // 2] <= asari) for asari in range(top + 1)
        )
        put(self, "affordable", affordable)

    # The offers of an area by a key that says all they depend on. The engine looks into `offers`
    # first; these fill it.

    def markets(self, key: int) -> tuple[Action, ...]:
        """Free spaces of the markets; the key has a byte of free spaces for each of the four, then
        a byte of those with cards for each.
        """
        if len(self.market_offers) > _MANY:
            self.market_offers.clear()
        options: list[Action] = []
        for area in (1, 2, 3, 4):
            own = key >> 8 * area - 8 & 255 | (key >> 8 * area + 24 & 255) << 8
            options += self.offers[area].get(own) or self.plain_spaces(area, own)
        found = self.market_offers[key] = tuple(options)
        return found

    def plain_spaces(self, area: int, key: int) -> tuple[Action, ...]:
        """Free spaces of an area whose spaces are alike but for the cards they hold.

        The key has the free spaces in bits 0-7, those with cards in bits 8-15. Of the spaces
        without cards the first is offered.
        """
        options = []
        plain = False
        for info in self.by_area[area]:
            if info.bit & key:
                gifted = bool(info.bit & key >> 8)
                if gifted or not plain:
                    options.append(info.choose)
                plain = plain or not gifted
        return self._remember(area, key, options)

    def priced_spaces(self, area: int, key: int) -> tuple[Action, ...]:
        """Free spaces that the purse can pay; the key has the Asari from bit 8 on, up to 60."""
        asari = key >> 8
        return self._remember(
            area,
            key,
            [info.choose for info in self.by_area[area] if info.bit & key and info.cost <= asari],
        )

    def plots(self, key: int) -> tuple[Action, ...]:
        """Free plots that can be paid and where an allowed number of sections can be built.

        The key has the Asari, up to 15, in bits 8-11, and from bit 12 on the numbers of sections
        that can be built, see `build.reachable`.
        """
        area = int(Area.BUILDING_CIRCLE)
        asari, numbers = key >> 8 & 15, key >> 12
        return self._remember(
            area,
            key,
            [
                info.choose
                for info in self.by_area[area]
                if info.bit & key
                and info.cost <= asari
                and any(numbers >> n & 1 for n in self.plot_counts(info, key))
            ],
        )

    def _remember(self, area: int, key: int, options: list[ChooseSpace]) -> tuple[Action, ...]:
        found = self.offers[area][key] = tuple(options)
        return found

    def plot_counts(self, plot: SpaceInfo, free: int) -> list[int]:
        """Numbers of sections that may be built on a plot, given the free ones, rising.

        The plot's own number, and those of the plots right below it that are all occupied.
        """
        plots = self.by_area[Area.BUILDING_CIRCLE]
        counts = [plot.cost]
        for lower in reversed(plots[: plot.position]):
            if lower.bit & free:
                break
            counts.append(lower.cost)
        return counts[::-1]


class _Put(Protocol):
    """The type of `object.__setattr__`."""

    def __call__(self, target: object, name: str, value: object, /) -> None: ...


SEARCHES: Final = tuple(SearchPile(kind) for kind in SectionKind)
COUNTS: Final = tuple(BuildCount(n) for n in range(16))
