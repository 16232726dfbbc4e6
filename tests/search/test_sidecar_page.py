"""clients/sidecar.md: its exchange, its tables and its bot."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from asara.bridge.message_json import message_json
from asara.text import format_action
from asara.v1.play_pb2 import PlayResponse
from asara_search.sidecar.service import LIMITS, Sidecar
from tests.docs.documents import blocks, code_words, table
from tests.events import EVENT_S
from tests.search.sidecar_matches import Asked, seat_messages, up_to_decision

PAGE = "clients/sidecar.md"
DECISION = 3


def bridge_line(data: bytes) -> str:
    """Return a message as the line of `asara bridge`."""
    response = PlayResponse.FromString(data)
    kind = response.WhichOneof("response")
    assert kind is not None
    message = getattr(response, kind)
    line = {"type": kind, "match_id": message.match_id, "seat": 0}
    if kind == "decision":
        line["legal"] = [format_action(action) for action in message.legal_actions]
    return json.dumps({**line, kind: json.loads(message_json(message))})


def test_the_exchange_is_what_the_sidecar_answers():
    messages = iter(up_to_decision(seat_messages(), DECISION))
    asked = Asked()
    (exchange,) = blocks(PAGE, "text")
    lines = exchange.content.splitlines()
    assert len(lines) > 20
    for request, answer in zip(lines[::2], lines[1::2], strict=True):
        assert (request[:2], answer[:2]) == ("> ", "< ")
        text = request[2:]
        if "…" in text:
            line = json.loads(bridge_line(next(messages)))
            kind = line["type"]
            assert text == f'{{"method":"observe","{kind}":…}}'
            text = json.dumps({"method": "observe", kind: line[kind]})
        given = asked.sidecar.answer(text.encode())
        pattern = ".*".join(re.escape(part) for part in answer[2:].split("…"))
        # Results of playouts change with the order in which random numbers are drawn.
        pattern = re.sub(r"\d+\\\.\d+|\d{4,}", r"\\d+(\\.\\d+)?", pattern)
        assert re.fullmatch(pattern, given), given
    assert next(messages, None) is None


def test_methods_and_their_members():
    rows = table(PAGE, "`method`")
    assert [row[0].strip("`") for row in rows] == list(Sidecar().methods)
    described = {word for row in table(PAGE, "member") for word in code_words(row[0])}
    asked = Asked(up_to_decision(seat_messages(), DECISION))
    asked.ask("sample")
    examples = {
        "protocol_version": 1, "match_id": "basic-1", "decision_id": DECISION, "count": 1,
        "seed": 1, "state": 1, "form": "json", "actions": [0], "states": [1], "seat": 0,
        "policy": "random", "until": "turn", "milliseconds": 1,
    }  # fmt: skip
    for row in rows:
        method = row[0].strip("`")
        if method in {"observe", "release"}:
            continue
        assert set(code_words(row[1])) <= described | {"protocol_version"}
        members = {name: examples[name] for name in code_words(row[1])}
        found = asked.ask(method, **members)  # each member is known
        named = set(code_words(row[2]))
        assert set(found) <= named
        for name in re.findall(r"`(\w+)`(?!\?)", row[1].replace(" or ", "? ")):
            required = {key: value for key, value in members.items() if key != name}
            assert name in asked.refusal(method, **required)


def test_limits():
    rows = table(PAGE, "limit")
    assert {row[0].strip("`"): row[1] for row in rows} == {
        name: f"{value:,}" for name, value in LIMITS.items()
    }


def test_examples_of_actions_are_the_same_action():
    asked = Asked(up_to_decision(seat_messages(), DECISION))
    state = asked.sample(seed=1)
    found = set()
    for row in table(PAGE, "action"):
        [example] = code_words(row[1])
        [copy] = asked.ask("copy", state=state, seed=1)["states"]
        asked.ask("apply", state=copy, actions=[json.loads(example)])
        found.add(json.dumps(asked.ask("view", state=copy)))
    assert len(found) == 1


def test_errors():
    asked = Asked(up_to_decision(seat_messages(), DECISION))
    asked.sample(seed=1)
    for row in table(PAGE, "request"):
        [request], [error] = code_words(row[0]), code_words(row[1])
        given = str(asked.line(request)["error"])
        assert given.startswith(error.rstrip("…"))
        assert given == error or error.endswith("…")


def test_the_bot_answers_decisions(tmp_path: Path):
    if not shutil.which("perl"):
        pytest.skip("perl is not installed")
    (bot,) = blocks(PAGE, "perl")
    (tmp_path / "bot.pl").write_text(bot.content)
    (tmp_path / "asara").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m asara_server.cli "$@"\n'
    )
    (tmp_path / "asara").chmod(0o755)
    messages = up_to_decision(seat_messages("pro+gifts+genie", 3), 4)
    done = subprocess.run(
        ["perl", tmp_path / "bot.pl"],
        input="".join(f"{bridge_line(data)}\n" for data in messages),
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    decisions = [
        response.decision
        for response in map(PlayResponse.FromString, messages)
        if response.HasField("decision")
    ]
    chosen = [int(line) for line in done.stdout.splitlines()]
    assert len(chosen) == len(decisions) == 4
    assert all(
        index < len(decision.legal_actions)
        for index, decision in zip(chosen, decisions, strict=True)
    )
