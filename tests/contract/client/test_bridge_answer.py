"""The line that a program prints is read as one or several actions, or refused in one line."""

from __future__ import annotations

import random

import pytest
from google.protobuf.json_format import MessageToJson

import asara
from asara.bridge.answer import AnswerError, read_answer
from asara.text import format_action, parse_action
from tests.contract.client.scripted import LEGAL

TEXTS = [format_action(action) for action in LEGAL]
LAY = parse_action("lay blue green face-down")
MESSAGE = MessageToJson(LEGAL[1], indent=None)
SNAKE = MessageToJson(LEGAL[1], indent=None, preserving_proto_field_name=True)


@pytest.mark.parametrize(
    ("line", "actions"),
    [
        ("0", LEGAL[:1]),
        ("  2 \r", LEGAL[2:]),
        ("02", LEGAL[2:]),
        ("\ufeff2", LEGAL[2:]),
        ("1.0", LEGAL[1:2]),
        ("dispatch bank 12", LEGAL[:1]),
        ('"dispatch bank 12"', LEGAL[:1]),
        (MESSAGE, LEGAL[1:2]),
        (SNAKE, LEGAL[1:2]),
        ("[1]", LEGAL[1:2]),
        ('[1, "lay blue green face-down"]', [LEGAL[1], LAY]),
        (f'["{TEXTS[1]}", {MessageToJson(LAY, indent=None)}]', [LEGAL[1], LAY]),
        ("wish bank 12", [parse_action("wish bank 12")]),  # not legal: the referee says so
    ],
)
def test_an_answer_is_an_index_a_text_a_message_or_a_list(
    line: str, actions: list[asara.Action]
) -> None:
    assert read_answer(line.encode(), LEGAL, TEXTS) == actions


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "the line is empty"),
        (b" \r", "the line is empty"),
        (b"3", "there is no legal action 3"),
        (b"-1", "there is no legal action -1"),
        (b"123456789012", "there is no legal action 123456789012"),
        (b"9" * 5000, "not JSON that can be read: it is nested too deeply, or a number"),
        (b"1.5", "1.5 is no action"),
        (b"1e999", "Infinity is no action"),
        (b"NaN", "no verb 'NaN'; one of dispatch, lay"),
        (b"true", "true is no action"),
        (b"null", "null is no action"),
        (b"dispatch bank", "the number of a space is missing"),
        (b'"dispatch bank"', "action 'dispatch bank': the number of a space is missing"),
        (b"hello", "no verb 'hello'"),
        (b"lay " + b"blue " * 1000, "no action is that long"),
        ("lay bläu\x1b[31m".encode(), "no buyer 'bläu\\x1b[31m'"),
        (b"\xff\xfe", "not valid UTF-8 at byte 0"),
        (b"[", "not JSON: Expecting value at character 1"),
        (b"[" * 60_000, "not JSON that can be read: it is nested too deeply"),
        (b'{"a":' * 10_000, "not JSON that can be read: it is nested too deeply"),
        (b"[]", "the list is empty"),
        (b"[[0]]", "[0] is no action"),
        (b"[0, 1]", "1 in the list is an index, which only the first action can be"),
        (b"{}", "the message Action is empty"),
        (b'{"decline": 3}', "not a message Action"),
        (b'{"no_such": {}}', "not a message Action"),
        (b'{"build_count": {"count": 1e99}}', "not a message Action"),
    ],
)
def test_any_other_line_is_refused_with_the_reason(line: bytes, reason: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_answer(line, LEGAL, TEXTS)
    assert str(caught.value).startswith(reason)


def test_hostile_bytes_are_an_answer_or_refused() -> None:
    rng = random.Random(2)
    pieces = [b"[", b"]", b"{", b"}", b'"', b":", b",", b"0", b"-", b"1e9", b"\\u", b"\xff", b"\0"]
    pieces += [
        b"null",
        b"dispatch",
        b" bank",
        b" 12",
        b"lay",
        b" blue",
        b'"take_section":',
        b"\xc3",
    ]
    for _ in range(4_000):
        line = b"".join(rng.choices(pieces, k=rng.randrange(1, 12)))
        text = outcome(line)
        assert text.isprintable()
        assert len(text) <= 201


def outcome(line: bytes) -> str:
    """Return the text forms of an answer, or why it is none."""
    try:
        return ", ".join(map(format_action, read_answer(line, LEGAL, TEXTS)))
    except AnswerError as error:
        return str(error)
