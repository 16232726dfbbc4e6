"""Describes records, and the differences between records and between replays, in words."""

from collections.abc import Iterator
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Final, NamedTuple

from asara_game.edition import parse_edition
from asara_game.rules import format_rule_sets
from asara_server.journal.replay import Replay
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
_TIMES: Final = frozenset({"time_us", "bot_us", "referee_us", "socket_us", "unread_bytes"})
"""Fields that differ between any two matches."""


def describe(record: Record | None) -> str:
    """Return a noun phrase for a record, such as `a reply from seat 1 (build 2)`."""
    match record:
        case None:
            return "the end of the match"
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
    name, one, other = _first_difference(expected, found)
    return f"{name}: expected {value_words(one)}; found {value_words(other)}"


def _first_difference(a: Any, b: Any) -> tuple[str, Any, Any]:
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


# Replays


class Difference(NamedTuple):
    """A field that differs, with its values in the two replays."""

    what: str
    a: str
    b: str


def diff_replays(one: Replay, other: Replay) -> Iterator[Difference]:
    """Yield differences in set-up, the first record that differs, and differences in results.

    Times are not compared, because no two matches have the same times.
    """
    for name in (
        "entries",
        "rule_sets",
        "clocks",
        "deal_secret",
        "shared_deal",
        "hide_forced",
        "limits.actions_per_reply",
    ):
        a, b = map(attrgetter(name), (one.header, other.header))
        if a != b:
            what = plain_words(name.rpartition(".")[2]).capitalize()
            yield Difference(what, _value(a), _value(b))
    if one.header.edition != other.header.edition:
        names = [parse_edition(replay.header.edition).name for replay in (one, other)]
        yield Difference("Edition (the files differ)", *names)
    for number, (a, b) in enumerate(zip_longest(one.records, other.records), 2):
        if a is None or b is None or _timeless(a) != _timeless(b):
            what = f"First record that differs: record {number}"
            yield Difference(what, describe(a), describe(b))
            break
    for seat, (first, second) in enumerate(zip(one.ends, other.ends, strict=False)):
        if first != second:
            name, a, b = _first_difference(first, second)
            what = f"{plain_words(name).capitalize()} of seat {seat}"
            yield Difference(what, _value(a), _value(b))


def _value(value: Any) -> str:
    """Return the value of a field in words, with names unquoted."""
    if isinstance(value, str):
        return value
    if isinstance(value, frozenset):
        return format_rule_sets(value)
    of_names = isinstance(value, tuple) and not hasattr(value, "_fields")
    return ", ".join(value) if of_names else value_words(value)


def _timeless(record: Record) -> tuple[Any, ...]:
    values = zip(record._fields, record, strict=True)
    return (type(record), *(value for name, value in values if name not in _TIMES))
