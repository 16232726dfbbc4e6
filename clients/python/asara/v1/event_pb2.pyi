"""Public events of a match, the same for all seats and watchers. Hidden information is only in
PrivateView.
"""

from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Termination(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """How a match ended for one seat."""
    __slots__ = ()
    TERMINATION_UNSPECIFIED: _ClassVar[Termination]
    """The match is still running."""
    TERMINATION_COMPLETED: _ClassVar[Termination]
    """The seat played to the end."""
    TERMINATION_REJECTED_REPLIES: _ClassVar[Termination]
    """Forfeit: too many rejected replies."""
    TERMINATION_TIME_OUT: _ClassVar[Termination]
    """Forfeit: the clock ran out."""
    TERMINATION_CRASH: _ClassVar[Termination]
    """Forfeit: the bot disconnected and did not reconnect in time."""
    TERMINATION_NEVER_STARTED: _ClassVar[Termination]
    """Forfeit: the bot was to be there, and was not connected when the match started."""
    TERMINATION_PROTOCOL_VIOLATION: _ClassVar[Termination]
    """Forfeit: the bot violated the protocol or a limit."""
    TERMINATION_SUSPENDED: _ClassVar[Termination]
    """Forfeit: the entry had been suspended before the match, for too many forfeits."""
    TERMINATION_MISSED: _ClassVar[Termination]
    """Forfeit: the bot, which runs on another machine, was away, and matches did not wait for it
    any longer. It plays its next matches if it dials in.
    """
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
    """A public event. The sums of asari and prestige over all events are the purse and the score of
    each seat.
    """
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
    """Seat concerned; the starting seat for year_started; 0 if the event concerns no single seat.
    """
    asari: int
    """Change of that seat's purse in Asari."""
    prestige: int
    """Change of that seat's prestige."""
    year_started: YearStarted
    """A year began: buyers were shuffled and dealt."""
    income_received: IncomeReceived
    """Starting money or yearly income was received."""
    display_filled: DisplayFilled
    """A market's display was filled from its pile."""
    gift_laid: GiftLaid
    """A gift card was laid on a chest space."""
    buyers_dispatched: BuyersDispatched
    """Buyers were dispatched."""
    gift_taken: GiftTaken
    """A gift card took effect or could not."""
    section_taken: SectionTaken
    """A section was bought."""
    move_declined: MoveDeclined
    """An optional move was declined."""
    move_lost: MoveLost
    """A move was lost because a gift left the seat unable to carry it out (ruling R10 in
    server/asara_game/README.md).
    """
    funds_taken: FundsTaken
    """Money was taken from the bank or the coloured building."""
    pile_searched: PileSearched
    """A bribe was paid and a pile is being searched."""
    patronage_taken: PatronageTaken
    """The patronage tile changed hands."""
    buyers_recruited: BuyersRecruited
    """Buyers were recruited in the tent."""
    lit_windows_drawn: LitWindowsDrawn
    """Lit windows were paid for and drawn."""
    lit_windows_kept: LitWindowsKept
    """Lit windows were kept; the others went under the stack."""
    genie_paid: GeniePaid
    """The genie was paid."""
    wish_made: WishMade
    """The genie granted a space's move."""
    build_started: BuildStarted
    """A plot was paid for and a build began."""
    tower_founded: TowerFounded
    """A tower was founded."""
    tower_extended: TowerExtended
    """A tower was extended."""
    window_lit: WindowLit
    """A window was covered by a lit window."""
    year_evaluated: YearEvaluated
    """A seat's evaluation at the end of a year."""
    final_evaluated: FinalEvaluated
    """A seat's evaluation after the last year."""
    seat_forfeited: SeatForfeited
    """A seat forfeited; from now on the steward plays it."""
    def __init__(self, seat: _Optional[int] = ..., asari: _Optional[int] = ..., prestige: _Optional[int] = ..., year_started: _Optional[_Union[YearStarted, _Mapping]] = ..., income_received: _Optional[_Union[IncomeReceived, _Mapping]] = ..., display_filled: _Optional[_Union[DisplayFilled, _Mapping]] = ..., gift_laid: _Optional[_Union[GiftLaid, _Mapping]] = ..., buyers_dispatched: _Optional[_Union[BuyersDispatched, _Mapping]] = ..., gift_taken: _Optional[_Union[GiftTaken, _Mapping]] = ..., section_taken: _Optional[_Union[SectionTaken, _Mapping]] = ..., move_declined: _Optional[_Union[MoveDeclined, _Mapping]] = ..., move_lost: _Optional[_Union[MoveLost, _Mapping]] = ..., funds_taken: _Optional[_Union[FundsTaken, _Mapping]] = ..., pile_searched: _Optional[_Union[PileSearched, _Mapping]] = ..., patronage_taken: _Optional[_Union[PatronageTaken, _Mapping]] = ..., buyers_recruited: _Optional[_Union[BuyersRecruited, _Mapping]] = ..., lit_windows_drawn: _Optional[_Union[LitWindowsDrawn, _Mapping]] = ..., lit_windows_kept: _Optional[_Union[LitWindowsKept, _Mapping]] = ..., genie_paid: _Optional[_Union[GeniePaid, _Mapping]] = ..., wish_made: _Optional[_Union[WishMade, _Mapping]] = ..., build_started: _Optional[_Union[BuildStarted, _Mapping]] = ..., tower_founded: _Optional[_Union[TowerFounded, _Mapping]] = ..., tower_extended: _Optional[_Union[TowerExtended, _Mapping]] = ..., window_lit: _Optional[_Union[WindowLit, _Mapping]] = ..., year_evaluated: _Optional[_Union[YearEvaluated, _Mapping]] = ..., final_evaluated: _Optional[_Union[FinalEvaluated, _Mapping]] = ..., seat_forfeited: _Optional[_Union[SeatForfeited, _Mapping]] = ...) -> None: ...

class YearStarted(_message.Message):
    """A year began."""
    __slots__ = ("year", "hand_size")
    YEAR_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZE_FIELD_NUMBER: _ClassVar[int]
    year: int
    """Number of the year, 1 to Edition.years."""
    hand_size: int
    """Number of buyers dealt to each seat."""
    def __init__(self, year: _Optional[int] = ..., hand_size: _Optional[int] = ...) -> None: ...

class IncomeReceived(_message.Message):
    """Starting money or yearly income was received; the amount is in Event.asari."""
    __slots__ = ()
    def __init__(self) -> None: ...

class DisplayFilled(_message.Message):
    """A display was filled."""
    __slots__ = ("sections",)
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    """The sections added, all of one kind, ordered by colour, plain before gold."""
    def __init__(self, sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ...) -> None: ...

class GiftLaid(_message.Message):
    """A gift card was laid."""
    __slots__ = ("space", "card")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    CARD_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    """The chest space."""
    card: _vocabulary_pb2.GiftCard
    """The card."""
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., card: _Optional[_Union[_vocabulary_pb2.GiftCard, _Mapping]] = ...) -> None: ...

class BuyersDispatched(_message.Message):
    """Buyers were dispatched."""
    __slots__ = ("space", "colour", "count")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    """The space."""
    colour: _vocabulary_pb2.BuyerColour
    """Colour of a face-up buyer; UNSPECIFIED for face-down buyers."""
    count: int
    """Number of buyers, 1 or 2."""
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., colour: _Optional[_Union[_vocabulary_pb2.BuyerColour, str]] = ..., count: _Optional[int] = ...) -> None: ...

class GiftTaken(_message.Message):
    """A gift card took effect or could not."""
    __slots__ = ("card", "effective")
    CARD_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    card: _vocabulary_pb2.GiftCard
    """The card."""
    effective: bool
    """False if the purchase or choice could not be made (ruling R10 in
    server/asara_game/README.md).
    """
    def __init__(self, card: _Optional[_Union[_vocabulary_pb2.GiftCard, _Mapping]] = ..., effective: _Optional[bool] = ...) -> None: ...

class SectionTaken(_message.Message):
    """A section was bought; the price is in Event.asari."""
    __slots__ = ("section", "from_pile")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    FROM_PILE_FIELD_NUMBER: _ClassVar[int]
    section: _vocabulary_pb2.Section
    """The section."""
    from_pile: bool
    """True if it came from a searched pile, false if from the display."""
    def __init__(self, section: _Optional[_Union[_vocabulary_pb2.Section, _Mapping]] = ..., from_pile: _Optional[bool] = ...) -> None: ...

class MoveDeclined(_message.Message):
    """An optional move was declined."""
    __slots__ = ()
    def __init__(self) -> None: ...

class MoveLost(_message.Message):
    """A move was lost."""
    __slots__ = ()
    def __init__(self) -> None: ...

class FundsTaken(_message.Message):
    """Money was taken; the amount is in Event.asari."""
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    """A space of the bank, or the coloured building."""
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ...) -> None: ...

class PileSearched(_message.Message):
    """A pile is being searched; the bribe is in Event.asari."""
    __slots__ = ("kind",)
    KIND_FIELD_NUMBER: _ClassVar[int]
    kind: _vocabulary_pb2.SectionKind
    """The pile."""
    def __init__(self, kind: _Optional[_Union[_vocabulary_pb2.SectionKind, str]] = ...) -> None: ...

class PatronageTaken(_message.Message):
    """The patronage tile was taken by Event.seat."""
    __slots__ = ()
    def __init__(self) -> None: ...

class BuyersRecruited(_message.Message):
    """Buyers were drawn; the cost is in Event.asari."""
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    """Number of buyers."""
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class LitWindowsDrawn(_message.Message):
    """Lit windows were drawn; the price is in Event.asari."""
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    """Number of lit windows."""
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class LitWindowsKept(_message.Message):
    """Lit windows were kept; a price paid through a gift card is in Event.asari."""
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    """Number of lit windows."""
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class GeniePaid(_message.Message):
    """The genie was paid; the cost is in Event.asari."""
    __slots__ = ()
    def __init__(self) -> None: ...

class WishMade(_message.Message):
    """A wish was made."""
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: _vocabulary_pb2.Space
    """The space whose move follows."""
    def __init__(self, space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ...) -> None: ...

class BuildStarted(_message.Message):
    """A build began; the plot's cost is in Event.asari."""
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: int
    """Number of sections to be built."""
    def __init__(self, count: _Optional[int] = ...) -> None: ...

class TowerFounded(_message.Message):
    """A tower was founded."""
    __slots__ = ("tower",)
    TOWER_FIELD_NUMBER: _ClassVar[int]
    tower: _vocabulary_pb2.Tower
    """The new tower."""
    def __init__(self, tower: _Optional[_Union[_vocabulary_pb2.Tower, _Mapping]] = ...) -> None: ...

class TowerExtended(_message.Message):
    """A tower was extended."""
    __slots__ = ("tower", "section")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    tower: int
    """Number of the tower."""
    section: _vocabulary_pb2.Section
    """The section added."""
    def __init__(self, tower: _Optional[int] = ..., section: _Optional[_Union[_vocabulary_pb2.Section, _Mapping]] = ...) -> None: ...

class WindowLit(_message.Message):
    """A window was covered."""
    __slots__ = ("tower", "gold")
    TOWER_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    tower: int
    """Number of the tower."""
    gold: bool
    """True if the covered window has gold."""
    def __init__(self, tower: _Optional[int] = ..., gold: _Optional[bool] = ...) -> None: ...

class YearEvaluated(_message.Message):
    """A seat's prestige at the end of a year; the total is in Event.prestige."""
    __slots__ = ("towers", "gold", "lit_windows", "patronage")
    TOWERS_FIELD_NUMBER: _ClassVar[int]
    GOLD_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    PATRONAGE_FIELD_NUMBER: _ClassVar[int]
    towers: int
    """Prestige for standing towers."""
    gold: int
    """Prestige for visible gold decorations."""
    lit_windows: int
    """Prestige for lit windows."""
    patronage: int
    """Prestige for the patronage."""
    def __init__(self, towers: _Optional[int] = ..., gold: _Optional[int] = ..., lit_windows: _Optional[int] = ..., patronage: _Optional[int] = ...) -> None: ...

class FinalEvaluated(_message.Message):
    """A seat's prestige after the last year; the total is in Event.prestige."""
    __slots__ = ("colours", "highest_tower", "most_towers", "asari")
    COLOURS_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_TOWER_FIELD_NUMBER: _ClassVar[int]
    MOST_TOWERS_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    colours: _containers.RepeatedCompositeFieldContainer[ColourPrestige]
    """Prestige for the highest towers of each colour."""
    highest_tower: int
    """Prestige for the highest towers of all colours."""
    most_towers: int
    """Prestige for the most towers."""
    asari: int
    """Prestige for money."""
    def __init__(self, colours: _Optional[_Iterable[_Union[ColourPrestige, _Mapping]]] = ..., highest_tower: _Optional[int] = ..., most_towers: _Optional[int] = ..., asari: _Optional[int] = ...) -> None: ...

class ColourPrestige(_message.Message):
    """Prestige earned in one colour."""
    __slots__ = ("colour", "prestige")
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    colour: _vocabulary_pb2.Colour
    """The colour."""
    prestige: int
    """Prestige."""
    def __init__(self, colour: _Optional[_Union[_vocabulary_pb2.Colour, str]] = ..., prestige: _Optional[int] = ...) -> None: ...

class SeatForfeited(_message.Message):
    """A seat forfeited. The event follows those of the turn in which it happened, whosever turn it
    was.
    """
    __slots__ = ("termination",)
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    termination: Termination
    """Reason for the forfeit."""
    def __init__(self, termination: _Optional[_Union[Termination, str]] = ...) -> None: ...
