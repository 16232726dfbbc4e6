from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class View(_message.Message):
    __slots__ = ("public_view", "private_view")
    PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_VIEW_FIELD_NUMBER: _ClassVar[int]
    public_view: PublicView
    private_view: PrivateView
    def __init__(self, public_view: _Optional[_Union[PublicView, _Mapping]] = ..., private_view: _Optional[_Union[PrivateView, _Mapping]] = ...) -> None: ...

class PublicView(_message.Message):
    __slots__ = ("year", "turn_seat", "patronage_seat", "buyer_pile_size", "lit_window_stack_size", "gift_deck_size", "markets", "areas", "chests", "seats")
    YEAR_FIELD_NUMBER: _ClassVar[int]
    TURN_SEAT_FIELD_NUMBER: _ClassVar[int]
    PATRONAGE_SEAT_FIELD_NUMBER: _ClassVar[int]
    BUYER_PILE_SIZE_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOW_STACK_SIZE_FIELD_NUMBER: _ClassVar[int]
    GIFT_DECK_SIZE_FIELD_NUMBER: _ClassVar[int]
    MARKETS_FIELD_NUMBER: _ClassVar[int]
    AREAS_FIELD_NUMBER: _ClassVar[int]
    CHESTS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    year: int
    turn_seat: int
    patronage_seat: int
    buyer_pile_size: int
    lit_window_stack_size: int
    gift_deck_size: int
    markets: _containers.RepeatedCompositeFieldContainer[Market]
    areas: _containers.RepeatedCompositeFieldContainer[AreaView]
    chests: _containers.RepeatedCompositeFieldContainer[Chest]
    seats: _containers.RepeatedCompositeFieldContainer[SeatView]
    def __init__(self, year: _Optional[int] = ..., turn_seat: _Optional[int] = ..., patronage_seat: _Optional[int] = ..., buyer_pile_size: _Optional[int] = ..., lit_window_stack_size: _Optional[int] = ..., gift_deck_size: _Optional[int] = ..., markets: _Optional[_Iterable[_Union[Market, _Mapping]]] = ..., areas: _Optional[_Iterable[_Union[AreaView, _Mapping]]] = ..., chests: _Optional[_Iterable[_Union[Chest, _Mapping]]] = ..., seats: _Optional[_Iterable[_Union[SeatView, _Mapping]]] = ...) -> None: ...

class Market(_message.Message):
    __slots__ = ("kind", "display", "pile_size")
    KIND_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    PILE_SIZE_FIELD_NUMBER: _ClassVar[int]
    kind: _vocabulary_pb2.SectionKind
    display: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    pile_size: int
    def __init__(self, kind: _Optional[_Union[_vocabulary_pb2.SectionKind, str]] = ..., display: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., pile_size: _Optional[int] = ...) -> None: ...

class AreaView(_message.Message):
    __slots__ = ("area", "colour", "dispatched")
    AREA_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    DISPATCHED_FIELD_NUMBER: _ClassVar[int]
    area: _vocabulary_pb2.Area
    colour: _vocabulary_pb2.BuyerColour
    dispatched: _containers.RepeatedCompositeFieldContainer[Dispatched]
    def __init__(self, area: _Optional[_Union[_vocabulary_pb2.Area, str]] = ..., colour: _Optional[_Union[_vocabulary_pb2.BuyerColour, str]] = ..., dispatched: _Optional[_Iterable[_Union[Dispatched, _Mapping]]] = ...) -> None: ...

class Dispatched(_message.Message):
    __slots__ = ("number", "seat", "colour")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    number: int
    seat: int
    colour: _vocabulary_pb2.BuyerColour
    def __init__(self, number: _Optional[int] = ..., seat: _Optional[int] = ..., colour: _Optional[_Union[_vocabulary_pb2.BuyerColour, str]] = ...) -> None: ...

class Chest(_message.Message):
    __slots__ = ("space", "cards")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    cards: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.GiftCard]
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., cards: _Optional[_Iterable[_Union[_vocabulary_pb2.GiftCard, _Mapping]]] = ...) -> None: ...

class SeatView(_message.Message):
    __slots__ = ("seat", "prestige", "hand_size", "lit_windows", "towers")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZE_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    TOWERS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    prestige: int
    hand_size: int
    lit_windows: int
    towers: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Tower]
    def __init__(self, seat: _Optional[int] = ..., prestige: _Optional[int] = ..., hand_size: _Optional[int] = ..., lit_windows: _Optional[int] = ..., towers: _Optional[_Iterable[_Union[_vocabulary_pb2.Tower, _Mapping]]] = ...) -> None: ...

class PrivateView(_message.Message):
    __slots__ = ("seat", "asari", "hand", "sections", "lit_windows", "face_down", "known_lit_windows", "searched_sections", "searched_buyers", "searched_lit_windows")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    FACE_DOWN_FIELD_NUMBER: _ClassVar[int]
    KNOWN_LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_SECTIONS_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_BUYERS_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    asari: int
    hand: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.BuyerColour]
    sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    lit_windows: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Colour]
    face_down: _containers.RepeatedCompositeFieldContainer[FaceDown]
    known_lit_windows: _containers.RepeatedCompositeFieldContainer[KnownLitWindow]
    searched_sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    searched_buyers: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.BuyerColour]
    searched_lit_windows: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Colour]
    def __init__(self, seat: _Optional[int] = ..., asari: _Optional[int] = ..., hand: _Optional[_Iterable[_Union[_vocabulary_pb2.BuyerColour, str]]] = ..., sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., lit_windows: _Optional[_Iterable[_Union[_vocabulary_pb2.Colour, str]]] = ..., face_down: _Optional[_Iterable[_Union[FaceDown, _Mapping]]] = ..., known_lit_windows: _Optional[_Iterable[_Union[KnownLitWindow, _Mapping]]] = ..., searched_sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., searched_buyers: _Optional[_Iterable[_Union[_vocabulary_pb2.BuyerColour, str]]] = ..., searched_lit_windows: _Optional[_Iterable[_Union[_vocabulary_pb2.Colour, str]]] = ...) -> None: ...

class FaceDown(_message.Message):
    __slots__ = ("space", "buyers")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    BUYERS_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    buyers: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.BuyerColour]
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., buyers: _Optional[_Iterable[_Union[_vocabulary_pb2.BuyerColour, str]]] = ...) -> None: ...

class KnownLitWindow(_message.Message):
    __slots__ = ("above", "colour")
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    above: int
    colour: _vocabulary_pb2.Colour
    def __init__(self, above: _Optional[int] = ..., colour: _Optional[_Union[_vocabulary_pb2.Colour, str]] = ...) -> None: ...
