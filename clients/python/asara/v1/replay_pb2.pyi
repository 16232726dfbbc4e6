"""A finished match as a file. It contains hidden information; no message that bots receive imports
this file. server/asara_server/replay/README.md describes the file format and its invariants.
"""

from asara.v1 import event_pb2 as _event_pb2
from asara.v1 import play_pb2 as _play_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProcessPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Lifetime of the process of a bot."""
    __slots__ = ()
    PROCESS_POLICY_UNSPECIFIED: _ClassVar[ProcessPolicy]
    """The process was started elsewhere, such as that of a bot on another machine."""
    PROCESS_POLICY_MATCH: _ClassVar[ProcessPolicy]
    """The process played this match only."""
    PROCESS_POLICY_RUN: _ClassVar[ProcessPolicy]
    """The process may have played other matches of the run, with other deals, before and after."""
PROCESS_POLICY_UNSPECIFIED: ProcessPolicy
PROCESS_POLICY_MATCH: ProcessPolicy
PROCESS_POLICY_RUN: ProcessPolicy

class Replay(_message.Message):
    """A complete replay, as `asara replay export` writes it in JSON. Replay files contain the
    records one by one.
    """
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ReplayRecord]
    """All records, in order."""
    def __init__(self, records: _Optional[_Iterable[_Union[ReplayRecord, _Mapping]]] = ...) -> None: ...

class ReplayRecord(_message.Message):
    """One record of a replay. A replay consists of a header, the start, all inputs of the match in
    order, the result and the signature. Unless stated otherwise, times are microseconds since the
    match started.
    """
    __slots__ = ("header", "reply", "rejection", "forfeit", "result", "start", "expiry", "leave", "enter", "halt", "reopen", "signature", "pause", "late_reply")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    FORFEIT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    EXPIRY_FIELD_NUMBER: _ClassVar[int]
    LEAVE_FIELD_NUMBER: _ClassVar[int]
    ENTER_FIELD_NUMBER: _ClassVar[int]
    HALT_FIELD_NUMBER: _ClassVar[int]
    REOPEN_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    LATE_REPLY_FIELD_NUMBER: _ClassVar[int]
    header: ReplayHeader
    """First record."""
    reply: ReplayReply
    """An accepted reply."""
    rejection: ReplayRejection
    """A rejected reply."""
    forfeit: ReplayForfeit
    """A seat forfeited for a reason outside the match."""
    result: ReplayResult
    """Last record but one."""
    start: ReplayStart
    """Second record."""
    expiry: ReplayExpiry
    """Seats ran out of time."""
    leave: ReplayLeave
    """A bot disconnected."""
    enter: ReplayEnter
    """A bot reconnected."""
    halt: ReplayHalt
    """The referee was asked to stop: it asks no further decisions."""
    reopen: ReplayReopen
    """The referee was restarted: all streams are lost, and open decisions are asked again."""
    signature: ReplaySignature
    """Last record."""
    pause: ReplayPause
    """A pause in place of a decision that was not asked has ended."""
    late_reply: ReplayLateReply
    """A reply to the decision for which its seat had run out of time."""
    def __init__(self, header: _Optional[_Union[ReplayHeader, _Mapping]] = ..., reply: _Optional[_Union[ReplayReply, _Mapping]] = ..., rejection: _Optional[_Union[ReplayRejection, _Mapping]] = ..., forfeit: _Optional[_Union[ReplayForfeit, _Mapping]] = ..., result: _Optional[_Union[ReplayResult, _Mapping]] = ..., start: _Optional[_Union[ReplayStart, _Mapping]] = ..., expiry: _Optional[_Union[ReplayExpiry, _Mapping]] = ..., leave: _Optional[_Union[ReplayLeave, _Mapping]] = ..., enter: _Optional[_Union[ReplayEnter, _Mapping]] = ..., halt: _Optional[_Union[ReplayHalt, _Mapping]] = ..., reopen: _Optional[_Union[ReplayReopen, _Mapping]] = ..., signature: _Optional[_Union[ReplaySignature, _Mapping]] = ..., pause: _Optional[_Union[ReplayPause, _Mapping]] = ..., late_reply: _Optional[_Union[ReplayLateReply, _Mapping]] = ...) -> None: ...

class ReplayHeader(_message.Message):
    """The parameters of the match."""
    __slots__ = ("match_id", "rules_version", "edition_zlib", "rule_sets", "entries", "clocks", "deal_secret", "started_unix_ms", "actions_per_reply", "rejections_forgiven", "nonces", "shared_deal", "hide_forced", "processes")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    RULES_VERSION_FIELD_NUMBER: _ClassVar[int]
    EDITION_ZLIB_FIELD_NUMBER: _ClassVar[int]
    RULE_SETS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    CLOCKS_FIELD_NUMBER: _ClassVar[int]
    DEAL_SECRET_FIELD_NUMBER: _ClassVar[int]
    STARTED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_PER_REPLY_FIELD_NUMBER: _ClassVar[int]
    REJECTIONS_FORGIVEN_FIELD_NUMBER: _ClassVar[int]
    NONCES_FIELD_NUMBER: _ClassVar[int]
    SHARED_DEAL_FIELD_NUMBER: _ClassVar[int]
    HIDE_FORCED_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """Name of the match."""
    rules_version: int
    """Version of the implemented rules; changes whenever a ruling changes."""
    edition_zlib: bytes
    """The edition file, compressed with zlib."""
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    """Rule sets of the match, in ascending order."""
    entries: _containers.RepeatedScalarFieldContainer[str]
    """Names of the entries, by seat."""
    clocks: _play_pb2.Clocks
    """Time limits."""
    deal_secret: bytes
    """The referee's secret, from which the deal is derived; 32 bytes."""
    started_unix_ms: int
    """Start of the match, in milliseconds since 1970 UTC."""
    actions_per_reply: int
    """Maximum number of actions in a reply."""
    rejections_forgiven: int
    """Number of rejected replies forgiven to each seat."""
    nonces: _containers.RepeatedScalarFieldContainer[bytes]
    """Nonces of a joint deal by seat, as in MatchStarted."""
    shared_deal: str
    """Name of the deal, which is the block's, if other matches may have it; otherwise empty."""
    hide_forced: bool
    """True if a pause hides that a seat had no choice."""
    processes: _containers.RepeatedScalarFieldContainer[ProcessPolicy]
    """Lifetime of the bots' processes by seat; empty if the program that played the match did not
    record it. Nothing in the match depends on it.
    """
    def __init__(self, match_id: _Optional[str] = ..., rules_version: _Optional[int] = ..., edition_zlib: _Optional[bytes] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., entries: _Optional[_Iterable[str]] = ..., clocks: _Optional[_Union[_play_pb2.Clocks, _Mapping]] = ..., deal_secret: _Optional[bytes] = ..., started_unix_ms: _Optional[int] = ..., actions_per_reply: _Optional[int] = ..., rejections_forgiven: _Optional[int] = ..., nonces: _Optional[_Iterable[bytes]] = ..., shared_deal: _Optional[str] = ..., hide_forced: _Optional[bool] = ..., processes: _Optional[_Iterable[_Union[ProcessPolicy, str]]] = ...) -> None: ...

class ReplayStart(_message.Message):
    """The match started."""
    __slots__ = ("present", "absent")
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    ABSENT_FIELD_NUMBER: _ClassVar[int]
    present: _containers.RepeatedCompositeFieldContainer[ReplayPresence]
    """Bots that were connected, in seat order."""
    absent: _containers.RepeatedCompositeFieldContainer[ReplayAbsence]
    """Seats whose bots were not connected, in seat order; they forfeited immediately."""
    def __init__(self, present: _Optional[_Iterable[_Union[ReplayPresence, _Mapping]]] = ..., absent: _Optional[_Iterable[_Union[ReplayAbsence, _Mapping]]] = ...) -> None: ...

class ReplayPresence(_message.Message):
    """The stream of a bot, as far as it concerns the match."""
    __slots__ = ("seat", "live_updates", "omit_public_view", "last_sequence")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    LIVE_UPDATES_FIELD_NUMBER: _ClassVar[int]
    OMIT_PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    live_updates: bool
    """Hello.live_updates."""
    omit_public_view: bool
    """Hello.omit_public_view."""
    last_sequence: int
    """Hello.last_events of this match; unset if the bot sent none."""
    def __init__(self, seat: _Optional[int] = ..., live_updates: _Optional[bool] = ..., omit_public_view: _Optional[bool] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class ReplayAbsence(_message.Message):
    """A seat that forfeited before the first decision."""
    __slots__ = ("seat", "termination", "detail")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    termination: _event_pb2.Termination
    """Reason for the forfeit."""
    detail: str
    """Reason in words."""
    def __init__(self, seat: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class ReplayReply(_message.Message):
    """A reply to the decision that was open."""
    __slots__ = ("seat", "actions", "after_us", "bot_us", "referee_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    AFTER_US_FIELD_NUMBER: _ClassVar[int]
    BOT_US_FIELD_NUMBER: _ClassVar[int]
    REFEREE_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """Seat that decided."""
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """The actions that were applied. Further actions of the reply were illegal, or the turn had
    ended.
    """
    after_us: int
    """Time of arrival, in microseconds after the record before."""
    bot_us: int
    """Time that the referee waited for the bot, in microseconds; the grace is not deducted. Unset
    if it is after_us: then the record before led to the decision.
    """
    referee_us: int
    """Time that the referee itself took, in microseconds."""
    def __init__(self, seat: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., after_us: _Optional[int] = ..., bot_us: _Optional[int] = ..., referee_us: _Optional[int] = ...) -> None: ...

class ReplayRejection(_message.Message):
    """A rejected reply. One more than rejections_forgiven is a forfeit."""
    __slots__ = ("seat", "reason", "detail", "time_us", "decision_id", "actions")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    reason: _play_pb2.RejectionReason
    """Reason for the rejection."""
    detail: str
    """Reason in words, as sent to the bot."""
    time_us: int
    """Time of arrival."""
    decision_id: int
    """Number of the decision in the reply."""
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """The actions of the reply, unchanged."""
    def __init__(self, seat: _Optional[int] = ..., reason: _Optional[_Union[_play_pb2.RejectionReason, str]] = ..., detail: _Optional[str] = ..., time_us: _Optional[int] = ..., decision_id: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ...) -> None: ...

class ReplayForfeit(_message.Message):
    """A seat forfeited for a reason outside the match."""
    __slots__ = ("seat", "termination", "detail", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    termination: _event_pb2.Termination
    """Reason for the forfeit."""
    detail: str
    """Reason in words."""
    time_us: int
    """Time of the record."""
    def __init__(self, seat: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayExpiry(_message.Message):
    """Seats ran out of time to decide or to reconnect."""
    __slots__ = ("time_us", "seats")
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    """Time at which the referee detected it."""
    seats: _containers.RepeatedScalarFieldContainer[int]
    """The seats that forfeited, in the order in which their time ran out."""
    def __init__(self, time_us: _Optional[int] = ..., seats: _Optional[_Iterable[int]] = ...) -> None: ...

class ReplayLeave(_message.Message):
    """A bot disconnected."""
    __slots__ = ("seat", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    time_us: int
    """Time of the record."""
    def __init__(self, seat: _Optional[int] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayEnter(_message.Message):
    """A bot opened a new stream."""
    __slots__ = ("presence", "time_us")
    PRESENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    presence: ReplayPresence
    """The stream."""
    time_us: int
    """Time of arrival."""
    def __init__(self, presence: _Optional[_Union[ReplayPresence, _Mapping]] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayHalt(_message.Message):
    """The referee was asked to stop."""
    __slots__ = ("time_us",)
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    """Time of the record."""
    def __init__(self, time_us: _Optional[int] = ...) -> None: ...

class ReplayReopen(_message.Message):
    """The referee was restarted. Its downtime is not counted."""
    __slots__ = ("time_us",)
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    """Time of the record."""
    def __init__(self, time_us: _Optional[int] = ...) -> None: ...

class ReplayPause(_message.Message):
    """The only legal action of a seat was applied after a pause, during which nothing was sent."""
    __slots__ = ("seat", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    time_us: int
    """End of the pause."""
    def __init__(self, seat: _Optional[int] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayLateReply(_message.Message):
    """The first reply to a decision after the time of its seat had run out. It changes nothing."""
    __slots__ = ("seat", "decision_id", "actions", "time_us", "socket_us", "unread_bytes")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    SOCKET_US_FIELD_NUMBER: _ClassVar[int]
    UNREAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    decision_id: int
    """Number of the decision in the reply."""
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """The actions of the reply, unchanged."""
    time_us: int
    """Time at which the referee's event loop received the request."""
    socket_us: int
    """Latest time at which bytes on the bot's TCP connection arrived in the buffer of the referee's
    operating system: the reply was there by then. Unset for other sockets.
    """
    unread_bytes: int
    """Bytes that had arrived at the bot's socket and were unread when the referee detected that its
    time had run out. Unset if the system does not report them.
    """
    def __init__(self, seat: _Optional[int] = ..., decision_id: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., time_us: _Optional[int] = ..., socket_us: _Optional[int] = ..., unread_bytes: _Optional[int] = ...) -> None: ...

class ReplayResult(_message.Message):
    """Result of the match. What the seats have left follows from the match."""
    __slots__ = ("results", "digests")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    DIGESTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ReplaySeatResult]
    """Results of all seats, in seat order."""
    digests: _containers.RepeatedScalarFieldContainer[bytes]
    """Digests of the messages sent to each seat, by seat."""
    def __init__(self, results: _Optional[_Iterable[_Union[ReplaySeatResult, _Mapping]]] = ..., digests: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ReplaySeatResult(_message.Message):
    """Result of one seat."""
    __slots__ = ("rank", "prestige", "termination", "detail")
    RANK_FIELD_NUMBER: _ClassVar[int]
    PRESTIGE_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    rank: int
    """Rank, 1 for the best; seats that tie share a rank, and the following ranks are skipped."""
    prestige: int
    """Prestige at the end."""
    termination: _event_pb2.Termination
    """How the match ended for the seat."""
    detail: str
    """Reason for a forfeit, in words."""
    def __init__(self, rank: _Optional[int] = ..., prestige: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class ReplaySignature(_message.Message):
    """Signature of the referee over all preceding records."""
    __slots__ = ("public_key", "signature")
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    public_key: bytes
    """Ed25519 public key of the referee; 32 bytes."""
    signature: bytes
    """Signature of the last hash of the chain; 64 bytes."""
    def __init__(self, public_key: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...
