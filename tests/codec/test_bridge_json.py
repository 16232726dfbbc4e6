"""The JSON of the bridge is proto3 JSON, as `json_format` writes it."""

from __future__ import annotations

import json
import random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from asara.bridge.message_json import message_json
from asara.v1.play_pb2 import PlayResponse

FIELD = FieldDescriptor
DESCRIPTOR: Any = PlayResponse.DESCRIPTOR


def expected(message: Message) -> object:
    return MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def any_value(field: FieldDescriptor, rng: random.Random, depth: int) -> Any:
    if field.message_type is not None:
        return any_message(field.message_type, rng, depth + 1)
    if field.enum_type is not None:
        return rng.choice([0, 1, 2, 999])  # the last is unknown to this version
    if field.type == FIELD.TYPE_BYTES:
        return rng.randbytes(rng.randrange(5))
    if field.cpp_type == FIELD.CPPTYPE_STRING:
        return "".join(rng.choices('"\\/\n\x00\x7f aé€\u2028😀', k=rng.randrange(5)))
    if field.cpp_type == FIELD.CPPTYPE_BOOL:
        return rng.random() < 0.5
    bits = 63 if field.cpp_type == FIELD.CPPTYPE_INT64 else 31
    return rng.choice([0, 1, -1, 2**bits - 1, -(2**bits)])


def any_message(descriptor: Descriptor, rng: random.Random, depth: int = 0) -> Message:
    message: Any = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if rng.random() < 0.3 or depth > 6:
            continue
        if field.is_repeated:
            values = [any_value(field, rng, depth) for _ in range(rng.randrange(4))]
            getattr(message, field.name).extend(values)
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(any_value(field, rng, depth))
            getattr(message, field.name).SetInParent()
        else:
            setattr(message, field.name, any_value(field, rng, depth))
    return message  # type: ignore[no-any-return]


def test_messages_with_any_values_are_written_as_json_format_does() -> None:
    rng = random.Random(1)
    for _ in range(500):
        message = any_message(DESCRIPTOR, rng)
        line = message_json(message)
        assert "\n" not in line
        assert json.loads(line) == expected(message)
