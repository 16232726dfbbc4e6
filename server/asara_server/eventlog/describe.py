"""Describes records, and the differences between them, in words."""

from typing import Any, Final

from asara_server.match.inputs import (
    EnterRecord,
    ExpiryRecord,
    ForfeitRecord,
    HaltRecord,
    LateReplyRecord,
    LeaveRecord,
    PauseRecord,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
)
from asara_server.text import plain, plain_words

_LONGEST: Final = 160
"""Maximum characters of a value."""


def describe(record: Record) -> str:
    """Return a noun phrase for a record, such as `a reply from seat 1 (build 2)`."""
    match record:
        case ReplyRecord(_, seat, actions):
            played = ", ".join(map(str, actions))
            return f"a reply from seat {seat} ({plain(played, _LONGEST)})"
        case RejectionRecord(_, seat, _, _, reason, detail):
            kind = plain_words(reason.name)
            return f"a rejected reply from seat {seat} ({kind}: {plain(detail, _LONGEST)})"
        case ForfeitRecord(_, seat, termination, _):
            return f"a forfeit by seat {seat} ({plain_words(termination.name)})"
        case ExpiryRecord(_, seats):
            return f"a timeout of seat {' and '.join(map(str, seats))}"
        case LeaveRecord(_, seat):
            return f"a lost connection to seat {seat}"
        case EnterRecord(_, seat):
            return f"a new connection from seat {seat}"
        case PauseRecord(_, seat):
            return f"the end of a pause for seat {seat}"
        case LateReplyRecord(_, seat, decision_id):
            return f"a late reply from seat {seat} to decision {decision_id}"
        case HaltRecord():
            return "a referee stop"
        case ReopenRecord():
            return "a referee restart"
        case _:
            return "the start of the match"


def describe_difference(expected: Any, found: Any) -> str:
    """Return the first field in which two records or results differ, with both values, in words."""
    if type(expected) is not type(found):
        return f"expected {describe(expected)}; found {describe(found)}"
    name, one, other = first_difference(expected, found)
    return f"{name}: expected {value_words(one)}; found {value_words(other)}"


def first_difference(a: Any, b: Any) -> tuple[str, Any, Any]:
    """Return the name and both values of the first field in which two named tuples differ."""
    fields = zip(a._fields, a, b, strict=True)
    return next((name, one, other) for name, one, other in fields if one != other)


def value_words(value: Any) -> str:
    """Return the value of a field in a readable form of limited length."""
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return plain_words(name)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset):
        value = tuple(sorted(value))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return plain(f"({', '.join(map(value_words, value))})", _LONGEST)
    return plain(repr(value) if isinstance(value, str) else str(value), _LONGEST)
