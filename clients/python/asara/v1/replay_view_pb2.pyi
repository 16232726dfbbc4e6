"""A finished match as one viewer may see it: for pages and tools, not for bots."""

from asara.v1 import event_pb2 as _event_pb2
from asara.v1 import play_pb2 as _play_pb2
from asara.v1 import view_pb2 as _view_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ViewerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Kind of a viewer."""
    __slots__ = ()
    VIEWER_KIND_UNSPECIFIED: _ClassVar[ViewerKind]
    """Never sent."""
    VIEWER_KIND_EVERYBODY: _ClassVar[ViewerKind]
    """Public information only."""
    VIEWER_KIND_SEAT: _ClassVar[ViewerKind]
    """Public information and that of one seat."""
    VIEWER_KIND_OPEN: _ClassVar[ViewerKind]
    """The information of all seats."""
VIEWER_KIND_UNSPECIFIED: ViewerKind
VIEWER_KIND_EVERYBODY: ViewerKind
VIEWER_KIND_SEAT: ViewerKind
VIEWER_KIND_OPEN: ViewerKind

class ReplayView(_message.Message):
    """A finished match as one viewer may see it. It is a function of what the viewer was sent
    during the match and of the results, which all seats receive.
    """
    __slots__ = ("match_id", "viewer", "viewer_seat", "entries", "rule_sets", "edition", "clocks", "started_unix_ms", "deal_commitment", "shared_deal", "moments", "results")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    VIEWER_FIELD_NUMBER: _ClassVar[int]
    VIEWER_SEAT_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    RULE_SETS_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    CLOCKS_FIELD_NUMBER: _ClassVar[int]
    STARTED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    SHARED_DEAL_FIELD_NUMBER: _ClassVar[int]
    MOMENTS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """Name of the match."""
    viewer: ViewerKind
    """The viewer."""
    viewer_seat: int
    """Seat of the viewer; 0 for other kinds."""
    entries: _containers.RepeatedScalarFieldContainer[str]
    """Names of the entries, by seat."""
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    """Rule sets of the match, in ascending order."""
    edition: _vocabulary_pb2.Edition
    """Numbers of the rules, such as prices."""
    clocks: _play_pb2.Clocks
    """Time limits."""
    started_unix_ms: int
    """Start of the match, in milliseconds since 1970 UTC."""
    deal_commitment: bytes
    """SHA-256 of the referee's secret, which commits it to the deal."""
    shared_deal: str
    """Name of the deal if other matches may have it; empty otherwise."""
    moments: _containers.RepeatedCompositeFieldContainer[ReplayMoment]
    """The set-up, and then what followed. A moment is a reply of a seat that the viewer sees, with
    the events up to the end of its turn or the seat's next decision, or otherwise a whole turn.
    """
    results: _containers.RepeatedCompositeFieldContainer[_play_pb2.SeatResult]
    """Results of all seats, in seat order."""
    def __init__(self, match_id: _Optional[str] = ..., viewer: _Optional[_Union[ViewerKind, str]] = ..., viewer_seat: _Optional[int] = ..., entries: _Optional[_Iterable[str]] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., edition: _Optional[_Union[_vocabulary_pb2.Edition, _Mapping]] = ..., clocks: _Optional[_Union[_play_pb2.Clocks, _Mapping]] = ..., started_unix_ms: _Optional[int] = ..., deal_commitment: _Optional[bytes] = ..., shared_deal: _Optional[str] = ..., moments: _Optional[_Iterable[_Union[ReplayMoment, _Mapping]]] = ..., results: _Optional[_Iterable[_Union[_play_pb2.SeatResult, _Mapping]]] = ...) -> None: ...

class ReplayMoment(_message.Message):
    """A step of the match."""
    __slots__ = ("events", "sequence", "private_views", "decision")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_VIEWS_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    """Events of the step, in order; often none."""
    sequence: int
    """Sequence number of the last event so far."""
    private_views: _containers.RepeatedCompositeFieldContainer[_view_pb2.PrivateView]
    """Views of seats that the viewer sees, after the events: those that differ from the seat's last
    one. A seat has none before it takes part, and none that it was never sent.
    """
    decision: ReplayDecision
    """The decision that the step answers; set only for seats that the viewer sees."""
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ..., private_views: _Optional[_Iterable[_Union[_view_pb2.PrivateView, _Mapping]]] = ..., decision: _Optional[_Union[ReplayDecision, _Mapping]] = ...) -> None: ...

class ReplayDecision(_message.Message):
    """A decision with the answer to it, a rejected answer, or none."""
    __slots__ = ("seat", "decision_id", "kind", "legal_actions", "actions", "rejection", "detail", "time_us", "bot_us", "clock_us", "space", "log", "sections_to_build", "build_steps", "gifts", "lit_windows_to_keep")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LEGAL_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    BOT_US_FIELD_NUMBER: _ClassVar[int]
    CLOCK_US_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_TO_BUILD_FIELD_NUMBER: _ClassVar[int]
    BUILD_STEPS_FIELD_NUMBER: _ClassVar[int]
    GIFTS_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_TO_KEEP_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """Seat that decided."""
    decision_id: int
    """Number of the decision; in a rejection, the one that the reply named."""
    kind: _play_pb2.DecisionKind
    """Kind of the decision; UNSPECIFIED if the rejected reply answered none that was open."""
    legal_actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """All legal actions."""
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """The actions that were applied, or the first ones of a rejected reply. Without actions and
    rejection, the decision was never answered.
    """
    rejection: _play_pb2.RejectionReason
    """Reason if the reply was rejected; UNSPECIFIED otherwise."""
    detail: str
    """Reason of the rejection in words."""
    time_us: int
    """Time of arrival, or of the end of the wait, in microseconds since the match started."""
    bot_us: int
    """Time that the referee waited for the bot, in microseconds."""
    clock_us: int
    """Time left on the seat's clock when it was asked, in microseconds."""
    space: _vocabulary_pb2.Space
    """Space dispatched to or, after a wish, wished for; unset in decision SPACE."""
    log: str
    """What the bot wrote to its log while it decided; empty if that is unknown."""
    sections_to_build: int
    """Number of sections left to build in this build."""
    build_steps: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """Steps already made in this build."""
    gifts: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.GiftCard]
    """Gift cards that still have to take effect, the current one first."""
    lit_windows_to_keep: int
    """Number of drawn lit windows to keep."""
    def __init__(self, seat: _Optional[int] = ..., decision_id: _Optional[int] = ..., kind: _Optional[_Union[_play_pb2.DecisionKind, str]] = ..., legal_actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., rejection: _Optional[_Union[_play_pb2.RejectionReason, str]] = ..., detail: _Optional[str] = ..., time_us: _Optional[int] = ..., bot_us: _Optional[int] = ..., clock_us: _Optional[int] = ..., space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., log: _Optional[str] = ..., sections_to_build: _Optional[int] = ..., build_steps: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., gifts: _Optional[_Iterable[_Union[_vocabulary_pb2.GiftCard, _Mapping]]] = ..., lit_windows_to_keep: _Optional[int] = ...) -> None: ...
