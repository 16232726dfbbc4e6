"""Watching matches, with public information only. A web server sends and receives these messages.
"""

from asara.v1 import play_pb2 as _play_pb2
from asara.v1 import view_pb2 as _view_pb2
from asara.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MatchSummary(_message.Message):
    """A match that is watched."""
    __slots__ = ("match_id", "entries", "rule_sets", "sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    RULE_SETS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """Name of the match."""
    entries: _containers.RepeatedScalarFieldContainer[str]
    """Names of the entries, by seat."""
    rule_sets: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.RuleSet]
    """Rule sets of the match, in ascending order."""
    sequence: int
    """Sequence number of the last event of the last turn that ended."""
    def __init__(self, match_id: _Optional[str] = ..., entries: _Optional[_Iterable[str]] = ..., rule_sets: _Optional[_Iterable[_Union[_vocabulary_pb2.RuleSet, str]]] = ..., sequence: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    """A request to follow a match."""
    __slots__ = ("match_id", "after_sequence")
    MATCH_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    match_id: str
    """Name of the match."""
    after_sequence: int
    """Sequence number after which events are sent; 0 for all events."""
    def __init__(self, match_id: _Optional[str] = ..., after_sequence: _Optional[int] = ...) -> None: ...

class WatchResponse(_message.Message):
    """A message to a watcher."""
    __slots__ = ("started", "update", "ended")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    started: WatchStarted
    """First message."""
    update: _play_pb2.Update
    """Events, turn by turn."""
    ended: WatchEnded
    """Last message."""
    def __init__(self, started: _Optional[_Union[WatchStarted, _Mapping]] = ..., update: _Optional[_Union[_play_pb2.Update, _Mapping]] = ..., ended: _Optional[_Union[WatchEnded, _Mapping]] = ...) -> None: ...

class WatchStarted(_message.Message):
    """The state of the match when its last turn ended. The turn in progress, if any, follows when
    it is over.
    """
    __slots__ = ("match", "edition", "public_view", "deal_commitment", "nonces")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_VIEW_FIELD_NUMBER: _ClassVar[int]
    DEAL_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    NONCES_FIELD_NUMBER: _ClassVar[int]
    match: MatchSummary
    """The match."""
    edition: _vocabulary_pb2.Edition
    """Numbers of the rules, such as prices."""
    public_view: _view_pb2.PublicView
    """Public view at the end of the last turn."""
    deal_commitment: bytes
    """SHA-256 of the referee's secret, which commits it to the deal."""
    nonces: _containers.RepeatedScalarFieldContainer[bytes]
    """Nonces of a joint deal by seat, as in MatchStarted."""
    def __init__(self, match: _Optional[_Union[MatchSummary, _Mapping]] = ..., edition: _Optional[_Union[_vocabulary_pb2.Edition, _Mapping]] = ..., public_view: _Optional[_Union[_view_pb2.PublicView, _Mapping]] = ..., deal_commitment: _Optional[bytes] = ..., nonces: _Optional[_Iterable[bytes]] = ...) -> None: ...

class WatchEnded(_message.Message):
    """The match has ended."""
    __slots__ = ("results", "deal_secret", "void")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    DEAL_SECRET_FIELD_NUMBER: _ClassVar[int]
    VOID_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_play_pb2.SeatResult]
    """Results of all seats, in seat order."""
    deal_secret: bytes
    """The referee's secret; empty if the match is void."""
    void: bool
    """True if the referee failed and the match does not count."""
    def __init__(self, results: _Optional[_Iterable[_Union[_play_pb2.SeatResult, _Mapping]]] = ..., deal_secret: _Optional[bytes] = ..., void: _Optional[bool] = ...) -> None: ...
