"""The vocabulary of the game: components, actions and the edition."""

from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Colour(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Colour of a tower section, in ascending order of price."""
    __slots__ = ()
    COLOUR_UNSPECIFIED: _ClassVar[Colour]
    """No colour; never sent for a section."""
    COLOUR_BROWN: _ClassVar[Colour]
    """The cheapest colour."""
    COLOUR_GREEN: _ClassVar[Colour]
    """Second by price."""
    COLOUR_RED: _ClassVar[Colour]
    """Third by price."""
    COLOUR_BLACK: _ClassVar[Colour]
    """Fourth by price."""
    COLOUR_WHITE: _ClassVar[Colour]
    """The most expensive colour."""

class BuyerColour(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Colour of a buyer."""
    __slots__ = ()
    BUYER_COLOUR_UNSPECIFIED: _ClassVar[BuyerColour]
    """No buyer, or a colour hidden from the receiver."""
    BUYER_COLOUR_BLUE: _ClassVar[BuyerColour]
    """A blue buyer."""
    BUYER_COLOUR_YELLOW: _ClassVar[BuyerColour]
    """A yellow buyer."""
    BUYER_COLOUR_PURPLE: _ClassVar[BuyerColour]
    """A purple buyer."""
    BUYER_COLOUR_GREEN: _ClassVar[BuyerColour]
    """A green buyer."""
    BUYER_COLOUR_ORANGE: _ClassVar[BuyerColour]
    """An orange buyer."""

class SectionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Kind of a tower section; each kind has its own market and pile."""
    __slots__ = ()
    SECTION_KIND_UNSPECIFIED: _ClassVar[SectionKind]
    """Never a section."""
    SECTION_KIND_BASE: _ClassVar[SectionKind]
    """The bottom of a tower; exactly one."""
    SECTION_KIND_TRUNK: _ClassVar[SectionKind]
    """A middle section; any number."""
    SECTION_KIND_WINDOW: _ClassVar[SectionKind]
    """A middle section that a lit window can cover; any number."""
    SECTION_KIND_TURRET: _ClassVar[SectionKind]
    """The top of a tower; exactly one."""

class Area(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Area of the board; all buyers in one area follow one colour."""
    __slots__ = ()
    AREA_UNSPECIFIED: _ClassVar[Area]
    """Never an area."""
    AREA_BASE_MARKET: _ClassVar[Area]
    """Sells bases."""
    AREA_TRUNK_MARKET: _ClassVar[Area]
    """Sells trunks."""
    AREA_WINDOW_MARKET: _ClassVar[Area]
    """Sells windows."""
    AREA_TURRET_MARKET: _ClassVar[Area]
    """Sells turrets."""
    AREA_BUILDING_CIRCLE: _ClassVar[Area]
    """Builds towers."""
    AREA_BANK: _ClassVar[Area]
    """Pays the value of the space."""
    AREA_COLOURED_BUILDING: _ClassVar[Area]
    """Pays a fixed sum; accepts any number of face-down buyers and has no colour."""
    AREA_HOUSE_OF_SPIES: _ClassVar[Area]
    """Searches a pile, for a bribe."""
    AREA_CALIPHS_PATRONAGE: _ClassVar[Area]
    """Gives the patronage tile."""
    AREA_TENT: _ClassVar[Area]
    """Recruits buyers (professional)."""
    AREA_HOUSE_OF_LIGHTED_WINDOWS: _ClassVar[Area]
    """Sells lit windows (professional)."""
    AREA_HOUSE_OF_THE_BOTTLE_GENIE: _ClassVar[Area]
    """Grants the move of another area (genie)."""

class RuleSet(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """A part of the rules; a match combines one or more."""
    __slots__ = ()
    RULE_SET_UNSPECIFIED: _ClassVar[RuleSet]
    """Never a rule set."""
    RULE_SET_BASIC: _ClassVar[RuleSet]
    """The basic game; part of every match."""
    RULE_SET_PROFESSIONAL: _ClassVar[RuleSet]
    """Tent and House of Lighted Windows."""
    RULE_SET_GIFTS: _ClassVar[RuleSet]
    """The Gifts of the Caliph."""
    RULE_SET_GENIE: _ClassVar[RuleSet]
    """House of the Bottle Genie; needs the professional rules."""

class GiftKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Effect of a gift card."""
    __slots__ = ()
    GIFT_KIND_UNSPECIFIED: _ClassVar[GiftKind]
    """Never a card."""
    GIFT_KIND_CHOOSE_BUYER: _ClassVar[GiftKind]
    """Search the buyer pile and take one buyer."""
    GIFT_KIND_ASARI: _ClassVar[GiftKind]
    """Take the card's Asari."""
    GIFT_KIND_BUY_SECTION: _ClassVar[GiftKind]
    """Buy one section from the display of the card's market."""
    GIFT_KIND_PRESTIGE: _ClassVar[GiftKind]
    """Take the card's prestige."""
    GIFT_KIND_BUY_LIT_WINDOW: _ClassVar[GiftKind]
    """Search the stack of lit windows and buy one."""
COLOUR_UNSPECIFIED: Colour
COLOUR_BROWN: Colour
COLOUR_GREEN: Colour
COLOUR_RED: Colour
COLOUR_BLACK: Colour
COLOUR_WHITE: Colour
BUYER_COLOUR_UNSPECIFIED: BuyerColour
BUYER_COLOUR_BLUE: BuyerColour
BUYER_COLOUR_YELLOW: BuyerColour
BUYER_COLOUR_PURPLE: BuyerColour
BUYER_COLOUR_GREEN: BuyerColour
BUYER_COLOUR_ORANGE: BuyerColour
SECTION_KIND_UNSPECIFIED: SectionKind
SECTION_KIND_BASE: SectionKind
SECTION_KIND_TRUNK: SectionKind
SECTION_KIND_WINDOW: SectionKind
SECTION_KIND_TURRET: SectionKind
AREA_UNSPECIFIED: Area
AREA_BASE_MARKET: Area
AREA_TRUNK_MARKET: Area
AREA_WINDOW_MARKET: Area
AREA_TURRET_MARKET: Area
AREA_BUILDING_CIRCLE: Area
AREA_BANK: Area
AREA_COLOURED_BUILDING: Area
AREA_HOUSE_OF_SPIES: Area
AREA_CALIPHS_PATRONAGE: Area
AREA_TENT: Area
AREA_HOUSE_OF_LIGHTED_WINDOWS: Area
AREA_HOUSE_OF_THE_BOTTLE_GENIE: Area
RULE_SET_UNSPECIFIED: RuleSet
RULE_SET_BASIC: RuleSet
RULE_SET_PROFESSIONAL: RuleSet
RULE_SET_GIFTS: RuleSet
RULE_SET_GENIE: RuleSet
GIFT_KIND_UNSPECIFIED: GiftKind
GIFT_KIND_CHOOSE_BUYER: GiftKind
GIFT_KIND_ASARI: GiftKind
GIFT_KIND_BUY_SECTION: GiftKind
GIFT_KIND_PRESTIGE: GiftKind
GIFT_KIND_BUY_LIT_WINDOW: GiftKind

class Space(_message.Message):
    """A space of the board."""
    __slots__ = ("area", "number")
    AREA_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    area: Area
    """The area."""
    number: int
    """The number printed on it (plot, value or cost); if there is none, 1 to the number of spaces.
    """
    def __init__(self, area: _Optional[_Union[Area, str]] = ..., number: _Optional[int] = ...) -> None: ...

class Section(_message.Message):
    """A tower section; sections with equal fields are interchangeable."""
    __slots__ = ("kind", "colour", "gold")
    KIND_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    kind: SectionKind
    """Base, trunk, window or turret."""
    colour: Colour
    """Colour, which determines the price."""
    gold: bool
    """True if it has a gold decoration."""
    def __init__(self, kind: _Optional[_Union[SectionKind, str]] = ..., colour: _Optional[_Union[Colour, str]] = ..., gold: _Optional[bool] = ...) -> None: ...

class GiftCard(_message.Message):
    """A gift card."""
    __slots__ = ("kind", "asari", "prestige", "section_kind")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    SECTION_KIND_FIELD_NUMBER: _ClassVar[int]
    kind: GiftKind
    """Effect of the card."""
    asari: int
    """Asari received (kind ASARI) or to pay (kind BUY_LIT_WINDOW); otherwise 0."""
    prestige: int
    """Prestige received (kind PRESTIGE); otherwise 0."""
    section_kind: SectionKind
    """The market to buy from (kind BUY_SECTION); otherwise UNSPECIFIED."""
    def __init__(self, kind: _Optional[_Union[GiftKind, str]] = ..., asari: _Optional[int] = ..., prestige: _Optional[int] = ..., section_kind: _Optional[_Union[SectionKind, str]] = ...) -> None: ...

class Tower(_message.Message):
    """A standing tower, complete and of one colour."""
    __slots__ = ("number", "colour", "base_gold", "turret_gold", "plain_trunks", "gold_trunks", "plain_windows", "gold_windows", "lit_plain_windows", "lit_gold_windows")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    BASE_GOLD_FIELD_NUMBER: _ClassVar[int]
    TURRET_GOLD_FIELD_NUMBER: _ClassVar[int]
    PLAIN_TRUNKS_FIELD_NUMBER: _ClassVar[int]
    GOLD_TRUNKS_FIELD_NUMBER: _ClassVar[int]
    PLAIN_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    GOLD_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    LIT_PLAIN_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    LIT_GOLD_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    number: int
    """Number of the tower among those of its owner, from 1 in the order of founding; never changes.
    """
    colour: Colour
    """The colour of all its sections."""
    base_gold: bool
    """True if the base has gold."""
    turret_gold: bool
    """True if the turret has gold."""
    plain_trunks: int
    """Number of trunks without gold."""
    gold_trunks: int
    """Number of trunks with gold."""
    plain_windows: int
    """Number of windows without gold, including covered ones."""
    gold_windows: int
    """Number of windows with gold, including covered ones."""
    lit_plain_windows: int
    """Number of lit windows that cover a window without gold."""
    lit_gold_windows: int
    """Number of lit windows that cover a window with gold, which then no longer counts."""
    def __init__(self, number: _Optional[int] = ..., colour: _Optional[_Union[Colour, str]] = ..., base_gold: _Optional[bool] = ..., turret_gold: _Optional[bool] = ..., plain_trunks: _Optional[int] = ..., gold_trunks: _Optional[int] = ..., plain_windows: _Optional[int] = ..., gold_windows: _Optional[int] = ..., lit_plain_windows: _Optional[int] = ..., lit_gold_windows: _Optional[int] = ...) -> None: ...

class Action(_message.Message):
    """An answer to a decision. Exactly one member is set; an empty Action is never legal."""
    __slots__ = ("choose_space", "lay_buyers", "take_section", "decline", "build_count", "found_tower", "extend_tower", "light_window", "search_pile", "pay_offer", "keep_lit_windows", "wish", "choose_buyer", "return_lit_window")
    CHOOSE_SPACE_FIELD_NUMBER: _ClassVar[int]
    LAY_BUYERS_FIELD_NUMBER: _ClassVar[int]
    TAKE_SECTION_FIELD_NUMBER: _ClassVar[int]
    DECLINE_FIELD_NUMBER: _ClassVar[int]
    BUILD_COUNT_FIELD_NUMBER: _ClassVar[int]
    FOUND_TOWER_FIELD_NUMBER: _ClassVar[int]
    EXTEND_TOWER_FIELD_NUMBER: _ClassVar[int]
    LIGHT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    SEARCH_PILE_FIELD_NUMBER: _ClassVar[int]
    PAY_OFFER_FIELD_NUMBER: _ClassVar[int]
    KEEP_LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    WISH_FIELD_NUMBER: _ClassVar[int]
    CHOOSE_BUYER_FIELD_NUMBER: _ClassVar[int]
    RETURN_LIT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    choose_space: ChooseSpace
    """Decision SPACE."""
    lay_buyers: LayBuyers
    """Decision BUYERS."""
    take_section: TakeSection
    """Decisions SECTION, PILE_SECTION and GIFT_SECTION."""
    decline: Decline
    """Decisions SECTION, PILE_SECTION and WISH."""
    build_count: BuildCount
    """Decision BUILD_COUNT."""
    found_tower: FoundTower
    """Decision BUILD."""
    extend_tower: ExtendTower
    """Decision BUILD."""
    light_window: LightWindow
    """Decision BUILD."""
    search_pile: SearchPile
    """Decision PILE."""
    pay_offer: PayOffer
    """Decision LIT_OFFER."""
    keep_lit_windows: KeepLitWindows
    """Decisions LIT_KEEP and GIFT_LIT_WINDOW."""
    wish: Wish
    """Decision WISH."""
    choose_buyer: ChooseBuyer
    """Decision GIFT_BUYER."""
    return_lit_window: ReturnLitWindow
    """Decision LIT_RETURN."""
    def __init__(self, choose_space: _Optional[_Union[ChooseSpace, _Mapping]] = ..., lay_buyers: _Optional[_Union[LayBuyers, _Mapping]] = ..., take_section: _Optional[_Union[TakeSection, _Mapping]] = ..., decline: _Optional[_Union[Decline, _Mapping]] = ..., build_count: _Optional[_Union[BuildCount, _Mapping]] = ..., found_tower: _Optional[_Union[FoundTower, _Mapping]] = ..., extend_tower: _Optional[_Union[ExtendTower, _Mapping]] = ..., light_window: _Optional[_Union[LightWindow, _Mapping]] = ..., search_pile: _Optional[_Union[SearchPile, _Mapping]] = ..., pay_offer: _Optional[_Union[PayOffer, _Mapping]] = ..., keep_lit_windows: _Optional[_Union[KeepLitWindows, _Mapping]] = ..., wish: _Optional[_Union[Wish, _Mapping]] = ..., choose_buyer: _Optional[_Union[ChooseBuyer, _Mapping]] = ..., return_lit_window: _Optional[_Union[ReturnLitWindow, _Mapping]] = ...) -> None: ...

class ChooseSpace(_message.Message):
    """Dispatch to a space; the next decision asks for the buyers."""
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: Space
    """An empty space, or the coloured building."""
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ...) -> None: ...

class LayBuyers(_message.Message):
    """Lay buyers on the chosen space."""
    __slots__ = ("buyers", "face_down")
    BUYERS_FIELD_NUMBER: _ClassVar[int]
    FACE_DOWN_FIELD_NUMBER: _ClassVar[int]
    buyers: _containers.RepeatedScalarFieldContainer[BuyerColour]
    """One or two colours, in ascending order."""
    face_down: bool
    """False for one buyer of the area's colour; true for a pair, and on the coloured building."""
    def __init__(self, buyers: _Optional[_Iterable[_Union[BuyerColour, str]]] = ..., face_down: _Optional[bool] = ...) -> None: ...

class TakeSection(_message.Message):
    """Take a section and pay the price of its colour."""
    __slots__ = ("section",)
    SECTION_FIELD_NUMBER: _ClassVar[int]
    section: Section
    """A section of the display or of the searched pile."""
    def __init__(self, section: _Optional[_Union[Section, _Mapping]] = ...) -> None: ...

class Decline(_message.Message):
    """Decline the optional move."""
    __slots__ = ()
    def __init__(self) -> None: ...

class BuildCount(_message.Message):
    """Choose the number of sections to build on the plot."""
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    """Number of sections, 1 to the number of the plot."""
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class FoundTower(_message.Message):
    """Found a tower with one base and one turret."""
    __slots__ = ("colour", "base_gold", "turret_gold")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    BASE_GOLD_FIELD_NUMBER: _ClassVar[int]
    TURRET_GOLD_FIELD_NUMBER: _ClassVar[int]
    colour: Colour
    """Colour of both sections."""
    base_gold: bool
    """True to use a base with gold."""
    turret_gold: bool
    """True to use a turret with gold."""
    def __init__(self, colour: _Optional[_Union[Colour, str]] = ..., base_gold: _Optional[bool] = ..., turret_gold: _Optional[bool] = ...) -> None: ...

class ExtendTower(_message.Message):
    """Add a section to a standing tower."""
    __slots__ = ("tower", "section")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    tower: int
    """Number of the tower, which belongs to the seat."""
    section: Section
    """A trunk or a window of the tower's colour."""
    def __init__(self, tower: _Optional[int] = ..., section: _Optional[_Union[Section, _Mapping]] = ...) -> None: ...

class LightWindow(_message.Message):
    """Cover a window that stood before this build with a lit window of its colour."""
    __slots__ = ("tower", "gold")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    tower: int
    """Number of the tower, which belongs to the seat."""
    gold: bool
    """True to cover a window with gold."""
    def __init__(self, tower: _Optional[int] = ..., gold: _Optional[bool] = ...) -> None: ...

class SearchPile(_message.Message):
    """Search a pile; the private view then shows its contents."""
    __slots__ = ("kind",)
    KIND_FIELD_NUMBER: _ClassVar[int]
    kind: SectionKind
    """Kind of the sections in the pile."""
    def __init__(self, kind: _Optional[_Union[SectionKind, str]] = ...) -> None: ...

class PayOffer(_message.Message):
    """Pay a price in the House of Lighted Windows."""
    __slots__ = ("asari",)
    ASARI_FIELD_NUMBER: _ClassVar[int]
    asari: int
    """Price in Asari of one of Edition.lit_window_offers."""
    def __init__(self, asari: _Optional[int] = ...) -> None: ...

class KeepLitWindows(_message.Message):
    """Keep lit windows."""
    __slots__ = ("colours",)
    COLOURS_FIELD_NUMBER: _ClassVar[int]
    colours: _containers.RepeatedScalarFieldContainer[Colour]
    """Colours in ascending order: as many as were paid for, or all that were drawn."""
    def __init__(self, colours: _Optional[_Iterable[_Union[Colour, str]]] = ...) -> None: ...

class Wish(_message.Message):
    """Wish for the move of a space, occupied or not; the costs of that space are paid."""
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: Space
    """Any space but the patronage and the genie's own."""
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ...) -> None: ...

class ChooseBuyer(_message.Message):
    """Take a buyer from the buyer pile."""
    __slots__ = ("buyer",)
    BUYER_FIELD_NUMBER: _ClassVar[int]
    buyer: BuyerColour
    """Colour of a buyer in the pile."""
    def __init__(self, buyer: _Optional[_Union[BuyerColour, str]] = ...) -> None: ...

class ReturnLitWindow(_message.Message):
    """Put a lit window that was drawn and not kept at the very bottom of the stack."""
    __slots__ = ("colour",)
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    colour: Colour
    """Colour of the window; the first to be returned will be drawn first."""
    def __init__(self, colour: _Optional[_Union[Colour, str]] = ...) -> None: ...

class Edition(_message.Message):
    """The numbers that the rules leave to the printed board and components."""
    __slots__ = ("name", "years", "colours", "tiles", "buyers", "hand_size", "starting_asari", "yearly_asari", "display_size", "spaces", "lit_window_offers", "gifts", "tent_buyers", "highest_tower", "most_towers", "asari_per_prestige")
    NAME_FIELD_NUMBER: _ClassVar[int]
    YEARS_FIELD_NUMBER: _ClassVar[int]
    COLOURS_FIELD_NUMBER: _ClassVar[int]
    TILES_FIELD_NUMBER: _ClassVar[int]
    BUYERS_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZE_FIELD_NUMBER: _ClassVar[int]
    STARTING_ASARI_FIELD_NUMBER: _ClassVar[int]
    YEARLY_ASARI_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_SIZE_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOW_OFFERS_FIELD_NUMBER: _ClassVar[int]
    GIFTS_FIELD_NUMBER: _ClassVar[int]
    TENT_BUYERS_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_TOWER_FIELD_NUMBER: _ClassVar[int]
    MOST_TOWERS_FIELD_NUMBER: _ClassVar[int]
    ASARI_PER_PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    name: str
    """Name of the edition."""
    years: int
    """Number of years of a match."""
    colours: _containers.RepeatedCompositeFieldContainer[ColourInfo]
    """All colours, in ascending order of price."""
    tiles: _containers.RepeatedCompositeFieldContainer[TileCount]
    """Number of tiles, for each kind and colour."""
    buyers: _containers.RepeatedCompositeFieldContainer[BuyerCount]
    """Number of buyers, for each colour."""
    hand_size: int
    """Number of buyers dealt to each player at the start of a year."""
    starting_asari: _containers.RepeatedScalarFieldContainer[int]
    """Asari at the start, clockwise from seat 0."""
    yearly_asari: int
    """Asari that each player receives at the start of every later year."""
    display_size: int
    """Number of sections on a full display."""
    spaces: _containers.RepeatedCompositeFieldContainer[SpaceInfo]
    """All spaces of the board of this match."""
    lit_window_offers: _containers.RepeatedCompositeFieldContainer[LitWindowOffer]
    """Offers of the House of Lighted Windows."""
    gifts: _containers.RepeatedCompositeFieldContainer[GiftCount]
    """The gift deck of this match."""
    tent_buyers: int
    """Number of buyers recruited in the tent."""
    highest_tower: Award
    """Prestige for the highest and second highest tower of all colours."""
    most_towers: Award
    """Prestige for the most and second most towers."""
    asari_per_prestige: int
    """Number of Asari worth one prestige after the last year."""
    def __init__(self, name: _Optional[str] = ..., years: _Optional[int] = ..., colours: _Optional[_Iterable[_Union[ColourInfo, _Mapping]]] = ..., tiles: _Optional[_Iterable[_Union[TileCount, _Mapping]]] = ..., buyers: _Optional[_Iterable[_Union[BuyerCount, _Mapping]]] = ..., hand_size: _Optional[int] = ..., starting_asari: _Optional[_Iterable[int]] = ..., yearly_asari: _Optional[int] = ..., display_size: _Optional[int] = ..., spaces: _Optional[_Iterable[_Union[SpaceInfo, _Mapping]]] = ..., lit_window_offers: _Optional[_Iterable[_Union[LitWindowOffer, _Mapping]]] = ..., gifts: _Optional[_Iterable[_Union[GiftCount, _Mapping]]] = ..., tent_buyers: _Optional[int] = ..., highest_tower: _Optional[_Union[Award, _Mapping]] = ..., most_towers: _Optional[_Union[Award, _Mapping]] = ..., asari_per_prestige: _Optional[int] = ...) -> None: ...

class ColourInfo(_message.Message):
    """Numbers of one colour."""
    __slots__ = ("colour", "price", "lit_windows", "highest_tower")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_TOWER_FIELD_NUMBER: _ClassVar[int]
    colour: Colour
    """The colour."""
    price: int
    """Price of a section in Asari."""
    lit_windows: int
    """Number of lit windows of this colour."""
    highest_tower: Award
    """Prestige for the highest and second highest tower of this colour after the last year."""
    def __init__(self, colour: _Optional[_Union[Colour, str]] = ..., price: _Optional[int] = ..., lit_windows: _Optional[int] = ..., highest_tower: _Optional[_Union[Award, _Mapping]] = ...) -> None: ...

class Award(_message.Message):
    """Prestige for the first two places."""
    __slots__ = ("first", "second")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    first: int
    """Prestige for first place."""
    second: int
    """Prestige for second place."""
    def __init__(self, first: _Optional[int] = ..., second: _Optional[int] = ...) -> None: ...

class TileCount(_message.Message):
    """Number of tiles of one kind and colour."""
    __slots__ = ("kind", "colour", "plain", "gold")
    KIND_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    PLAIN_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    kind: SectionKind
    """Base, trunk, window or turret."""
    colour: Colour
    """The colour."""
    plain: int
    """Number of tiles without gold."""
    gold: int
    """Number of tiles with gold."""
    def __init__(self, kind: _Optional[_Union[SectionKind, str]] = ..., colour: _Optional[_Union[Colour, str]] = ..., plain: _Optional[int] = ..., gold: _Optional[int] = ...) -> None: ...

class BuyerCount(_message.Message):
    """Number of buyers of one colour."""
    __slots__ = ("colour", "count")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    colour: BuyerColour
    """The colour."""
    count: int
    """Number of buyers."""
    def __init__(self, colour: _Optional[_Union[BuyerColour, str]] = ..., count: _Optional[int] = ...) -> None: ...

class SpaceInfo(_message.Message):
    """The numbers printed on a space."""
    __slots__ = ("space", "cost", "income", "chest")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    INCOME_FIELD_NUMBER: _ClassVar[int]
    CHEST_FIELD_NUMBER: _ClassVar[int]
    space: Space
    """The space."""
    cost: int
    """Asari to pay before the move; 0 if the move has no fixed price."""
    income: int
    """Asari that the move pays."""
    chest: bool
    """True if gift cards are laid on it."""
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ..., cost: _Optional[int] = ..., income: _Optional[int] = ..., chest: _Optional[bool] = ...) -> None: ...

class LitWindowOffer(_message.Message):
    """An offer of the House of Lighted Windows."""
    __slots__ = ("asari", "drawn", "kept")
    ASARI_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    asari: int
    """Price in Asari."""
    drawn: int
    """Number of lit windows drawn from the top of the stack."""
    kept: int
    """Number of drawn lit windows to keep."""
    def __init__(self, asari: _Optional[int] = ..., drawn: _Optional[int] = ..., kept: _Optional[int] = ...) -> None: ...

class GiftCount(_message.Message):
    """Number of copies of a gift card."""
    __slots__ = ("card", "count")
    CARD_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    card: GiftCard
    """The card."""
    count: int
    """Number of copies in the deck."""
    def __init__(self, card: _Optional[_Union[GiftCard, _Mapping]] = ..., count: _Optional[int] = ...) -> None: ...
