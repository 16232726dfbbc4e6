"""A program's answers: one line with one or several actions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from asara.errors import BotError
from asara.text import parse_action
from asara.v1.vocabulary_pb2 import Action

_LONGEST_ACTION = 200  # characters of a text form; sections and buyers are few
_LONGEST_REASON = 200  # characters


class AnswerError(BotError):
    """Raised if a line is not an answer; the text gives the reason in one line, but no remedy."""

    def __init__(self, reason: str) -> None:
        line = "".join(char if char.isprintable() else " " for char in reason)
        super().__init__(line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…")


def read_answer(line: bytes, legal: Sequence[Action], texts: Sequence[str]) -> list[Action]:
    """Parse the actions on a line; `texts` are the text forms of the legal actions.

    Illegal actions are returned too, because the referee judges legality.
    """
    line = line.strip()
    if line.isdigit() and len(line) < 10:
        return [_by_index(int(line), legal)]
    try:
        text = line.decode("utf-8-sig")  # .NET begins its output with a byte order mark
    except UnicodeDecodeError as error:
        raise AnswerError(f"not valid UTF-8 at byte {error.start}") from None
    if not text:
        raise AnswerError("the line is empty")
    if text in texts:
        return [legal[texts.index(text)]]
    if text[0] not in '[{"-0123456789' and text not in {"null", "true", "false"}:
        try:
            return [_by_text(text)]
        except AnswerError as error:
            raise AnswerError(str(error).removeprefix(f"action {text!r}: ")) from None
    value = _parse(text)
    if not isinstance(value, list):
        return [_action(value, legal)]
    if not value:
        raise AnswerError("the list is empty")
    return [_action(value[0], legal), *map(_further_action, value[1:])]


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise AnswerError(f"not JSON: {error.msg} at character {error.pos}") from None
    except (RecursionError, ValueError):
        raise AnswerError(
            "not JSON that can be read: it is nested too deeply, or a number has too many digits"
        ) from None


def _action(value: Any, legal: Sequence[Action]) -> Action:
    return _by_index(int(value), legal) if _is_index(value) else _further_action(value)


def _further_action(value: Any) -> Action:
    if isinstance(value, str):
        return _by_text(value)
    if isinstance(value, dict):
        return _by_message(value)
    if _is_index(value):
        raise AnswerError(
            f"{value} in the list is an index, which only the first action can be; write the "
            "others as text"
        )
    raise AnswerError(f"{json.dumps(value)[:40]} is no action")


def _is_index(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()  # some languages print 1.0
    return isinstance(value, int) and not isinstance(value, bool)


def _by_index(index: int, legal: Sequence[Action]) -> Action:
    if not 0 <= index < len(legal):
        raise AnswerError(f"there is no legal action {index}")
    return legal[index]


def _by_text(text: str) -> Action:
    if len(text) > _LONGEST_ACTION:
        raise AnswerError("no action is that long")
    try:
        return parse_action(text)
    except ValueError as error:
        raise AnswerError(str(error)) from None


def _by_message(value: dict[str, Any]) -> Action:
    from google.protobuf import json_format  # takes 7 ms, and few programs need it

    try:
        action = json_format.ParseDict(value, Action())
    except json_format.ParseError as error:
        raise AnswerError(f"not a message Action: {error}") from None
    except RecursionError:
        raise AnswerError("not a message Action: it is nested too deeply") from None
    if action.WhichOneof("action") is None:
        raise AnswerError("the message Action is empty")
    return action
