"""Converts between game types and the messages of the same name, field by field.

Most of the vocabulary has the same shape on both sides: a class and a message share their name and
field names, and enums share their numbers. These types are converted here by reflection. `encode`,
`decode` and the view modules convert the types that differ (towers, final evaluations, views).
"""

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from google.protobuf.message import Message

from asara.v1 import event_pb2, vocabulary_pb2

_T = TypeVar("_T")
_Reader = Callable[[Any, str], Any]

INT32 = range(-(2**31), 2**31)


class CodecError(ValueError):
    """Raised for a message with a value that the game does not have; the text gives the field."""


def snake(name: str) -> str:
    """Return the oneof member name for a message name: `lay_buyers` for `LayBuyers`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def to_message(value: Any, omit: Sequence[str] = ()) -> Any:
    """Convert a value to a message, leaving out the fields in `omit`."""
    kind: Any = type(value)  # Any: mypy considers no class hashable
    fields = {name: _plain(getattr(value, name)) for name in _fields(kind) if name not in omit}
    return message_class(kind)(**fields)


def _plain(value: Any) -> Any:
    if isinstance(value, int):
        return value
    if hasattr(value, "_fields"):
        return to_message(value)
    return [_plain(item) for item in value]


@cache
def message_class(kind: type) -> type[Message]:
    """Return the message class with the same name as a game class."""
    for module in (vocabulary_pb2, event_pb2):
        found: type[Message] | None = getattr(module, kind.__name__, None)
        if found is not None:
            return found
    raise TypeError(f"{kind.__name__}: no message of this name")


@cache
def _fields(kind: type) -> tuple[str, ...]:
    names: Iterable[str] = getattr(kind, "_fields", ()) or getattr(kind, "__dataclass_fields__", ())
    return tuple(names)


def from_message(
    kind: type[_T], message: Message, path: str, numbers: range = INT32, **given: Any
) -> _T:
    """Convert a message to its game value. Raises CodecError with the path of the wrong field.

    Integers must be within `numbers`. `given` supplies fields that the message lacks.
    """
    cached: Any = kind
    values = {
        name: reader(_part(message, name, path), f"{path}.{name}")
        for name, reader in readers(cached, numbers).items()
        if name not in given
    }
    return kind(**values, **given)


def _part(message: Message, name: str, path: str) -> Any:
    value = getattr(message, name)
    if isinstance(value, Message) and not message.HasField(name):
        raise CodecError(f"{path}.{name} is not set")
    return value


@cache
def readers(kind: type, numbers: range = INT32) -> dict[str, _Reader]:
    """Return, for each field of a game class, a function that reads the field by its type."""
    hints = get_type_hints(kind)
    return {name: _reader(hints[name], numbers) for name in _fields(kind)}


def _reader(hint: Any, numbers: range) -> _Reader:
    if get_origin(hint) is tuple:
        item = _reader(get_args(hint)[0], numbers)
        return lambda values, path: tuple(
            item(value, f"{path}[{index}]") for index, value in enumerate(values)
        )
    if get_origin(hint) is UnionType:  # an enum, or 0 for none
        member = _reader(get_args(hint)[0], numbers)
        return lambda value, path: member(value, path) if value else 0
    if hint is bool:
        return lambda value, path: bool(value)
    if hint is int:
        return lambda value, path: _number(value, path, numbers)
    if issubclass(hint, IntEnum):
        return lambda value, path: enum_member(hint, value, path)
    return lambda value, path: from_message(hint, value, path, numbers)


def _number(value: int, path: str, numbers: range) -> int:
    if value not in numbers:
        raise CodecError(f"{path} is {value}, not {numbers.start} to {numbers.stop - 1}")
    return value


_E = TypeVar("_E", bound=IntEnum)


def enum_member(kind: type[_E], value: int, path: str) -> _E:
    """Return the enum member with this number. Raises CodecError, which lists the members."""
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(f"{member.name} ({member.value})" for member in kind)
        raise CodecError(f"{path} is {value}, not one of {names}") from None
