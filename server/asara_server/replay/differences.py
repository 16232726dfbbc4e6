"""Records in words, and what tells two of them apart."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from asara_game.edition import parse_edition
from asara_server.records import (
    EnterRecord,
    ExpiryRecord,
    ForfeitRecord,
    HaltRecord,
    LeaveRecord,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
)
from asara_server.replay.records import Replay

_LONGEST = 160
#: What differs from match to match, whatever happens.
_TIMES = frozenset({"time_us", "bot_us", "referee_us"})


def words(record: Record) -> str:
    """What happened, in a few words."""
    match record:
        case ReplyRecord(_, seat, actions):
            played = ", ".join(map(str, actions))
            return f"a reply of seat {seat} ({_short(played)})"
        case RejectionRecord(_, seat, _, _, reason, detail):
            return f"a rejection of seat {seat} ({reason.name}: {_short(detail)})"
        case ForfeitRecord(_, seat, termination, _):
            return f"a forfeit of seat {seat} ({termination.name})"
        case ExpiryRecord(_, seats):
            return f"that the time of seat {' and '.join(map(str, seats))} ran out"
        case LeaveRecord(_, seat):
            return f"that seat {seat} lost its stream"
        case EnterRecord(_, seat):
            return f"that seat {seat} came back"
        case HaltRecord():
            return "that the referee was told to stop"
        case ReopenRecord():
            return "that the referee was started again"
        case _:
            return "the start of the match"


def difference(expected: Any, found: Any) -> str:
    """The first field in which two records (or two results) differ, and both values."""
    if type(expected) is not type(found):
        return f"expected {words(expected)}; found {words(found)}"
    name, one, other = _first_other(expected, found)
    return f"{name}: expected {_value(one)}; found {_value(other)}"


def _first_other(a: Any, b: Any) -> tuple[str, Any, Any]:
    """The first field in which two named tuples of one type differ."""
    fields = zip(a._fields, a, b, strict=True)
    return next((name, one, other) for name, one, other in fields if one != other)


def _value(value: Any) -> str:
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return name
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset):
        value = tuple(sorted(value))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return _short(f"({', '.join(map(_value, value))})")
    return _short(str(value) if not isinstance(value, str) else repr(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def partings(one: Replay, other: Replay) -> Iterator[str]:
    """Where two matches part, in lines: set-up, first record in which something else happened, end.

    Times are not compared: no two matches have the same.
    """
    for name in (
        "entries",
        "rule_sets",
        "clocks",
        "deal_secret",
        "mirrored_block",
        "actions_per_reply",
    ):
        a, b = getattr(one.header, name), getattr(other.header, name)
        if a != b:
            yield f"{name}: {_value(a)} | {_value(b)}"
    if one.header.edition != other.header.edition:
        names = [parse_edition(replay.header.edition).name for replay in (one, other)]
        yield f"edition: {names[0]} | {names[1]} (the files differ)"
    for number, (a, b) in enumerate(zip_longest(one.records, other.records), 2):
        if a is None or b is None or _timeless(a) != _timeless(b):
            yield f"record {number}: {_told(a)} | {_told(b)}"
            break
    for first, second in zip(one.results, other.results, strict=False):
        if first != second:
            name, a, b = _first_other(first, second)
            yield f"result of seat {first.seat}: {name} {_value(a)} | {_value(b)}"


def _timeless(record: Record) -> tuple[Any, ...]:
    values = zip(record._fields, record, strict=True)
    return (type(record), *(value for name, value in values if name not in _TIMES))


def _told(record: Record | None) -> str:
    return "the match is over" if record is None else words(record)
