"""Converts actions and results to and from members of requests and answers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from asara.bridge.message_json import message_json
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_game import Action, State, apply, parse_action
from asara_search.actions import to_action, to_message

from .match import read_message
from .request import RequestError, quoted

__all__ = ["FORMS", "Means", "action_in_form", "apply_all", "message_in_form", "read_action"]

FORMS: Final = ("text", "base64", "json")
"""Forms of actions. Messages can have all forms except the first."""
_LONGEST_TEXT: Final = 200  # characters of the text form of an action


def read_action(value: Any) -> Action | int:
    """Read an action, or the index of a legal action. Raise RequestError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > _LONGEST_TEXT:
            raise RequestError("actions: no action has so long a text")
        try:
            return parse_action(value)
        except ValueError as error:
            raise RequestError(f"actions: {error}") from None
    if isinstance(value, dict):
        encoded = value["base64"] if value.keys() == {"base64"} else value
        try:
            return to_action(read_message(encoded, ActionMessage(), "actions"))
        except ValueError as error:
            raise RequestError(f"actions: {str(error).removeprefix('actions: ')}") from None
    raise RequestError(
        "actions: an index, a text, the JSON form of the message Action or "
        f'{{"base64": …}} is needed, not {quoted(value)}'
    )


def apply_all(state: State, actions: Iterable[Action | int]) -> None:
    """Apply actions in order. Raise ValueError for the first illegal action."""
    for action in actions:
        apply(state, _by_index(state, action) if isinstance(action, int) else action)


def _by_index(state: State, index: int) -> Action:
    legal = state.legal
    if not 0 <= index < len(legal):
        last = f"the last one is {len(legal) - 1}" if legal else "the match is over"
        raise RequestError(f"actions: no legal action {quoted(index)}; {last}")
    return legal[index]


def action_in_form(action: Action, form: str) -> Any:
    if form == "text":
        return str(action)
    return message_in_form(to_message(action), form)


def message_in_form(message: Message, form: str) -> Any:
    """Return a message either as Base64 of its bytes or as the bridge writes it."""
    if form == "base64":
        return b64encode(message.SerializeToString()).decode()
    return json.loads(message_json(message))


class Means:
    """Collects the mean of evaluated states, by seat."""

    def __init__(self, seats: int) -> None:
        self.count = 0
        self.values = [0.0] * seats
        self.wins = [0.0] * seats

    def add(self, values: Sequence[float]) -> None:
        """Add the prestige that each seat can expect in one state."""
        self.count += 1
        best = max(values)
        winners = values.count(best)
        for seat, value in enumerate(values):
            self.values[seat] += value
            if value == best:
                self.wins[seat] += 1 / winners

    def members(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "values": [value / self.count for value in self.values],
            "wins": [value / self.count for value in self.wins],
        }
