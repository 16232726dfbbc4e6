from asara.v1 import event_pb2 as _event_pb2
from asara.v1 import play_pb2 as _play_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Replay(_message.Message):
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ReplayRecord]
    def __init__(self, records: _Optional[_Iterable[_Union[ReplayRecord, _Mapping]]] = ...) -> None: ...

class ReplayRecord(_message.Message):
    __slots__ = ("header", "reply", "rejection", "forfeit", "result", "start", "expiry", "leave", "enter", "halt", "reopen", "signature", "pause", "late_reply", "unread")
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
    UNREAD_FIELD_NUMBER: _ClassVar[int]
    header: ReplayHeader
    reply: ReplayReply
    rejection: ReplayRejection
    forfeit: ReplayForfeit
    result: ReplayResult
    start: ReplayStart
    expiry: ReplayExpiry
    leave: ReplayLeave
    enter: ReplayEnter
    halt: ReplayHalt
    reopen: ReplayReopen
    signature: ReplaySignature
    pause: ReplayPause
    late_reply: ReplayLateReply
    unread: ReplayUnread
    def __init__(self, header: _Optional[_Union[ReplayHeader, _Mapping]] = ..., reply: _Optional[_Union[ReplayReply, _Mapping]] = ..., rejection: _Optional[_Union[ReplayRejection, _Mapping]] = ..., forfeit: _Optional[_Union[ReplayForfeit, _Mapping]] = ..., result: _Optional[_Union[ReplayResult, _Mapping]] = ..., start: _Optional[_Union[ReplayStart, _Mapping]] = ..., expiry: _Optional[_Union[ReplayExpiry, _Mapping]] = ..., leave: _Optional[_Union[ReplayLeave, _Mapping]] = ..., enter: _Optional[_Union[ReplayEnter, _Mapping]] = ..., halt: _Optional[_Union[ReplayHalt, _Mapping]] = ..., reopen: _Optional[_Union[ReplayReopen, _Mapping]] = ..., signature: _Optional[_Union[ReplaySignature, _Mapping]] = ..., pause: _Optional[_Union[ReplayPause, _Mapping]] = ..., late_reply: _Optional[_Union[ReplayLateReply, _Mapping]] = ..., unread: _Optional[_Union[ReplayUnread, _Mapping]] = ...) -> None: ...

class ReplayHeader(_message.Message):
    __slots__ = ("match_id", "rules_version", "edition_zlib", "rule_sets", "entries", "clocks", "deal_secret", "started_unix_ms", "actions_per_reply", "rejections_forgiven", "deal_commitment", "nonces", "shared_deal", "hide_forced")
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
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    NONCES_FIELD_NUMBER: _ClassVar[int]
    SHARED_DEAL_FIELD_NUMBER: _ClassVar[int]
    HIDE_FORCED_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    rules_version: int
    edition_zlib: bytes
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    entries: _containers.RepeatedScalarFieldContainer[str]
    clocks: _play_pb2.Clocks
    deal_secret: bytes
    started_unix_ms: int
    actions_per_reply: int
    rejections_forgiven: int
    deal_commitment: bytes
    nonces: _containers.RepeatedScalarFieldContainer[bytes]
    shared_deal: str
    hide_forced: bool
    def __init__(self, match_id: _Optional[str] = ..., rules_version: _Optional[int] = ..., edition_zlib: _Optional[bytes] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., entries: _Optional[_Iterable[str]] = ..., clocks: _Optional[_Union[_play_pb2.Clocks, _Mapping]] = ..., deal_secret: _Optional[bytes] = ..., started_unix_ms: _Optional[int] = ..., actions_per_reply: _Optional[int] = ..., rejections_forgiven: _Optional[int] = ..., deal_commitment: _Optional[bytes] = ..., nonces: _Optional[_Iterable[bytes]] = ..., shared_deal: _Optional[str] = ..., hide_forced: _Optional[bool] = ...) -> None: ...

class ReplayStart(_message.Message):
    __slots__ = ("present", "absent")
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    ABSENT_FIELD_NUMBER: _ClassVar[int]
    present: _containers.RepeatedCompositeFieldContainer[ReplayPresence]
    absent: _containers.RepeatedCompositeFieldContainer[ReplayAbsence]
    def __init__(self, present: _Optional[_Iterable[_Union[ReplayPresence, _Mapping]]] = ..., absent: _Optional[_Iterable[_Union[ReplayAbsence, _Mapping]]] = ...) -> None: ...

class ReplayPresence(_message.Message):
    __slots__ = ("seat", "live_updates", "omit_public_view", "last_sequence")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    LIVE_UPDATES_FIELD_NUMBER: _ClassVar[int]
    OMIT_PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    seat: int
    live_updates: bool
    omit_public_view: bool
    last_sequence: int
    def __init__(self, seat: _Optional[int] = ..., live_updates: _Optional[bool] = ..., omit_public_view: _Optional[bool] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class ReplayAbsence(_message.Message):
    __slots__ = ("seat", "termination", "detail")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    seat: int
    termination: _event_pb2.Termination
    detail: str
    def __init__(self, seat: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class ReplayReply(_message.Message):
    __slots__ = ("seat", "actions", "time_us", "bot_us", "referee_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    BOT_US_FIELD_NUMBER: _ClassVar[int]
    REFEREE_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    time_us: int
    bot_us: int
    referee_us: int
    def __init__(self, seat: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., time_us: _Optional[int] = ..., bot_us: _Optional[int] = ..., referee_us: _Optional[int] = ...) -> None: ...

class ReplayRejection(_message.Message):
    __slots__ = ("seat", "reason", "detail", "time_us", "decision_id", "actions")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    reason: _play_pb2.RejectionReason
    detail: str
    time_us: int
    decision_id: int
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    def __init__(self, seat: _Optional[int] = ..., reason: _Optional[_Union[_play_pb2.RejectionReason, str]] = ..., detail: _Optional[str] = ..., time_us: _Optional[int] = ..., decision_id: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ...) -> None: ...

class ReplayForfeit(_message.Message):
    __slots__ = ("seat", "termination", "detail", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    termination: _event_pb2.Termination
    detail: str
    time_us: int
    def __init__(self, seat: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayExpiry(_message.Message):
    __slots__ = ("time_us", "seats")
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    seats: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, time_us: _Optional[int] = ..., seats: _Optional[_Iterable[int]] = ...) -> None: ...

class ReplayLeave(_message.Message):
    __slots__ = ("seat", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    time_us: int
    def __init__(self, seat: _Optional[int] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayEnter(_message.Message):
    __slots__ = ("presence", "time_us")
    PRESENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    presence: ReplayPresence
    time_us: int
    def __init__(self, presence: _Optional[_Union[ReplayPresence, _Mapping]] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayHalt(_message.Message):
    __slots__ = ("time_us",)
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    def __init__(self, time_us: _Optional[int] = ...) -> None: ...

class ReplayReopen(_message.Message):
    __slots__ = ("time_us",)
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    def __init__(self, time_us: _Optional[int] = ...) -> None: ...

class ReplayPause(_message.Message):
    __slots__ = ("seat", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    time_us: int
    def __init__(self, seat: _Optional[int] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayLateReply(_message.Message):
    __slots__ = ("seat", "decision_id", "actions", "time_us", "socket_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    SOCKET_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    decision_id: int
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    time_us: int
    socket_us: int
    def __init__(self, seat: _Optional[int] = ..., decision_id: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ..., time_us: _Optional[int] = ..., socket_us: _Optional[int] = ...) -> None: ...

class ReplayUnread(_message.Message):
    __slots__ = ("seat", "bytes", "time_us")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    seat: int
    bytes: int
    time_us: int
    def __init__(self, seat: _Optional[int] = ..., bytes: _Optional[int] = ..., time_us: _Optional[int] = ...) -> None: ...

class ReplayResult(_message.Message):
    __slots__ = ("results", "digests")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    DIGESTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_play_pb2.SeatResult]
    digests: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, results: _Optional[_Iterable[_Union[_play_pb2.SeatResult, _Mapping]]] = ..., digests: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ReplaySignature(_message.Message):
    __slots__ = ("public_key", "signature")
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    public_key: bytes
    signature: bytes
    def __init__(self, public_key: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...
