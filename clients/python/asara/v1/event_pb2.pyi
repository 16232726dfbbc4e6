from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Termination(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TERMINATION_UNSPECIFIED: _ClassVar[Termination]
    TERMINATION_COMPLETED: _ClassVar[Termination]
    TERMINATION_REJECTED_REPLIES: _ClassVar[Termination]
    TERMINATION_TIME_OUT: _ClassVar[Termination]
    TERMINATION_CRASH: _ClassVar[Termination]
    TERMINATION_NEVER_STARTED: _ClassVar[Termination]
    TERMINATION_PROTOCOL_VIOLATION: _ClassVar[Termination]
    TERMINATION_SUSPENDED: _ClassVar[Termination]
    TERMINATION_MISSED: _ClassVar[Termination]
TERMINATION_UNSPECIFIED: Termination
TERMINATION_COMPLETED: Termination
TERMINATION_REJECTED_REPLIES: Termination
TERMINATION_TIME_OUT: Termination
TERMINATION_CRASH: Termination
TERMINATION_NEVER_STARTED: Termination
TERMINATION_PROTOCOL_VIOLATION: Termination
TERMINATION_SUSPENDED: Termination
TERMINATION_MISSED: Termination

class Event(_message.Message):
    __slots__ = ("seat", "asari", "prestige", "year_started", "income_received", "display_filled", "gift_laid", "buyers_dispatched", "gift_taken", "section_taken", "move_declined", "move_lost", "funds_taken", "pile_searched", "patronage_taken", "buyers_recruited", "lit_windows_drawn", "lit_windows_kept", "genie_paid", "wish_made", "build_started", "tower_founded", "tower_extended", "window_lit", "year_evaluated", "final_evaluated", "seat_forfeited")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    YEAR_STARTED_FIELD_NUMBER: _ClassVar[int]
    INCOME_RECEIVED_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FILLED_FIELD_NUMBER: _ClassVar[int]
    GIFT_LAID_FIELD_NUMBER: _ClassVar[int]
    BUYERS_DISPATCHED_FIELD_NUMBER: _ClassVar[int]
    GIFT_TAKEN_FIELD_NUMBER: _ClassVar[int]
    SECTION_TAKEN_FIELD_NUMBER: _ClassVar[int]
    MOVE_DECLINED_FIELD_NUMBER: _ClassVar[int]
    MOVE_LOST_FIELD_NUMBER: _ClassVar[int]
    FUNDS_TAKEN_FIELD_NUMBER: _ClassVar[int]
    PILE_SEARCHED_FIELD_NUMBER: _ClassVar[int]
    PATRONAGE_TAKEN_FIELD_NUMBER: _ClassVar[int]
    BUYERS_RECRUITED_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_DRAWN_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_KEPT_FIELD_NUMBER: _ClassVar[int]
    GENIE_PAID_FIELD_NUMBER: _ClassVar[int]
    WISH_MADE_FIELD_NUMBER: _ClassVar[int]
    BUILD_STARTED_FIELD_NUMBER: _ClassVar[int]
    TOWER_FOUNDED_FIELD_NUMBER: _ClassVar[int]
    TOWER_EXTENDED_FIELD_NUMBER: _ClassVar[int]
    WINDOW_LIT_FIELD_NUMBER: _ClassVar[int]
    YEAR_EVALUATED_FIELD_NUMBER: _ClassVar[int]
    FINAL_EVALUATED_FIELD_NUMBER: _ClassVar[int]
    SEAT_FORFEITED_FIELD_NUMBER: _ClassVar[int]
    seat: int
    asari: int
    prestige: int
    year_started: YearStarted
    income_received: IncomeReceived
    display_filled: DisplayFilled
    gift_laid: GiftLaid
    buyers_dispatched: BuyersDispatched
    gift_taken: GiftTaken
    section_taken: SectionTaken
    move_declined: MoveDeclined
    move_lost: MoveLost
    funds_taken: FundsTaken
    pile_searched: PileSearched
    patronage_taken: PatronageTaken
    buyers_recruited: BuyersRecruited
    lit_windows_drawn: LitWindowsDrawn
    lit_windows_kept: LitWindowsKept
    genie_paid: GeniePaid
    wish_made: WishMade
    build_started: BuildStarted
    tower_founded: TowerFounded
    tower_extended: TowerExtended
    window_lit: WindowLit
    year_evaluated: YearEvaluated
    final_evaluated: FinalEvaluated
    seat_forfeited: SeatForfeited
    def __init__(self, seat: _Optional[int] = ..., asari: _Optional[int] = ..., prestige: _Optional[int] = ..., year_started: _Optional[_Union[YearStarted, _Mapping]] = ..., income_received: _Optional[_Union[IncomeReceived, _Mapping]] = ..., display_filled: _Optional[_Union[DisplayFilled, _Mapping]] = ..., gift_laid: _Optional[_Union[GiftLaid, _Mapping]] = ..., buyers_dispatched: _Optional[_Union[BuyersDispatched, _Mapping]] = ..., gift_taken: _Optional[_Union[GiftTaken, _Mapping]] = ..., section_taken: _Optional[_Union[SectionTaken, _Mapping]] = ..., move_declined: _Optional[_Union[MoveDeclined, _Mapping]] = ..., move_lost: _Optional[_Union[MoveLost, _Mapping]] = ..., funds_taken: _Optional[_Union[FundsTaken, _Mapping]] = ..., pile_searched: _Optional[_Union[PileSearched, _Mapping]] = ..., patronage_taken: _Optional[_Union[PatronageTaken, _Mapping]] = ..., buyers_recruited: _Optional[_Union[BuyersRecruited, _Mapping]] = ..., lit_windows_drawn: _Optional[_Union[LitWindowsDrawn, _Mapping]] = ..., lit_windows_kept: _Optional[_Union[LitWindowsKept, _Mapping]] = ..., genie_paid: _Optional[_Union[GeniePaid, _Mapping]] = ..., wish_made: _Optional[_Union[WishMade, _Mapping]] = ..., build_started: _Optional[_Union[BuildStarted, _Mapping]] = ..., tower_founded: _Optional[_Union[TowerFounded, _Mapping]] = ..., tower_extended: _Optional[_Union[TowerExtended, _Mapping]] = ..., window_lit: _Optional[_Union[WindowLit, _Mapping]] = ..., year_evaluated: _Optional[_Union[YearEvaluated, _Mapping]] = ..., final_evaluated: _Optional[_Union[FinalEvaluated, _Mapping]] = ..., seat_forfeited: _Optional[_Union[SeatForfeited, _Mapping]] = ...) -> None: ...

class YearStarted(_message.Message):
    __slots__ = ("year", "hand_size")
    YEAR_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZE_FIELD_NUMBER: _ClassVar[int]
    year: int
    hand_size: int
    def __init__(self, year: _Optional[int] = ..., hand_size: _Optional[int] = ...) -> None: ...

class IncomeReceived(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DisplayFilled(_message.Message):
    __slots__ = ("sections",)
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    def __init__(self, sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ...) -> None: ...

class GiftLaid(_message.Message):
    __slots__ = ("space", "card")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    CARD_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    card: _vocabulary_pb2.GiftCard
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., card: _Optional[_Union[_vocabulary_pb2.GiftCard, _Mapping]] = ...) -> None: ...

class BuyersDispatched(_message.Message):
    __slots__ = ("space", "colour", "count")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    colour: _vocabulary_pb2.BuyerColour
    count: int
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., colour: _Optional[_Union[_vocabulary_pb2.BuyerColour, str]] = ..., count: _Optional[int] = ...) -> None: ...

class GiftTaken(_message.Message):
    __slots__ = ("card", "effective")
    CARD_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    card: _vocabulary_pb2.GiftCard
    effective: bool
    def __init__(self, card: _Optional[_Union[_vocabulary_pb2.GiftCard, _Mapping]] = ..., effective: _Optional[bool] = ...) -> None: ...

class SectionTaken(_message.Message):
    __slots__ = ("section", "from_pile")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    FROM_PILE_FIELD_NUMBER: _ClassVar[int]
    section: _vocabulary_pb2.Section
    from_pile: bool
    def __init__(self, section: _Optional[_Union[_vocabulary_pb2.Section, _Mapping]] = ..., from_pile: _Optional[bool] = ...) -> None: ...

class MoveDeclined(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class MoveLost(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FundsTaken(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ...) -> None: ...

class PileSearched(_message.Message):
    __slots__ = ("kind",)
    KIND_FIELD_NUMBER: _ClassVar[int]
    kind: _vocabulary_pb2.SectionKind
    def __init__(self, kind: _Optional[_Union[_vocabulary_pb2.SectionKind, str]] = ...) -> None: ...

class PatronageTaken(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BuyersRecruited(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class LitWindowsDrawn(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class LitWindowsKept(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class GeniePaid(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WishMade(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ...) -> None: ...

class BuildStarted(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class TowerFounded(_message.Message):
    __slots__ = ("tower",)
    TOWER_FIELD_NUMBER: _ClassVar[int]
    tower: _vocabulary_pb2.Tower
    def __init__(self, tower: _Optional[_Union[_vocabulary_pb2.Tower, _Mapping]] = ...) -> None: ...

class TowerExtended(_message.Message):
    __slots__ = ("tower", "section")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    tower: int
    section: _vocabulary_pb2.Section
    def __init__(self, tower: _Optional[int] = ..., section: _Optional[_Union[_vocabulary_pb2.Section, _Mapping]] = ...) -> None: ...

class WindowLit(_message.Message):
    __slots__ = ("tower", "gold")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    tower: int
    gold: bool
    def __init__(self, tower: _Optional[int] = ..., gold: _Optional[bool] = ...) -> None: ...

class YearEvaluated(_message.Message):
    __slots__ = ("towers", "gold", "lit_windows", "patronage")
    TOWERS_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    PATRONAGE_FIELD_NUMBER: _ClassVar[int]
    towers: int
    gold: int
    lit_windows: int
    patronage: int
    def __init__(self, towers: _Optional[int] = ..., gold: _Optional[int] = ..., lit_windows: _Optional[int] = ..., patronage: _Optional[int] = ...) -> None: ...

class FinalEvaluated(_message.Message):
    __slots__ = ("colours", "highest_tower", "most_towers", "asari")
    COLOURS_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_TOWER_FIELD_NUMBER: _ClassVar[int]
    MOST_TOWERS_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    colours: _containers.RepeatedCompositeFieldContainer[ColourPrestige]
    highest_tower: int
    most_towers: int
    asari: int
    def __init__(self, colours: _Optional[_Iterable[_Union[ColourPrestige, _Mapping]]] = ..., highest_tower: _Optional[int] = ..., most_towers: _Optional[int] = ..., asari: _Optional[int] = ...) -> None: ...

class ColourPrestige(_message.Message):
    __slots__ = ("colour", "prestige")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    colour: _vocabulary_pb2.Colour
    prestige: int
    def __init__(self, colour: _Optional[_Union[_vocabulary_pb2.Colour, str]] = ..., prestige: _Optional[int] = ...) -> None: ...

class SeatForfeited(_message.Message):
    __slots__ = ("termination",)
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    termination: Termination
    def __init__(self, termination: _Optional[_Union[Termination, str]] = ...) -> None: ...
