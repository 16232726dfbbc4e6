from asara.v1 import event_pb2 as _event_pb2
from asara.v1 import play_pb2 as _play_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReplayRecord(_message.Message):
    __slots__ = ("header", "move", "rejection", "forfeit", "result")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    FORFEIT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    header: ReplayHeader
    move: ReplayMove
    rejection: ReplayRejection
    forfeit: ReplayForfeit
    result: ReplayResult
    def __init__(self, header: _Optional[_Union[ReplayHeader, _Mapping]] = ..., move: _Optional[_Union[ReplayMove, _Mapping]] = ..., rejection: _Optional[_Union[ReplayRejection, _Mapping]] = ..., forfeit: _Optional[_Union[ReplayForfeit, _Mapping]] = ..., result: _Optional[_Union[ReplayResult, _Mapping]] = ...) -> None: ...

class ReplayHeader(_message.Message):
    __slots__ = ("match_id", "rules_version", "edition", "rule_sets", "entries", "clocks", "deal_secret", "started_unix_ms")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    RULES_VERSION_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    RULE_SETS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    CLOCKS_FIELD_NUMBER: _ClassVar[int]
    DEAL_SECRET_FIELD_NUMBER: _ClassVar[int]
    STARTED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    rules_version: int
    edition: bytes
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    entries: _containers.RepeatedScalarFieldContainer[str]
    clocks: _play_pb2.Clocks
    deal_secret: bytes
    started_unix_ms: int
    def __init__(self, match_id: _Optional[str] = ..., rules_version: _Optional[int] = ..., edition: _Optional[bytes] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., entries: _Optional[_Iterable[str]] = ..., clocks: _Optional[_Union[_play_pb2.Clocks, _Mapping]] = ..., deal_secret: _Optional[bytes] = ..., started_unix_ms: _Optional[int] = ...) -> None: ...

class ReplayMove(_message.Message):
    __slots__ = ("seat", "action", "bot_us", "referee_us", "steward")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BOT_US_FIELD_NUMBER: _ClassVar[int]
    REFEREE_US_FIELD_NUMBER: _ClassVar[int]
    STEWARD_FIELD_NUMBER: _ClassVar[int]
    seat: int
    action: _vocabulary_pb2.Action
    bot_us: int
    referee_us: int
    steward: bool
    def __init__(self, seat: _Optional[int] = ..., action: _Optional[_Union[_vocabulary_pb2.Action, _Mapping]] = ..., bot_us: _Optional[int] = ..., referee_us: _Optional[int] = ..., steward: _Optional[bool] = ...) -> None: ...

class ReplayRejection(_message.Message):
    __slots__ = ("seat", "reason", "detail")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    seat: int
    reason: _play_pb2.RejectionReason
    detail: str
    def __init__(self, seat: _Optional[int] = ..., reason: _Optional[_Union[_play_pb2.RejectionReason, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class ReplayForfeit(_message.Message):
    __slots__ = ("seat", "termination", "detail")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    seat: int
    termination: _event_pb2.Termination
    detail: str
    def __init__(self, seat: _Optional[int] = ..., termination: _Optional[_Union[_event_pb2.Termination, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class ReplayResult(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_play_pb2.SeatResult]
    def __init__(self, results: _Optional[_Iterable[_Union[_play_pb2.SeatResult, _Mapping]]] = ...) -> None: ...
