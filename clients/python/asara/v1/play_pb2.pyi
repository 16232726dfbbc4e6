from asara.v1 import event_pb2 as _event_pb2
from asara.v1 import view_pb2 as _view_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecisionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_KIND_UNSPECIFIED: _ClassVar[DecisionKind]
    DECISION_KIND_SPACE: _ClassVar[DecisionKind]
    DECISION_KIND_BUYERS: _ClassVar[DecisionKind]
    DECISION_KIND_SECTION: _ClassVar[DecisionKind]
    DECISION_KIND_BUILD_COUNT: _ClassVar[DecisionKind]
    DECISION_KIND_BUILD: _ClassVar[DecisionKind]
    DECISION_KIND_PILE: _ClassVar[DecisionKind]
    DECISION_KIND_PILE_SECTION: _ClassVar[DecisionKind]
    DECISION_KIND_LIT_OFFER: _ClassVar[DecisionKind]
    DECISION_KIND_LIT_KEEP: _ClassVar[DecisionKind]
    DECISION_KIND_WISH: _ClassVar[DecisionKind]
    DECISION_KIND_GIFT_BUYER: _ClassVar[DecisionKind]
    DECISION_KIND_GIFT_SECTION: _ClassVar[DecisionKind]
    DECISION_KIND_GIFT_LIT_WINDOW: _ClassVar[DecisionKind]
    DECISION_KIND_LIT_RETURN: _ClassVar[DecisionKind]

class RejectionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REJECTION_REASON_UNSPECIFIED: _ClassVar[RejectionReason]
    REJECTION_REASON_EMPTY: _ClassVar[RejectionReason]
    REJECTION_REASON_ILLEGAL_ACTION: _ClassVar[RejectionReason]
    REJECTION_REASON_UNKNOWN_ACTION: _ClassVar[RejectionReason]
    REJECTION_REASON_TOO_MANY_ACTIONS: _ClassVar[RejectionReason]
    REJECTION_REASON_UNKNOWN_DECISION: _ClassVar[RejectionReason]
DECISION_KIND_UNSPECIFIED: DecisionKind
DECISION_KIND_SPACE: DecisionKind
DECISION_KIND_BUYERS: DecisionKind
DECISION_KIND_SECTION: DecisionKind
DECISION_KIND_BUILD_COUNT: DecisionKind
DECISION_KIND_BUILD: DecisionKind
DECISION_KIND_PILE: DecisionKind
DECISION_KIND_PILE_SECTION: DecisionKind
DECISION_KIND_LIT_OFFER: DecisionKind
DECISION_KIND_LIT_KEEP: DecisionKind
DECISION_KIND_WISH: DecisionKind
DECISION_KIND_GIFT_BUYER: DecisionKind
DECISION_KIND_GIFT_SECTION: DecisionKind
DECISION_KIND_GIFT_LIT_WINDOW: DecisionKind
DECISION_KIND_LIT_RETURN: DecisionKind
REJECTION_REASON_UNSPECIFIED: RejectionReason
REJECTION_REASON_EMPTY: RejectionReason
REJECTION_REASON_ILLEGAL_ACTION: RejectionReason
REJECTION_REASON_UNKNOWN_ACTION: RejectionReason
REJECTION_REASON_TOO_MANY_ACTIONS: RejectionReason
REJECTION_REASON_UNKNOWN_DECISION: RejectionReason

class PlayRequest(_message.Message):
    __slots__ = ("hello", "reply", "nonce")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    reply: Reply
    nonce: Nonce
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ..., nonce: _Optional[_Union[Nonce, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("protocol_version", "token", "bot_name", "language", "max_matches", "live_updates", "omit_public_view", "last_events")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    BOT_NAME_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    MAX_MATCHES_FIELD_NUMBER: _ClassVar[int]
    LIVE_UPDATES_FIELD_NUMBER: _ClassVar[int]
    OMIT_PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENTS_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    token: str
    bot_name: str
    language: str
    max_matches: int
    live_updates: bool
    omit_public_view: bool
    last_events: _containers.RepeatedCompositeFieldContainer[LastEvent]
    def __init__(self, protocol_version: _Optional[int] = ..., token: _Optional[str] = ..., bot_name: _Optional[str] = ..., language: _Optional[str] = ..., max_matches: _Optional[int] = ..., live_updates: _Optional[bool] = ..., omit_public_view: _Optional[bool] = ..., last_events: _Optional[_Iterable[_Union[LastEvent, _Mapping]]] = ...) -> None: ...

class LastEvent(_message.Message):
    __slots__ = ("match_id", "sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    sequence: int
    def __init__(self, match_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("match_id", "decision_id", "actions")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    decision_id: int
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    def __init__(self, match_id: _Optional[str] = ..., decision_id: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ...) -> None: ...

class Nonce(_message.Message):
    __slots__ = ("match_id", "nonce")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    nonce: bytes
    def __init__(self, match_id: _Optional[str] = ..., nonce: _Optional[bytes] = ...) -> None: ...

class PlayResponse(_message.Message):
    __slots__ = ("welcome", "match_started", "update", "decision", "rejection", "match_ended", "goodbye", "deal_committed")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    MATCH_STARTED_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    MATCH_ENDED_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITTED_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    match_started: MatchStarted
    update: Update
    decision: Decision
    rejection: Rejection
    match_ended: MatchEnded
    goodbye: Goodbye
    deal_committed: DealCommitted
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., match_started: _Optional[_Union[MatchStarted, _Mapping]] = ..., update: _Optional[_Union[Update, _Mapping]] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., rejection: _Optional[_Union[Rejection, _Mapping]] = ..., match_ended: _Optional[_Union[MatchEnded, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., deal_committed: _Optional[_Union[DealCommitted, _Mapping]] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("protocol_version", "referee", "entry", "limits")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    REFEREE_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    referee: str
    entry: str
    limits: Limits
    def __init__(self, protocol_version: _Optional[int] = ..., referee: _Optional[str] = ..., entry: _Optional[str] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("request_bytes", "requests_per_second", "matches", "actions_per_reply", "rejections_forgiven", "responses_unread")
    REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_PER_REPLY_FIELD_NUMBER: _ClassVar[int]
    REJECTIONS_FORGIVEN_FIELD_NUMBER: _ClassVar[int]
    RESPONSES_UNREAD_FIELD_NUMBER: _ClassVar[int]
    request_bytes: int
    requests_per_second: int
    matches: int
    actions_per_reply: int
    rejections_forgiven: int
    responses_unread: int
    def __init__(self, request_bytes: _Optional[int] = ..., requests_per_second: _Optional[int] = ..., matches: _Optional[int] = ..., actions_per_reply: _Optional[int] = ..., rejections_forgiven: _Optional[int] = ..., responses_unread: _Optional[int] = ...) -> None: ...

class DealCommitted(_message.Message):
    __slots__ = ("match_id", "seat", "deal_commitment")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    seat: int
    deal_commitment: bytes
    def __init__(self, match_id: _Optional[str] = ..., seat: _Optional[int] = ..., deal_commitment: _Optional[bytes] = ...) -> None: ...

class MatchStarted(_message.Message):
    __slots__ = ("match_id", "seat", "seats", "rule_sets", "edition", "edition_sha256", "clocks", "deal_commitment", "view", "sequence", "resumed", "nonces", "shared_deal")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    RULE_SETS_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    EDITION_SHA256_FIELD_NUMBER: _ClassVar[int]
    CLOCKS_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    NONCES_FIELD_NUMBER: _ClassVar[int]
    SHARED_DEAL_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    seat: int
    seats: int
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    edition: _vocabulary_pb2.Edition
    edition_sha256: bytes
    clocks: Clocks
    deal_commitment: bytes
    view: _view_pb2.View
    sequence: int
    resumed: bool
    nonces: _containers.RepeatedScalarFieldContainer[bytes]
    shared_deal: bool
    def __init__(self, match_id: _Optional[str] = ..., seat: _Optional[int] = ..., seats: _Optional[int] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., edition: _Optional[_Union[_vocabulary_pb2.Edition, _Mapping]] = ..., edition_sha256: _Optional[bytes] = ..., clocks: _Optional[_Union[Clocks, _Mapping]] = ..., deal_commitment: _Optional[bytes] = ..., view: _Optional[_Union[_view_pb2.View, _Mapping]] = ..., sequence: _Optional[int] = ..., resumed: _Optional[bool] = ..., nonces: _Optional[_Iterable[bytes]] = ..., shared_deal: _Optional[bool] = ...) -> None: ...

class Clocks(_message.Message):
    __slots__ = ("start_up_us", "bank_us", "increment_us", "grace_us", "reconnect_us")
    START_UP_US_FIELD_NUMBER: _ClassVar[int]
    BANK_US_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_US_FIELD_NUMBER: _ClassVar[int]
    GRACE_US_FIELD_NUMBER: _ClassVar[int]
    RECONNECT_US_FIELD_NUMBER: _ClassVar[int]
    start_up_us: int
    bank_us: int
    increment_us: int
    grace_us: int
    reconnect_us: int
    def __init__(self, start_up_us: _Optional[int] = ..., bank_us: _Optional[int] = ..., increment_us: _Optional[int] = ..., grace_us: _Optional[int] = ..., reconnect_us: _Optional[int] = ...) -> None: ...

class Update(_message.Message):
    __slots__ = ("match_id", "events", "sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    sequence: int
    def __init__(self, match_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("match_id", "decision_id", "kind", "legal_actions", "space", "sections_to_build", "clock_us", "charged_us", "events", "sequence", "view", "build_steps", "gifts", "lit_windows_to_keep")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LEGAL_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_TO_BUILD_FIELD_NUMBER: _ClassVar[int]
    CLOCK_US_FIELD_NUMBER: _ClassVar[int]
    CHARGED_US_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    BUILD_STEPS_FIELD_NUMBER: _ClassVar[int]
    GIFTS_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_TO_KEEP_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    decision_id: int
    kind: DecisionKind
    legal_actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    space: _vocabulary_pb2.Space
    sections_to_build: int
    clock_us: int
    charged_us: int
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    sequence: int
    view: _view_pb2.View
    build_steps: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    gifts: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.GiftCard]
    lit_windows_to_keep: int
    def __init__(self, match_id: _Optional[str] = ..., decision_id: _Optional[int] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., legal_actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., sections_to_build: _Optional[int] = ..., clock_us: _Optional[int] = ..., charged_us: _Optional[int] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ..., view: _Optional[_Union[_view_pb2.View, _Mapping]] = ..., build_steps: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., gifts: _Optional[_Iterable[_Union[_vocabulary_pb2.GiftCard, _Mapping]]] = ..., lit_windows_to_keep: _Optional[int] = ...) -> None: ...

class Rejection(_message.Message):
    __slots__ = ("match_id", "decision_id", "reason", "detail", "legal_actions", "clock_us", "forgiven")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    LEGAL_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_US_FIELD_NUMBER: _ClassVar[int]
    FORGIVEN_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    decision_id: int
    reason: RejectionReason
    detail: str
    legal_actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    clock_us: int
    forgiven: int
    def __init__(self, match_id: _Optional[str] = ..., decision_id: _Optional[int] = ..., reason: _Optional[_Union[RejectionReason, str]] = ..., detail: _Optional[str] = ..., legal_actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., clock_us: _Optional[int] = ..., forgiven: _Optional[int] = ...) -> None: ...

class MatchEnded(_message.Message):
    __slots__ = ("match_id", "events", "sequence", "results", "deal_secret", "void")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    DEAL_SECRET_FIELD_NUMBER: _ClassVar[int]
    VOID_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    sequence: int
    results: _containers.RepeatedCompositeFieldContainer[SeatResult]
    deal_secret: bytes
    void: bool
    def __init__(self, match_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ..., results: _Optional[_Iterable[_Union[SeatResult, _Mapping]]] = ..., deal_secret: _Optional[bytes] = ..., void: _Optional[bool] = ...) -> None: ...

class SeatResult(_message.Message):
    __slots__ = ("seat", "entry", "rank", "prestige", "termination", "detail", "asari", "sections", "lit_windows")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    ASARI_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    LIT_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    entry: str
    rank: int
    prestige: int
    termination: _event_pb2.Termination
    detail: str
    asari: int
    sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    lit_windows: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Colour]
    def __init__(self, seat: _Optional[int] = ..., entry: _Optional[str] = ..., rank: _Optional[int] = ..., prestige: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ..., asari: _Optional[int] = ..., sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., lit_windows: _Optional[_Iterable[_Union[_vocabulary_pb2.Colour, str]]] = ...) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
