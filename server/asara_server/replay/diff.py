"""Differences between two replays, in words."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from asara_game.edition import parse_edition
from asara_game.rules import format_rule_sets
from asara_server.eventlog.describe import describe, first_difference, value_words
from asara_server.eventlog.replay import Replay
from asara_server.match.inputs import Record
from asara_server.text import plain_words

_TIMES: Final = frozenset({"time_us", "bot_us", "referee_us", "socket_us", "unread_bytes"})
"""Fields that differ between any two matches."""


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
        "actions_per_reply",
    ):
        a, b = getattr(one.header, name), getattr(other.header, name)
        if a != b:
            yield Difference(plain_words(name).capitalize(), _value(a), _value(b))
    if one.header.edition != other.header.edition:
        names = [parse_edition(replay.header.edition).name for replay in (one, other)]
        yield Difference("Edition (the files differ)", *names)
    for number, (a, b) in enumerate(zip_longest(one.records, other.records), 2):
        if a is None or b is None or _timeless(a) != _timeless(b):
            yield Difference(f"First record that differs: record {number}", _words(a), _words(b))
            break
    for seat, (first, second) in enumerate(zip(one.ends, other.ends, strict=False)):
        if first != second:
            name, a, b = first_difference(first, second)
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


def _words(record: Record | None) -> str:
    return "the match is over" if record is None else describe(record)
