"""Game types and the messages of the same name, field by field.

Most of the vocabulary has one shape in both worlds: a class and a message of one name whose fields
have the same names and, for enums, the same numbers. Those are translated here without a line for
each of them. What differs (towers, final evaluations, views) has its own functions elsewhere.
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
    """A message that is no part of the game; the text names the field and what it may hold."""


def snake(name: str) -> str:
    """`LayBuyers` as `lay_buyers`: how a oneof calls the member that holds this message."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def to_message(value: Any, omit: Sequence[str] = ()) -> Any:
    """The message of the value's class; `omit` names fields that are carried elsewhere."""
    kind: Any = type(value)  # Any: mypy holds no class to be hashable
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
    """The message that has the name of a game class."""
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
    """The game value that a message means; raises TranslationError with the field's path.

    Integers must lie in `numbers`. `given` sets fields that the message does not carry.
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
    """For every field of a game class the function that reads it, made from the field's type."""
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
    """The member of this number; raises TranslationError that lists the members."""
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(f"{member.name} ({member.value})" for member in kind)
        raise CodecError(f"{path} is {value}, not one of {names}") from None
