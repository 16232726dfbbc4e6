"""Changes to messages before they are sent, as a later version or a false referee makes them."""

from collections.abc import Callable, Sequence
from typing import Final

from google.protobuf.message import Message

from asara.v1.play_pb2 import PlayResponse
from asara_codec.wire_format import varint

_UNKNOWN_FIELDS: Final = bytes.fromhex(
    "c0 3e 96 01"  # field 1000, a number
    "ca 3e 03 61 62 63"  # field 1001, bytes
    "d1 3e 01 02 03 04 05 06 07 08"  # field 1002, 64 bits
    "dd 3e 01 02 03 04"  # field 1003, 32 bits
)
_UNKNOWN_NUMBER: Final = 99
_PADDING: Final = 9 << 20

UNKNOWN_MEMBER: Final = bytes.fromhex("fa 07 03 61 62 63")
"""A PlayResponse whose oneof has a member that no program knows: field 127."""


def mutated(message: bytes, names: Sequence[str]) -> bytes:
    """Return a serialized PlayResponse with these changes applied."""
    for name in names:
        message = _MUTATIONS[name](message)
    return message


def _with_fields(message: bytes, fields: bytes) -> bytes:
    """Append serialized fields to the member of a PlayResponse."""
    response = PlayResponse.FromString(message)
    member = response.WhichOneof("response")
    assert member is not None
    number = PlayResponse.DESCRIPTOR.fields_by_name[member].number
    inner: bytes = getattr(response, member).SerializeToString() + fields
    return varint(number << 3 | 2) + varint(len(inner)) + inner


def _unknown_fields(message: bytes) -> bytes:
    """Add unknown fields of every wire type to the message and to its member."""
    return _with_fields(message, _UNKNOWN_FIELDS) + _UNKNOWN_FIELDS


def _padding(message: bytes) -> bytes:
    """Add 9 MiB in an unknown field: more than gRPC receives by default."""
    return _with_fields(message, bytes.fromhex("ca 3e") + varint(_PADDING) + bytes(_PADDING))


def _unknown_events(message: bytes) -> bytes:
    """Replace the events by the same number of events that have only an unknown member."""
    response = PlayResponse.FromString(message)
    member: Message = getattr(response, response.WhichOneof("response") or "")
    events = member.events  # type: ignore[attr-defined]
    count = len(events)
    del events[:]
    for _ in range(count):
        events.add().MergeFromString(UNKNOWN_MEMBER)
    return response.SerializeToString()


def _unknown_values(message: bytes) -> bytes:
    """Set every enum of the member, and some nested ones, to a value that no program knows."""
    response = PlayResponse.FromString(message)
    match response.WhichOneof("response"):
        case "decision":
            response.decision.kind = _UNKNOWN_NUMBER  # type: ignore[assignment]
            response.decision.space.area = _UNKNOWN_NUMBER  # type: ignore[assignment]
        case "match_started":
            response.match_started.rule_sets.append(_UNKNOWN_NUMBER)  # type: ignore[arg-type]
        case "rejection":
            response.rejection.reason = _UNKNOWN_NUMBER  # type: ignore[assignment]
        case "match_ended":
            for result in response.match_ended.results:
                result.termination = _UNKNOWN_NUMBER  # type: ignore[assignment]
    return response.SerializeToString()


def _another_secret(message: bytes) -> bytes:
    response = PlayResponse.FromString(message)
    response.match_ended.deal_secret = b"another secret of thirty-two byt"
    return response.SerializeToString()


def _another_commitment(message: bytes) -> bytes:
    response = PlayResponse.FromString(message)
    member = getattr(response, response.WhichOneof("response") or "")
    member.deal_commitment = b"another commitment of 32 bytes.."
    return response.SerializeToString()


def _no_nonce(message: bytes) -> bytes:
    """Leave out the nonce of the program's seat, as if the deal had been made without it."""
    response = PlayResponse.FromString(message)
    started = response.match_started
    started.nonces[started.seat] = b""
    return response.SerializeToString()


def _no_secret(message: bytes) -> bytes:
    response = PlayResponse.FromString(message)
    response.match_ended.deal_secret = b""
    return response.SerializeToString()


_MUTATIONS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "unknown-fields": _unknown_fields,
    "unknown-events": _unknown_events,
    "unknown-values": _unknown_values,
    "padding": _padding,
    "another-secret": _another_secret,
    "another-commitment": _another_commitment,
    "no-nonce": _no_nonce,
    "no-secret": _no_secret,
}
