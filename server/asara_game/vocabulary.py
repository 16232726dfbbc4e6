"""The words of the game. Their numbers are the same as in `proto/asara/v1/vocabulary.proto`."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Colour(IntEnum):
    """Colour of a tower section, in rising order of price."""

    BROWN = 1
    GREEN = 2
    RED = 3
    BLACK = 4
    WHITE = 5


class BuyerColour(IntEnum):
    """Colour of a buyer."""

    BLUE = 1
    YELLOW = 2
    PURPLE = 3
    GREEN = 4
    ORANGE = 5


class SectionKind(IntEnum):
    """Kind of a tower section, from the bottom of a tower to its top."""

    BASE = 1
    TRUNK = 2
    WINDOW = 3
    TURRET = 4


class Area(IntEnum):
    """Area of the board. Each of the four markets has the same number as its section kind."""

    BASE_MARKET = 1
    TRUNK_MARKET = 2
    WINDOW_MARKET = 3
    TURRET_MARKET = 4
    BUILDING_CIRCLE = 5
    BANK = 6
    COLOURED_BUILDING = 7
    HOUSE_OF_SPIES = 8
    CALIPHS_PATRONAGE = 9
    TENT = 10
    HOUSE_OF_LIGHTED_WINDOWS = 11
    HOUSE_OF_THE_BOTTLE_GENIE = 12


class RuleSet(IntEnum):
    """A rule set. `RULE_COMBINATIONS` lists the valid combinations."""

    BASIC = 1
    PROFESSIONAL = 2
    GIFTS = 3
    GENIE = 4


class GiftKind(IntEnum):
    """Effect of a gift card."""

    CHOOSE_BUYER = 1
    ASARI = 2
    BUY_SECTION = 3
    PRESTIGE = 4
    BUY_LIT_WINDOW = 5


class DecisionKind(IntEnum):
    """Kind of a decision. SPACE begins a turn; all other kinds follow within the turn."""

    SPACE = 1
    BUYERS = 2
    SECTION = 3
    BUILD_COUNT = 4
    BUILD = 5
    PILE = 6
    PILE_SECTION = 7
    LIT_OFFER = 8
    LIT_KEEP = 9
    WISH = 10
    GIFT_BUYER = 11
    GIFT_SECTION = 12
    GIFT_LIT_WINDOW = 13
    LIT_RETURN = 14


class Space(NamedTuple):
    """A space of the board: its area and printed number.

    If spaces have no printed number, the number is the space's position from 1.
    """

    area: Area
    number: int


class Section(NamedTuple):
    """A tower section. Sections with equal fields are interchangeable."""

    kind: SectionKind
    colour: Colour
    gold: bool


class GiftCard(NamedTuple):
    """A gift card; fields that do not apply to its kind are 0."""

    kind: GiftKind
    asari: int = 0
    prestige: int = 0
    section_kind: SectionKind | int = 0


class Tower(NamedTuple):
    """A standing tower. The counts do not include the base and the turret.

    In actions and events, a tower's number is its position in its owner's list, from 1.
    """

    colour: Colour
    base_gold: bool = False
    turret_gold: bool = False
    plain_trunks: int = 0
    gold_trunks: int = 0
    plain_windows: int = 0
    gold_windows: int = 0
    lit_plain: int = 0
    lit_gold: int = 0

    @property
    def height(self) -> int:
        """Number of sections, not counting lit windows."""
        return 2 + self.plain_trunks + self.gold_trunks + self.plain_windows + self.gold_windows

    @property
    def gold(self) -> int:
        """Number of visible gold decorations: those not covered by a lit window."""
        middle = self.gold_trunks + self.gold_windows - self.lit_gold
        return self.base_gold + self.turret_gold + middle

    @property
    def lit(self) -> int:
        """Number of lit windows in the tower."""
        return self.lit_plain + self.lit_gold

    @property
    def unlit_windows(self) -> int:
        """Number of windows that a lit window could cover."""
        return self.plain_windows + self.gold_windows - self.lit_plain - self.lit_gold


COLOURS = tuple(Colour)
MARKETS = tuple(SectionKind)
SECTION_TYPES: tuple[Section, ...] = tuple(
    Section(kind, colour, gold)
    for kind in SectionKind
    for colour in Colour
    for gold in (False, True)
)
"""All 40 types of section, by kind, colour and gold. Counts of sections use this order."""
MARKET_TYPES = tuple(SECTION_TYPES[start : start + 10] for start in range(0, 40, 10))
"""By market: the ten types that the market sells, numbered from 0 to 9."""
MIDDLE_KINDS = (SectionKind.TRUNK, SectionKind.WINDOW)
"""Kinds that go into the middle of a tower."""


def section_index(section: Section) -> int:
    """Return the index of a section in SECTION_TYPES."""
    kind, colour, gold = section
    return (kind - 1) * 10 + (colour - 1) * 2 + gold
