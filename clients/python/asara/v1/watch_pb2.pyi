from asara.v1 import play_pb2 as _play_pb2
from asara.v1 import view_pb2 as _view_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListMatchesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListMatchesResponse(_message.Message):
    __slots__ = ("matches",)
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[MatchSummary]
    def __init__(self, matches: _Optional[_Iterable[_Union[MatchSummary, _Mapping]]] = ...) -> None: ...

class MatchSummary(_message.Message):
    __slots__ = ("match_id", "entries", "rule_sets", "sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    RULE_SETS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    entries: _containers.RepeatedScalarFieldContainer[str]
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    sequence: int
    def __init__(self, match_id: _Optional[str] = ..., entries: _Optional[_Iterable[str]] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., sequence: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("match_id", "after_sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    after_sequence: int
    def __init__(self, match_id: _Optional[str] = ..., after_sequence: _Optional[int] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("started", "update", "ended")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    started: WatchStarted
    update: _play_pb2.Update
    ended: WatchEnded
    def __init__(self, started: _Optional[_Union[WatchStarted, _Mapping]] = ..., update: _Optional[_Union[_play_pb2.Update, _Mapping]] = ..., ended: _Optional[_Union[WatchEnded, _Mapping]] = ...) -> None: ...

class WatchStarted(_message.Message):
    __slots__ = ("match", "edition", "public_view", "deal_commitment", "nonces")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    NONCES_FIELD_NUMBER: _ClassVar[int]
    match: MatchSummary
    edition: _vocabulary_pb2.Edition
    public_view: _view_pb2.PublicView
    deal_commitment: bytes
    nonces: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, match: _Optional[_Union[MatchSummary, _Mapping]] = ..., edition: _Optional[_Union[_vocabulary_pb2.Edition, _Mapping]] = ..., public_view: _Optional[_Union[_view_pb2.PublicView, _Mapping]] = ..., deal_commitment: _Optional[bytes] = ..., nonces: _Optional[_Iterable[bytes]] = ...) -> None: ...

class WatchEnded(_message.Message):
    __slots__ = ("results", "deal_secret", "void")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    DEAL_SECRET_FIELD_NUMBER: _ClassVar[int]
    VOID_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_play_pb2.SeatResult]
    deal_secret: bytes
    void: bool
    def __init__(self, results: _Optional[_Iterable[_Union[_play_pb2.SeatResult, _Mapping]]] = ..., deal_secret: _Optional[bytes] = ..., void: _Optional[bool] = ...) -> None: ...
