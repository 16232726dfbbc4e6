"""Converts between the engine's actions and messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, get_args

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.decode import action_from_proto
from asara_codec.encode import action_bytes
from asara_codec.wire_format import read_varint
from asara_game import Action

_ACTIONS: Final = get_args(Action)
"""The classes of actions."""

__all__ = ["to_action", "to_message", "to_messages"]


def to_action(message: ActionMessage) -> Action:
    """Convert a message to the engine's action; raise ValueError if it is not an action."""
    return action_from_proto(message)


def to_message(action: Action) -> ActionMessage:
    """Convert an action to a new message, which a bot can return from `decide`.

    Raise TypeError for anything but an action of the engine.
    """
    if not isinstance(action, _ACTIONS):
        if isinstance(action, ActionMessage):
            raise TypeError("this action is a message already; return it without to_message")
        raise TypeError(f"an action of a state is needed, not {type(action).__name__}")
    data = action_bytes(action)
    _, start = read_varint(data, 0)
    return ActionMessage.FromString(data[start:])


def to_messages(actions: Iterable[Action]) -> list[ActionMessage]:
    """Convert actions to messages; a bot can return the list from `decide`."""
    return [to_message(action) for action in actions]
