"""Messages as proto3 JSON, several times faster than `google.protobuf.json_format`.

The text equals `json_format.MessageToJson` with the options `preserving_proto_field_name` and
`always_print_fields_with_no_presence`: names are as in the `.proto` files, and fields with default
values are included. Most parts of a view do not change between messages, so the text of small
messages is cached by the message's bytes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

_LARGEST_KEPT = 256  # bytes of a message
_MOST_KEPT = 4096  # texts of one type

_ValueWriter: TypeAlias = Callable[[Any], str]


class _MessageWriter:
    """Writes messages of one type."""

    def __init__(self, descriptor: Descriptor) -> None:
        self._fields = [_FieldWriter(field) for field in descriptor.fields]
        self._kept: dict[bytes, str] = {}

    def text(self, message: Message) -> str:
        if message.ByteSize() > _LARGEST_KEPT:
            return self._write(message)
        key = message.SerializeToString()
        text = self._kept.get(key)
        if text is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            text = self._kept[key] = self._write(message)
        return text

    def _write(self, message: Message) -> str:
        parts = [
            field.text(getattr(message, field.name))
            for field in self._fields
            if not field.optional or message.HasField(field.name)
        ]
        return f"{{{','.join(parts)}}}"


class _FieldWriter:
    def __init__(self, field: FieldDescriptor) -> None:
        self.name = field.name
        self.optional = field.has_presence
        """True if the field can be unset, as messages and oneof members can."""
        self._prefix = f'"{field.name}":'
        self._repeated = field.is_repeated
        self._write = _value_writer(field)

    def text(self, value: Any) -> str:
        if self._repeated:
            return f"{self._prefix}[{','.join(map(self._write, value))}]"
        return self._prefix + self._write(value)


def _value_writer(field: FieldDescriptor) -> _ValueWriter:
    if field.message_type is not None:
        return _LazyWriter(field.message_type)
    if field.enum_type is not None:
        return _enum_writer(field.enum_type)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: f'"{b64encode(value).decode()}"'
    return _SCALARS[field.cpp_type]


class _LazyWriter:
    """Writes messages of a field's type; creates the writer when it is first needed."""

    def __init__(self, descriptor: Descriptor) -> None:
        self._descriptor = descriptor

    def __call__(self, message: Message) -> str:
        return _writer(self._descriptor).text(message)


def _enum_writer(enum: EnumDescriptor) -> _ValueWriter:
    names = {value.number: f'"{value.name}"' for value in enum.values}
    return lambda number: names.get(number) or str(number)


_SCALARS: dict[int, _ValueWriter] = {
    FieldDescriptor.CPPTYPE_BOOL: lambda value: "true" if value else "false",
    FieldDescriptor.CPPTYPE_INT32: str,
    FieldDescriptor.CPPTYPE_UINT32: str,
    # Proto3 JSON has 64-bit numbers as strings, since many languages read numbers as doubles.
    FieldDescriptor.CPPTYPE_INT64: lambda value: f'"{value}"',
    FieldDescriptor.CPPTYPE_UINT64: lambda value: f'"{value}"',
    FieldDescriptor.CPPTYPE_STRING: encode_basestring,
}
"""Writers by type; the protocol has neither floating-point numbers nor maps."""

_writers: dict[str, _MessageWriter] = {}


def _writer(descriptor: Descriptor) -> _MessageWriter:
    found = _writers.get(descriptor.full_name)
    if found is None:
        found = _writers[descriptor.full_name] = _MessageWriter(descriptor)
    return found


def message_json(message: Message) -> str:
    """Return the message as one line of JSON."""
    descriptor: Any = message.DESCRIPTOR  # of the C library, which has the same interface
    return _writer(descriptor).text(message)
