"""The rest of a turn as the rules alone decide it, for pages on which a person collects a turn
before sending it. The answer depends on nothing but the request.
"""

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

class PreviewEnd(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    """Reason why a preview ends."""
    __slots__ = ()
    PREVIEW_END_UNSPECIFIED: _ClassVar[PreviewEnd]
    """Never sent."""
    PREVIEW_END_TURN: _ClassVar[PreviewEnd]
    """The turn is over."""
    PREVIEW_END_HIDDEN: _ClassVar[PreviewEnd]
    """The next decision depends on information that the seat does not have yet."""
PREVIEW_END_UNSPECIFIED: PreviewEnd
PREVIEW_END_TURN: PreviewEnd
PREVIEW_END_HIDDEN: PreviewEnd

class PreviewRequest(_message.Message):
    """A decision, and the actions that its seat would take in this turn."""
    __slots__ = ("started", "decision", "actions")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    started: _play_pb2.MatchStarted
    """The match, as it was sent to the seat."""
    decision: _play_pb2.Decision
    """The decision, as it was sent to the seat."""
    actions: _containers.RepeatedCompositeFieldContainer[_vocabulary_pb2.Action]
    """Actions from this decision on."""
    def __init__(self, started: _Optional[_Union[_play_pb2.MatchStarted, _Mapping]] = ..., decision: _Optional[_Union[_play_pb2.Decision, _Mapping]] = ..., actions: _Optional[_Iterable[_Union[_vocabulary_pb2.Action, _Mapping]]] = ...) -> None: ...

class PreviewResponse(_message.Message):
    """What follows from the actions."""
    __slots__ = ("decision", "end", "view")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    decision: _play_pb2.Decision
    """The seat decides again. The events are those of the actions. The number of the decision, its
    clock, the time charged and the sequence number are unset.
    """
    end: PreviewEnd
    """Nothing more can be foreseen."""
    view: _view_pb2.View
    """The view of the seat when its turn is over, before the next turn begins; unset otherwise, and
    if the actions reveal something to the seat.
    """
    def __init__(self, decision: _Optional[_Union[_play_pb2.Decision, _Mapping]] = ..., end: _Optional[_Union[PreviewEnd, str]] = ..., view: _Optional[_Union[_view_pb2.View, _Mapping]] = ...) -> None: ...
