"""Views: the information that one seat has at one moment. No message here can represent the hidden
information of another seat.
"""

from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class View(_message.Message):
    """The information available to a seat."""
    __slots__ = ("public_view", "private_view")
    PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_VIEW_FIELD_NUMBER: _ClassVar[int]
    public_view: PublicView
    """Public information."""
    private_view: PrivateView
    """Information of this seat alone."""
    def __init__(self, public_view: _Optional[_Union[PublicView, _Mapping]] = ..., private_view: _Optional[_Union[PrivateView, _Mapping]] = ...) -> None: ...

class PublicView(_message.Message):
    """Public information about the match."""
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
    """Number of the current year, 1 to Edition.years."""
    turn_seat: int
    """Seat whose turn it is."""
    patronage_seat: int
    """Seat that holds the Caliph's patronage and starts next year."""
    buyer_pile_size: int
    """Number of buyers in the pile."""
    lit_window_stack_size: int
    """Number of lit windows in the stack; 0 without the professional rules."""
    gift_deck_size: int
    """Number of gift cards in the deck; 0 without gifts."""
    markets: _containers.RepeatedCompositeFieldContainer[Market]
    """The four markets, ordered by kind."""
    areas: _containers.RepeatedCompositeFieldContainer[AreaView]
    """Areas that contain a buyer."""
    chests: _containers.RepeatedCompositeFieldContainer[Chest]
    """Chest spaces that contain cards."""
    seats: _containers.RepeatedCompositeFieldContainer[SeatView]
    """All seats, in seat order."""
    def __init__(self, year: _Optional[int] = ..., turn_seat: _Optional[int] = ..., patronage_seat: _Optional[int] = ..., buyer_pile_size: _Optional[int] = ..., lit_window_stack_size: _Optional[int] = ..., gift_deck_size: _Optional[int] = ..., markets: _Optional[_Iterable[_Union[Market, _Mapping]]] = ..., areas: _Optional[_Iterable[_Union[AreaView, _Mapping]]] = ..., chests: _Optional[_Iterable[_Union[Chest, _Mapping]]] = ..., seats: _Optional[_Iterable[_Union[SeatView, _Mapping]]] = ...) -> None: ...

class Market(_message.Message):
    """A market's display and pile."""
    __slots__ = ("kind", "display", "pile_size")
    KIND_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    PILE_SIZE_FIELD_NUMBER: _ClassVar[int]
    kind: _vocabulary_pb2.SectionKind
    """Kind of the sections."""
    display: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    """Sections on display, ordered by colour, plain before gold."""
    pile_size: int
    """Number of sections in the pile."""
    def __init__(self, kind: _Optional[_Union[_vocabulary_pb2.SectionKind, str]] = ..., display: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., pile_size: _Optional[int] = ...) -> None: ...

class AreaView(_message.Message):
    """The buyers in one area this year."""
    __slots__ = ("area", "colour", "dispatched")
    AREA_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    DISPATCHED_FIELD_NUMBER: _ClassVar[int]
    area: _vocabulary_pb2.Area
    """The area."""
    colour: _vocabulary_pb2.BuyerColour
    """The colour that must be followed; UNSPECIFIED if there is none."""
    dispatched: _containers.RepeatedCompositeFieldContainer[Dispatched]
    """Buyers, ordered by space; on the coloured building in the order of arrival."""
    def __init__(self, area: _Optional[_Union[_vocabulary_pb2.Area, str]] = ..., colour: _Optional[_Union[_vocabulary_pb2.BuyerColour, str]] = ..., dispatched: _Optional[_Iterable[_Union[Dispatched, _Mapping]]] = ...) -> None: ...

class Dispatched(_message.Message):
    """The buyers that one turn dispatched to a space."""
    __slots__ = ("number", "seat", "colour")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    number: int
    """Number of the space."""
    seat: int
    """Seat that dispatched them."""
    colour: _vocabulary_pb2.BuyerColour
    """Colour of a face-up buyer; UNSPECIFIED for face-down buyers."""
    def __init__(self, number: _Optional[int] = ..., seat: _Optional[int] = ..., colour: _Optional[_Union[_vocabulary_pb2.BuyerColour, str]] = ...) -> None: ...

class Chest(_message.Message):
    """Gift cards on a chest space."""
    __slots__ = ("space", "cards")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    """The space."""
    cards: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.GiftCard]
    """Cards in the order in which they were laid, and in which they take effect."""
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., cards: _Optional[_Iterable[_Union[_vocabulary_pb2.GiftCard, _Mapping]]] = ...) -> None: ...

class SeatView(_message.Message):
    """Public information about a seat."""
    __slots__ = ("seat", "prestige", "hand_size", "lit_windows", "towers")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZE_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    TOWERS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    prestige: int
    """Current prestige."""
    hand_size: int
    """Number of buyers in hand."""
    lit_windows: int
    """Number of unbuilt lit windows."""
    towers: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Tower]
    """Standing towers, in the order in which they were founded."""
    def __init__(self, seat: _Optional[int] = ..., prestige: _Optional[int] = ..., hand_size: _Optional[int] = ..., lit_windows: _Optional[int] = ..., towers: _Optional[_Iterable[_Union[_vocabulary_pb2.Tower, _Mapping]]] = ...) -> None: ...

class PrivateView(_message.Message):
    """Information of one seat alone."""
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
    """The seat."""
    asari: int
    """Asari in the purse."""
    hand: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.BuyerColour]
    """Buyers in hand, in ascending order of colour."""
    sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    """Unbuilt sections, ordered by kind and colour, plain before gold."""
    lit_windows: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Colour]
    """Unbuilt lit windows, ordered by colour."""
    face_down: _containers.RepeatedCompositeFieldContainer[FaceDown]
    """The seat's face-down buyers of this year."""
    known_lit_windows: _containers.RepeatedCompositeFieldContainer[KnownLitWindow]
    """Lit windows in the stack whose positions this seat knows (ruling R9 in
    server/asara_game/README.md).
    """
    searched_sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    """Sections of the pile that is being searched; empty otherwise."""
    searched_buyers: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.BuyerColour]
    """Buyers of the pile in ascending order of colour, while the seat chooses one through a gift.
    """
    searched_lit_windows: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Colour]
    """Lit windows drawn (in the order drawn, without those already kept or returned) or searched
    (ordered by colour), while the seat chooses among them.
    """
    def __init__(self, seat: _Optional[int] = ..., asari: _Optional[int] = ..., hand: _Optional[_Iterable[_Union[_vocabulary_pb2.BuyerColour, str]]] = ..., sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., lit_windows: _Optional[_Iterable[_Union[_vocabulary_pb2.Colour, str]]] = ..., face_down: _Optional[_Iterable[_Union[FaceDown, _Mapping]]] = ..., known_lit_windows: _Optional[_Iterable[_Union[KnownLitWindow, _Mapping]]] = ..., searched_sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., searched_buyers: _Optional[_Iterable[_Union[_vocabulary_pb2.BuyerColour, str]]] = ..., searched_lit_windows: _Optional[_Iterable[_Union[_vocabulary_pb2.Colour, str]]] = ...) -> None: ...

class FaceDown(_message.Message):
    """Face-down buyers on one space."""
    __slots__ = ("space", "buyers")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    BUYERS_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    """The space."""
    buyers: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.BuyerColour]
    """One or two colours, in ascending order."""
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., buyers: _Optional[_Iterable[_Union[_vocabulary_pb2.BuyerColour, str]]] = ...) -> None: ...

class KnownLitWindow(_message.Message):
    """A lit window that this seat put into the stack."""
    __slots__ = ("above", "colour")
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    above: int
    """Number of windows above it in the stack."""
    colour: _vocabulary_pb2.Colour
    """Its colour."""
    def __init__(self, above: _Optional[int] = ..., colour: _Optional[_Union[_vocabulary_pb2.Colour, str]] = ...) -> None: ...
