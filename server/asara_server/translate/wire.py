"""The little of protobuf's wire format that joining finished parts needs.

Serialized messages may be concatenated: a message is the concatenation of its fields. So the bytes
of parts that recur can be kept, and a new message costs a join. Field numbers are asked of the
generated classes and never written down here.
"""

from collections.abc import Callable, Iterable

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

#: Numbers below, which most are, are kept as whole fields.
_SMALL = 512
_VARINT = 0
_LENGTH_DELIMITED = 2


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


_ONE_BYTE = tuple(bytes([value]) for value in range(128))
_LENGTHS = tuple(varint(length) for length in range(2048))


def delimited(payload: bytes) -> bytes:
    """A payload behind its length: what follows the tag of a string or of a nested message."""
    length = len(payload)
    return (_LENGTHS[length] if length < 2048 else varint(length)) + payload


def tag(message: type[Message], name: str) -> bytes:
    """The tag of a field that holds a string, bytes or nested messages."""
    return _tag(message, name, _LENGTH_DELIMITED)


def nested(message: type[Message], name: str) -> Callable[[bytes], bytes]:
    """Returns the function that makes a payload the value of a string, bytes or message field.

    An empty payload is written, too: an empty message is there, but protobuf leaves empty text out.
    """
    head = tag(message, name)

    def field(payload: bytes) -> bytes:
        length = len(payload)
        return head + (_LENGTHS[length] if length < 2048 else varint(length)) + payload

    return field


def repeated(message: type[Message], name: str) -> Callable[[Iterable[bytes]], bytes]:
    """Returns the function that makes `delimited` payloads the values of a repeated field."""
    head = tag(message, name)

    def field(payloads: Iterable[bytes]) -> bytes:
        joined = head.join(payloads)
        return head + joined if joined else b""

    return field


def integer(message: type[Message], name: str) -> Callable[[int], bytes]:
    """Returns the function that sets an integer, bool or enum field; 0 takes no bytes."""
    head = _tag(message, name, _VARINT)
    small = (b"", *(head + varint(value) for value in range(1, _SMALL)))

    def field(value: int) -> bytes:
        return small[value] if 0 <= value < _SMALL else head + varint(value)

    return field


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
