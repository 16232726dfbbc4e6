"""The little of protobuf's wire format that joining finished parts needs.

Serialized messages may be concatenated: a message is the concatenation of its fields. So the bytes
of parts that recur can be kept, and a new message costs a join. Field numbers are asked of the
generated classes and never written down here.
"""

from collections.abc import Iterable
from typing import Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

#: Numbers below, which most are, are kept as whole fields.
_SMALL: Final = 512
_VARINT: Final = 0
_LENGTH_DELIMITED: Final = 2


def varint(value: int) -> bytes:
    """Base-128 form of an integer; negative ones take ten bytes, as protobuf demands."""
    if 0 <= value < 1 << 7:
        return _ONE_BYTE[value]
    if 0 <= value < 1 << 14:
        return bytes((value & 127 | 128, value >> 7))
    if 0 <= value < 1 << 21:
        return bytes((value & 127 | 128, value >> 7 & 127 | 128, value >> 14))
    if 0 <= value < 1 << 28:
        return bytes(
            (value & 127 | 128, value >> 7 & 127 | 128, value >> 14 & 127 | 128, value >> 21)
        )
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 1 << 7:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


_ONE_BYTE: Final = [bytes([value]) for value in range(128)]
_LENGTHS: Final = [varint(length) for length in range(2048)]


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position behind it.

    Raises IndexError if it is cut short, not in its shortest form, or of more than ten bytes.
    """
    value = data[at]
    at += 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    shift = 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if not byte:
                raise IndexError
            return value, at
        shift += 7
        if shift > 63:  # reading on takes time in the square of the length
            raise IndexError


def delimited(payload: bytes) -> bytes:
    """A payload behind its length: what follows the tag of a string or of a nested message."""
    length = len(payload)
    return (_LENGTHS[length] if length < 2048 else varint(length)) + payload


def tag(message: type[Message], name: str) -> bytes:
    """The tag of a field that holds a string, bytes or nested messages."""
    return _tag(message, name, _LENGTH_DELIMITED)


class Nested:
    """Makes a payload the value of a string, bytes or message field.

    An empty payload is written, too: an empty message is there, but protobuf leaves empty text out.
    """

    __slots__ = ("_tag",)

    def __init__(self, message: type[Message], name: str) -> None:
        self._tag = tag(message, name)

    def of(self, payload: bytes) -> bytes:
        """The field."""
        return self._tag + delimited(payload)


class Repeated:
    """Makes `delimited` payloads the values of a repeated field."""

    __slots__ = ("_tag",)

    def __init__(self, message: type[Message], name: str) -> None:
        self._tag = tag(message, name)

    def of(self, payloads: Iterable[bytes]) -> bytes:
        """The fields."""
        joined = self._tag.join(payloads)
        return self._tag + joined if joined else b""


class Integer:
    """Sets an integer, bool or enum field; 0 takes no bytes."""

    __slots__ = ("_small", "_tag")

    def __init__(self, message: type[Message], name: str) -> None:
        self._tag = _tag(message, name, _VARINT)
        self._small = [b"", *(self._tag + varint(value) for value in range(1, _SMALL))]

    def of(self, value: int) -> bytes:
        """The field."""
        if 0 <= value < _SMALL:
            return self._small[value]
        return self._tag + varint(value)


def integer_tag(message: type[Message], name: str) -> bytes:
    """The tag of an integer, bool or enum field."""
    return _tag(message, name, _VARINT)


def _tag(message: type[Message], name: str, wire_type: int) -> bytes:
    field = message.DESCRIPTOR.fields_by_name[name]
    expected = {
        FieldDescriptor.CPPTYPE_MESSAGE: _LENGTH_DELIMITED,
        FieldDescriptor.CPPTYPE_STRING: _LENGTH_DELIMITED,
        FieldDescriptor.CPPTYPE_INT32: _VARINT,
        FieldDescriptor.CPPTYPE_INT64: _VARINT,
        FieldDescriptor.CPPTYPE_ENUM: _VARINT,
        FieldDescriptor.CPPTYPE_BOOL: _VARINT,
    }.get(field.cpp_type)
    if expected != wire_type:
        raise TypeError(f"{field.full_name}: its type is not joined this way")
    return varint(field.number << 3 | wire_type)
