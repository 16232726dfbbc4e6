from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Colour(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COLOUR_UNSPECIFIED: _ClassVar[Colour]
    COLOUR_BROWN: _ClassVar[Colour]
    COLOUR_GREEN: _ClassVar[Colour]
    COLOUR_RED: _ClassVar[Colour]
    COLOUR_BLACK: _ClassVar[Colour]
    COLOUR_WHITE: _ClassVar[Colour]

class BuyerColour(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BUYER_COLOUR_UNSPECIFIED: _ClassVar[BuyerColour]
    BUYER_COLOUR_BLUE: _ClassVar[BuyerColour]
    BUYER_COLOUR_YELLOW: _ClassVar[BuyerColour]
    BUYER_COLOUR_PURPLE: _ClassVar[BuyerColour]
    BUYER_COLOUR_GREEN: _ClassVar[BuyerColour]
    BUYER_COLOUR_ORANGE: _ClassVar[BuyerColour]

class SectionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECTION_KIND_UNSPECIFIED: _ClassVar[SectionKind]
    SECTION_KIND_BASE: _ClassVar[SectionKind]
    SECTION_KIND_TRUNK: _ClassVar[SectionKind]
    SECTION_KIND_WINDOW: _ClassVar[SectionKind]
    SECTION_KIND_TURRET: _ClassVar[SectionKind]

class Area(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AREA_UNSPECIFIED: _ClassVar[Area]
    AREA_BASE_MARKET: _ClassVar[Area]
    AREA_TRUNK_MARKET: _ClassVar[Area]
    AREA_WINDOW_MARKET: _ClassVar[Area]
    AREA_TURRET_MARKET: _ClassVar[Area]
    AREA_BUILDING_CIRCLE: _ClassVar[Area]
    AREA_BANK: _ClassVar[Area]
    AREA_COLOURED_BUILDING: _ClassVar[Area]
    AREA_HOUSE_OF_SPIES: _ClassVar[Area]
    AREA_CALIPHS_PATRONAGE: _ClassVar[Area]
    AREA_TENT: _ClassVar[Area]
    AREA_HOUSE_OF_LIGHTED_WINDOWS: _ClassVar[Area]
    AREA_HOUSE_OF_THE_BOTTLE_GENIE: _ClassVar[Area]

class RuleSet(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RULE_SET_UNSPECIFIED: _ClassVar[RuleSet]
    RULE_SET_BASIC: _ClassVar[RuleSet]
    RULE_SET_PROFESSIONAL: _ClassVar[RuleSet]
    RULE_SET_GIFTS: _ClassVar[RuleSet]
    RULE_SET_GENIE: _ClassVar[RuleSet]

class GiftKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GIFT_KIND_UNSPECIFIED: _ClassVar[GiftKind]
    GIFT_KIND_CHOOSE_BUYER: _ClassVar[GiftKind]
    GIFT_KIND_ASARI: _ClassVar[GiftKind]
    GIFT_KIND_BUY_SECTION: _ClassVar[GiftKind]
    GIFT_KIND_PRESTIGE: _ClassVar[GiftKind]
    GIFT_KIND_BUY_LIT_WINDOW: _ClassVar[GiftKind]
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
    __slots__ = ("area", "number")
    AREA_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    area: Area
    number: int
    def __init__(self, area: _Optional[_Union[Area, str]] = ..., number: _Optional[int] = ...) -> None: ...

class Section(_message.Message):
    __slots__ = ("kind", "colour", "gold")
    KIND_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    kind: SectionKind
    colour: Colour
    gold: bool
    def __init__(self, kind: _Optional[_Union[SectionKind, str]] = ..., colour: _Optional[_Union[Colour, str]] = ..., gold: _Optional[bool] = ...) -> None: ...

class GiftCard(_message.Message):
    __slots__ = ("kind", "asari", "prestige", "section_kind")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    SECTION_KIND_FIELD_NUMBER: _ClassVar[int]
    kind: GiftKind
    asari: int
    prestige: int
    section_kind: SectionKind
    def __init__(self, kind: _Optional[_Union[GiftKind, str]] = ..., asari: _Optional[int] = ..., prestige: _Optional[int] = ..., section_kind: _Optional[_Union[SectionKind, str]] = ...) -> None: ...

class Tower(_message.Message):
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
    colour: Colour
    base_gold: bool
    turret_gold: bool
    plain_trunks: int
    gold_trunks: int
    plain_windows: int
    gold_windows: int
    lit_plain_windows: int
    lit_gold_windows: int
    def __init__(self, number: _Optional[int] = ..., colour: _Optional[_Union[Colour, str]] = ..., base_gold: _Optional[bool] = ..., turret_gold: _Optional[bool] = ..., plain_trunks: _Optional[int] = ..., gold_trunks: _Optional[int] = ..., plain_windows: _Optional[int] = ..., gold_windows: _Optional[int] = ..., lit_plain_windows: _Optional[int] = ..., lit_gold_windows: _Optional[int] = ...) -> None: ...

class Action(_message.Message):
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
    lay_buyers: LayBuyers
    take_section: TakeSection
    decline: Decline
    build_count: BuildCount
    found_tower: FoundTower
    extend_tower: ExtendTower
    light_window: LightWindow
    search_pile: SearchPile
    pay_offer: PayOffer
    keep_lit_windows: KeepLitWindows
    wish: Wish
    choose_buyer: ChooseBuyer
    return_lit_window: ReturnLitWindow
    def __init__(self, choose_space: _Optional[_Union[ChooseSpace, _Mapping]] = ..., lay_buyers: _Optional[_Union[LayBuyers, _Mapping]] = ..., take_section: _Optional[_Union[TakeSection, _Mapping]] = ..., decline: _Optional[_Union[Decline, _Mapping]] = ..., build_count: _Optional[_Union[BuildCount, _Mapping]] = ..., found_tower: _Optional[_Union[FoundTower, _Mapping]] = ..., extend_tower: _Optional[_Union[ExtendTower, _Mapping]] = ..., light_window: _Optional[_Union[LightWindow, _Mapping]] = ..., search_pile: _Optional[_Union[SearchPile, _Mapping]] = ..., pay_offer: _Optional[_Union[PayOffer, _Mapping]] = ..., keep_lit_windows: _Optional[_Union[KeepLitWindows, _Mapping]] = ..., wish: _Optional[_Union[Wish, _Mapping]] = ..., choose_buyer: _Optional[_Union[ChooseBuyer, _Mapping]] = ..., return_lit_window: _Optional[_Union[ReturnLitWindow, _Mapping]] = ...) -> None: ...

class ChooseSpace(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: Space
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ...) -> None: ...

class LayBuyers(_message.Message):
    __slots__ = ("buyers", "face_down")
    BUYERS_FIELD_NUMBER: _ClassVar[int]
    FACE_DOWN_FIELD_NUMBER: _ClassVar[int]
    buyers: _containers.RepeatedScalarFieldContainer[BuyerColour]
    face_down: bool
    def __init__(self, buyers: _Optional[_Iterable[_Union[BuyerColour, str]]] = ..., face_down: _Optional[bool] = ...) -> None: ...

class TakeSection(_message.Message):
    __slots__ = ("section",)
    SECTION_FIELD_NUMBER: _ClassVar[int]
    section: Section
    def __init__(self, section: _Optional[_Union[Section, _Mapping]] = ...) -> None: ...

class Decline(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BuildCount(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class FoundTower(_message.Message):
    __slots__ = ("colour", "base_gold", "turret_gold")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    BASE_GOLD_FIELD_NUMBER: _ClassVar[int]
    TURRET_GOLD_FIELD_NUMBER: _ClassVar[int]
    colour: Colour
    base_gold: bool
    turret_gold: bool
    def __init__(self, colour: _Optional[_Union[Colour, str]] = ..., base_gold: _Optional[bool] = ..., turret_gold: _Optional[bool] = ...) -> None: ...

class ExtendTower(_message.Message):
    __slots__ = ("tower", "section")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    tower: int
    section: Section
    def __init__(self, tower: _Optional[int] = ..., section: _Optional[_Union[Section, _Mapping]] = ...) -> None: ...

class LightWindow(_message.Message):
    __slots__ = ("tower", "gold")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    tower: int
    gold: bool
    def __init__(self, tower: _Optional[int] = ..., gold: _Optional[bool] = ...) -> None: ...

class SearchPile(_message.Message):
    __slots__ = ("kind",)
    KIND_FIELD_NUMBER: _ClassVar[int]
    kind: SectionKind
    def __init__(self, kind: _Optional[_Union[SectionKind, str]] = ...) -> None: ...

class PayOffer(_message.Message):
    __slots__ = ("asari",)
    ASARI_FIELD_NUMBER: _ClassVar[int]
    asari: int
    def __init__(self, asari: _Optional[int] = ...) -> None: ...

class KeepLitWindows(_message.Message):
    __slots__ = ("colours",)
    COLOURS_FIELD_NUMBER: _ClassVar[int]
    colours: _containers.RepeatedScalarFieldContainer[Colour]
    def __init__(self, colours: _Optional[_Iterable[_Union[Colour, str]]] = ...) -> None: ...

class Wish(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: Space
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ...) -> None: ...

class ChooseBuyer(_message.Message):
    __slots__ = ("buyer",)
    BUYER_FIELD_NUMBER: _ClassVar[int]
    buyer: BuyerColour
    def __init__(self, buyer: _Optional[_Union[BuyerColour, str]] = ...) -> None: ...

class ReturnLitWindow(_message.Message):
    __slots__ = ("colour",)
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    colour: Colour
    def __init__(self, colour: _Optional[_Union[Colour, str]] = ...) -> None: ...

class Edition(_message.Message):
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
    years: int
    colours: _containers.RepeatedCompositeFieldContainer[ColourInfo]
    tiles: _containers.RepeatedCompositeFieldContainer[TileCount]
    buyers: _containers.RepeatedCompositeFieldContainer[BuyerCount]
    hand_size: int
    starting_asari: _containers.RepeatedScalarFieldContainer[int]
    yearly_asari: int
    display_size: int
    spaces: _containers.RepeatedCompositeFieldContainer[SpaceInfo]
    lit_window_offers: _containers.RepeatedCompositeFieldContainer[LitWindowOffer]
    gifts: _containers.RepeatedCompositeFieldContainer[GiftCount]
    tent_buyers: int
    highest_tower: Award
    most_towers: Award
    asari_per_prestige: int
    def __init__(self, name: _Optional[str] = ..., years: _Optional[int] = ..., colours: _Optional[_Iterable[_Union[ColourInfo, _Mapping]]] = ..., tiles: _Optional[_Iterable[_Union[TileCount, _Mapping]]] = ..., buyers: _Optional[_Iterable[_Union[BuyerCount, _Mapping]]] = ..., hand_size: _Optional[int] = ..., starting_asari: _Optional[_Iterable[int]] = ..., yearly_asari: _Optional[int] = ..., display_size: _Optional[int] = ..., spaces: _Optional[_Iterable[_Union[SpaceInfo, _Mapping]]] = ..., lit_window_offers: _Optional[_Iterable[_Union[LitWindowOffer, _Mapping]]] = ..., gifts: _Optional[_Iterable[_Union[GiftCount, _Mapping]]] = ..., tent_buyers: _Optional[int] = ..., highest_tower: _Optional[_Union[Award, _Mapping]] = ..., most_towers: _Optional[_Union[Award, _Mapping]] = ..., asari_per_prestige: _Optional[int] = ...) -> None: ...

class ColourInfo(_message.Message):
    __slots__ = ("colour", "price", "lit_windows", "highest_tower")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_TOWER_FIELD_NUMBER: _ClassVar[int]
    colour: Colour
    price: int
    lit_windows: int
    highest_tower: Award
    def __init__(self, colour: _Optional[_Union[Colour, str]] = ..., price: _Optional[int] = ..., lit_windows: _Optional[int] = ..., highest_tower: _Optional[_Union[Award, _Mapping]] = ...) -> None: ...

class Award(_message.Message):
    __slots__ = ("first", "second")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    first: int
    second: int
    def __init__(self, first: _Optional[int] = ..., second: _Optional[int] = ...) -> None: ...

class TileCount(_message.Message):
    __slots__ = ("kind", "colour", "plain", "gold")
    KIND_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    PLAIN_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    kind: SectionKind
    colour: Colour
    plain: int
    gold: int
    def __init__(self, kind: _Optional[_Union[SectionKind, str]] = ..., colour: _Optional[_Union[Colour, str]] = ..., plain: _Optional[int] = ..., gold: _Optional[int] = ...) -> None: ...

class BuyerCount(_message.Message):
    __slots__ = ("colour", "count")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    colour: BuyerColour
    count: int
    def __init__(self, colour: _Optional[_Union[BuyerColour, str]] = ..., count: _Optional[int] = ...) -> None: ...

class SpaceInfo(_message.Message):
    __slots__ = ("space", "cost", "income", "chest")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    INCOME_FIELD_NUMBER: _ClassVar[int]
    CHEST_FIELD_NUMBER: _ClassVar[int]
    space: Space
    cost: int
    income: int
    chest: bool
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ..., cost: _Optional[int] = ..., income: _Optional[int] = ..., chest: _Optional[bool] = ...) -> None: ...

class LitWindowOffer(_message.Message):
    __slots__ = ("asari", "drawn", "kept")
    ASARI_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    asari: int
    drawn: int
    kept: int
    def __init__(self, asari: _Optional[int] = ..., drawn: _Optional[int] = ..., kept: _Optional[int] = ...) -> None: ...

class GiftCount(_message.Message):
    __slots__ = ("card", "count")
    CARD_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    card: GiftCard
    count: int
    def __init__(self, card: _Optional[_Union[GiftCard, _Mapping]] = ..., count: _Optional[int] = ...) -> None: ...
