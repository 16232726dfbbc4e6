"""The protocol between bots and the referee. Each bot process has one stream for any number of
matches.
"""

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
    """Kind of a decision."""
    __slots__ = ()
    DECISION_KIND_UNSPECIFIED: _ClassVar[DecisionKind]
    """Never sent."""
    DECISION_KIND_SPACE: _ClassVar[DecisionKind]
    """The space to dispatch to."""
    DECISION_KIND_BUYERS: _ClassVar[DecisionKind]
    """The buyers to lay on that space."""
    DECISION_KIND_SECTION: _ClassVar[DecisionKind]
    """The section of the display to buy, if any."""
    DECISION_KIND_BUILD_COUNT: _ClassVar[DecisionKind]
    """The number of sections to build on the plot."""
    DECISION_KIND_BUILD: _ClassVar[DecisionKind]
    """The next step of the build."""
    DECISION_KIND_PILE: _ClassVar[DecisionKind]
    """The pile to search."""
    DECISION_KIND_PILE_SECTION: _ClassVar[DecisionKind]
    """The section of the searched pile to buy, if any."""
    DECISION_KIND_LIT_OFFER: _ClassVar[DecisionKind]
    """The price to pay for lit windows."""
    DECISION_KIND_LIT_KEEP: _ClassVar[DecisionKind]
    """The drawn lit windows to keep."""
    DECISION_KIND_WISH: _ClassVar[DecisionKind]
    """The space whose move to wish for, if any."""
    DECISION_KIND_GIFT_BUYER: _ClassVar[DecisionKind]
    """The buyer to take through a gift card."""
    DECISION_KIND_GIFT_SECTION: _ClassVar[DecisionKind]
    """The section to buy through a gift card."""
    DECISION_KIND_GIFT_LIT_WINDOW: _ClassVar[DecisionKind]
    """The lit window to buy through a gift card."""
    DECISION_KIND_LIT_RETURN: _ClassVar[DecisionKind]
    """The lit window, among those drawn and not kept, that goes under the stack next."""

class RejectionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Reason for a rejection."""
    __slots__ = ()
    REJECTION_REASON_UNSPECIFIED: _ClassVar[RejectionReason]
    """Never sent."""
    REJECTION_REASON_EMPTY: _ClassVar[RejectionReason]
    """The reply contains no action."""
    REJECTION_REASON_ILLEGAL_ACTION: _ClassVar[RejectionReason]
    """The first action is not legal."""
    REJECTION_REASON_UNKNOWN_ACTION: _ClassVar[RejectionReason]
    """The first action is invalid in this edition: a member is unset, unknown or out of range."""
    REJECTION_REASON_TOO_MANY_ACTIONS: _ClassVar[RejectionReason]
    """The reply contains more than Limits.actions_per_reply actions."""
    REJECTION_REASON_UNKNOWN_DECISION: _ClassVar[RejectionReason]
    """The decision was never asked."""
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
    """A message from a bot."""
    __slots__ = ("hello", "reply", "nonce")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    """First message of a stream; sent once."""
    reply: Reply
    """Answer to Decision."""
    nonce: Nonce
    """Answer to DealCommitted."""
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ..., nonce: _Optional[_Union[Nonce, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    """Identifies the bot and states its options."""
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
    """Protocol version, 1."""
    token: str
    """Secret that identifies the bot."""
    bot_name: str
    """Name and version of the program, for logs only; truncated to 64 characters."""
    language: str
    """Programming language, for logs only; truncated to 64 characters."""
    max_matches: int
    """Maximum number of matches at once; 0 counts as 1."""
    live_updates: bool
    """True to receive an Update after every turn instead of all events with the next decision."""
    omit_public_view: bool
    """True to omit public_view from decisions; events contain the same information."""
    last_events: _containers.RepeatedCompositeFieldContainer[LastEvent]
    """On reconnection, the last event received of each match."""
    def __init__(self, protocol_version: _Optional[int] = ..., token: _Optional[str] = ..., bot_name: _Optional[str] = ..., language: _Optional[str] = ..., max_matches: _Optional[int] = ..., live_updates: _Optional[bool] = ..., omit_public_view: _Optional[bool] = ..., last_events: _Optional[_Iterable[_Union[LastEvent, _Mapping]]] = ...) -> None: ...

class LastEvent(_message.Message):
    """The last event of a match that a bot has received."""
    __slots__ = ("match_id", "sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    sequence: int
    """Sequence number of the event; 0 for none."""
    def __init__(self, match_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class Reply(_message.Message):
    """An answer to a decision."""
    __slots__ = ("match_id", "decision_id", "actions")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    decision_id: int
    """Number of the decision; replies to older decisions are ignored."""
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """One of Decision.legal_actions, optionally followed by further actions up to the end of the
    turn.
    """
    def __init__(self, match_id: _Optional[str] = ..., decision_id: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ...) -> None: ...

class Nonce(_message.Message):
    """A bot's contribution to a joint deal; sent once per match, in answer to DealCommitted."""
    __slots__ = ("match_id", "nonce")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    nonce: bytes
    """32 unpredictable bytes."""
    def __init__(self, match_id: _Optional[str] = ..., nonce: _Optional[bytes] = ...) -> None: ...

class PlayResponse(_message.Message):
    """A message from the referee."""
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
    """Answer to Hello."""
    match_started: MatchStarted
    """A match starts, or resumes after a reconnection."""
    update: Update
    """Events that are sent without a decision."""
    decision: Decision
    """A decision for this seat."""
    rejection: Rejection
    """The last reply was rejected; the decision stays open and its clock runs on."""
    match_ended: MatchEnded
    """A match has ended."""
    goodbye: Goodbye
    """No further messages follow; the bot may exit."""
    deal_committed: DealCommitted
    """A match is about to start and needs this bot's nonce."""
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., match_started: _Optional[_Union[MatchStarted, _Mapping]] = ..., update: _Optional[_Union[Update, _Mapping]] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., rejection: _Optional[_Union[Rejection, _Mapping]] = ..., match_ended: _Optional[_Union[MatchEnded, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., deal_committed: _Optional[_Union[DealCommitted, _Mapping]] = ...) -> None: ...

class Welcome(_message.Message):
    """The answer to Hello."""
    __slots__ = ("protocol_version", "referee", "entry", "limits")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    REFEREE_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    """Protocol version, 1."""
    referee: str
    """Name and version of the referee."""
    entry: str
    """Name of this bot's entry."""
    limits: Limits
    """Limits that the referee enforces."""
    def __init__(self, protocol_version: _Optional[int] = ..., referee: _Optional[str] = ..., entry: _Optional[str] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class Limits(_message.Message):
    """Limits that the referee enforces."""
    __slots__ = ("request_bytes", "requests_per_second", "matches", "actions_per_reply", "rejections_forgiven", "responses_unread")
    REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_PER_REPLY_FIELD_NUMBER: _ClassVar[int]
    REJECTIONS_FORGIVEN_FIELD_NUMBER: _ClassVar[int]
    RESPONSES_UNREAD_FIELD_NUMBER: _ClassVar[int]
    request_bytes: int
    """Maximum size of a request in bytes; a larger one ends the stream and forfeits its matches."""
    requests_per_second: int
    """Maximum number of requests per second that answer no open decision, averaged over several
    seconds; more end the stream and forfeit its matches.
    """
    matches: int
    """Maximum number of matches at once on one stream."""
    actions_per_reply: int
    """Maximum number of actions in a reply; a longer reply is rejected."""
    rejections_forgiven: int
    """Number of rejected replies forgiven in a match; one more forfeits it."""
    responses_unread: int
    """Maximum number of responses that may stay unread for a second; more end the stream and
    forfeit its matches.
    """
    def __init__(self, request_bytes: _Optional[int] = ..., requests_per_second: _Optional[int] = ..., matches: _Optional[int] = ..., actions_per_reply: _Optional[int] = ..., rejections_forgiven: _Optional[int] = ..., responses_unread: _Optional[int] = ...) -> None: ...

class DealCommitted(_message.Message):
    """Commits the referee to its secret before a match with a joint deal, and asks for the bot's
    nonce.
    """
    __slots__ = ("match_id", "seat", "deal_commitment")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    seat: int
    """This bot's seat, 0 to seats - 1."""
    deal_commitment: bytes
    """SHA-256 of the referee's secret, as in MatchStarted."""
    def __init__(self, match_id: _Optional[str] = ..., seat: _Optional[int] = ..., deal_commitment: _Optional[bytes] = ...) -> None: ...

class MatchStarted(_message.Message):
    """A match starts, or resumes after a reconnection."""
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
    """Name of the match; unique and independent of the deal."""
    seat: int
    """This bot's seat, 0 to seats - 1."""
    seats: int
    """Number of seats."""
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    """Rule sets of the match, in ascending order."""
    edition: _vocabulary_pb2.Edition
    """Numbers of the rules, such as prices."""
    edition_sha256: bytes
    """SHA-256 of the edition file."""
    clocks: Clocks
    """Time limits."""
    deal_commitment: bytes
    """SHA-256 of the referee's secret, which commits it to the deal. MatchEnded contains the secret
    unless the deal is shared.
    """
    view: _view_pb2.View
    """Current view of the seat."""
    sequence: int
    """Sequence number of the last event included in the view."""
    resumed: bool
    """True if the match was running before this stream."""
    nonces: _containers.RepeatedScalarFieldContainer[bytes]
    """Nonces of a joint deal by seat, empty for a seat that sent none; no entries without a joint
    deal.
    """
    shared_deal: bool
    """True if other matches may have the same deal. MatchEnded then omits the secret; the replays
    contain it once all of these matches have ended.
    """
    def __init__(self, match_id: _Optional[str] = ..., seat: _Optional[int] = ..., seats: _Optional[int] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., edition: _Optional[_Union[_vocabulary_pb2.Edition, _Mapping]] = ..., edition_sha256: _Optional[bytes] = ..., clocks: _Optional[_Union[Clocks, _Mapping]] = ..., deal_commitment: _Optional[bytes] = ..., view: _Optional[_Union[_view_pb2.View, _Mapping]] = ..., sequence: _Optional[int] = ..., resumed: _Optional[bool] = ..., nonces: _Optional[_Iterable[bytes]] = ..., shared_deal: _Optional[bool] = ...) -> None: ...

class Clocks(_message.Message):
    """Time limits of a bot, in microseconds."""
    __slots__ = ("start_up_us", "bank_us", "increment_us", "grace_us", "reconnect_us")
    START_UP_US_FIELD_NUMBER: _ClassVar[int]
    BANK_US_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_US_FIELD_NUMBER: _ClassVar[int]
    GRACE_US_FIELD_NUMBER: _ClassVar[int]
    RECONNECT_US_FIELD_NUMBER: _ClassVar[int]
    start_up_us: int
    """From the moment the match is due until the bot must have connected."""
    bank_us: int
    """Bank at the start of the match."""
    increment_us: int
    """Added to the bank before each decision."""
    grace_us: int
    """Not charged for each decision, to allow for the network."""
    reconnect_us: int
    """Until a bot must have reconnected after its stream broke, even if it has no decision to make.
    """
    def __init__(self, start_up_us: _Optional[int] = ..., bank_us: _Optional[int] = ..., increment_us: _Optional[int] = ..., grace_us: _Optional[int] = ..., reconnect_us: _Optional[int] = ...) -> None: ...

class Update(_message.Message):
    """Events that are sent without a decision."""
    __slots__ = ("match_id", "events", "sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    """Events in order."""
    sequence: int
    """Sequence number of the last of these events; the first event of a match has number 1."""
    def __init__(self, match_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ...) -> None: ...

class Decision(_message.Message):
    """A decision for this seat."""
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
    """The match."""
    decision_id: int
    """Number of the decision; a seat's decisions in a match are numbered from 1."""
    kind: DecisionKind
    """Kind of the decision."""
    legal_actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """All legal actions, at least two; any of them may be sent back unchanged."""
    space: _vocabulary_pb2.Space
    """Space dispatched to or, after a wish, wished for; unset in decision SPACE."""
    sections_to_build: int
    """Number of sections left to build in this build."""
    clock_us: int
    """Time left for this decision in microseconds: the bank with its increment."""
    charged_us: int
    """Time charged for the seat's previous decision in microseconds."""
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    """Events since the previous message of this match to this seat."""
    sequence: int
    """Sequence number of the last event."""
    view: _view_pb2.View
    """Current view of the seat."""
    build_steps: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """Steps already made in this build."""
    gifts: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.GiftCard]
    """Gift cards that still have to take effect, the current one first."""
    lit_windows_to_keep: int
    """Number of drawn lit windows to keep."""
    def __init__(self, match_id: _Optional[str] = ..., decision_id: _Optional[int] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., legal_actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., space: _Optional[_Union[_vocabulary_pb2.Space, _Mapping]] = ..., sections_to_build: _Optional[int] = ..., clock_us: _Optional[int] = ..., charged_us: _Optional[int] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ..., view: _Optional[_Union[_view_pb2.View, _Mapping]] = ..., build_steps: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., gifts: _Optional[_Iterable[_Union[_vocabulary_pb2.GiftCard, _Mapping]]] = ..., lit_windows_to_keep: _Optional[int] = ...) -> None: ...

class Rejection(_message.Message):
    """A reply was rejected. The decision that was open stays open; reply to it again."""
    __slots__ = ("match_id", "decision_id", "reason", "detail", "legal_actions", "clock_us", "forgiven")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    LEGAL_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_US_FIELD_NUMBER: _ClassVar[int]
    FORGIVEN_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    decision_id: int
    """Number of the open decision, even if the reply had another number; 0 if none is open."""
    reason: RejectionReason
    """Reason for the rejection."""
    detail: str
    """Reason in words."""
    legal_actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """All legal actions of the open decision; empty if none is open."""
    clock_us: int
    """Time left for the open decision in microseconds; 0 if none is open."""
    forgiven: int
    """Number of further rejections forgiven in this match."""
    def __init__(self, match_id: _Optional[str] = ..., decision_id: _Optional[int] = ..., reason: _Optional[_Union[RejectionReason, str]] = ..., detail: _Optional[str] = ..., legal_actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., clock_us: _Optional[int] = ..., forgiven: _Optional[int] = ...) -> None: ...

class MatchEnded(_message.Message):
    """A match has ended."""
    __slots__ = ("match_id", "events", "sequence", "results", "deal_secret", "void")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    DEAL_SECRET_FIELD_NUMBER: _ClassVar[int]
    VOID_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """The match."""
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    """Events since the previous message of this match to this seat."""
    sequence: int
    """Sequence number of the last event."""
    results: _containers.RepeatedCompositeFieldContainer[SeatResult]
    """Results of all seats, in seat order."""
    deal_secret: bytes
    """The referee's secret, whose SHA-256 is MatchStarted.deal_commitment; empty if the deal is
    shared or the match void.
    """
    void: bool
    """True if the referee failed: the match does not count and is played again."""
    def __init__(self, match_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., sequence: _Optional[int] = ..., results: _Optional[_Iterable[_Union[SeatResult, _Mapping]]] = ..., deal_secret: _Optional[bytes] = ..., void: _Optional[bool] = ...) -> None: ...

class SeatResult(_message.Message):
    """Result of one seat; sent only after the end of the match."""
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
    """The seat."""
    entry: str
    """Name of the entry."""
    rank: int
    """Rank, 1 for the best; seats that tie share a rank, and the following ranks are skipped."""
    prestige: int
    """Prestige at the end."""
    termination: _event_pb2.Termination
    """How the match ended for the seat."""
    detail: str
    """Reason for a forfeit, in words."""
    asari: int
    """Asari left in the purse."""
    sections: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Section]
    """Unbuilt sections, ordered by kind and colour, plain before gold."""
    lit_windows: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Colour]
    """Unbuilt lit windows, ordered by colour."""
    def __init__(self, seat: _Optional[int] = ..., entry: _Optional[str] = ..., rank: _Optional[int] = ..., prestige: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ..., asari: _Optional[int] = ..., sections: _Optional[_Iterable[_Union[_vocabulary_pb2.Section, _Mapping]]] = ..., lit_windows: _Optional[_Iterable[_Union[_vocabulary_pb2.Colour, str]]] = ...) -> None: ...

class Goodbye(_message.Message):
    """No further messages follow."""
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    """Reason in words."""
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
