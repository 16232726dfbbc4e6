"""The sidecar as a process of a bot: what it loads, how it ends, and lines of garbage."""

import json
import os
import random
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator

import pytest

from asara_search.sidecar.service import LONGEST_LINE, PROTOCOL_VERSION
from tests.cli.mutations import mutate_bytes
from tests.events import EVENT_S
from tests.search.sidecar_matches import Asked, seat_messages, up_to_decision

COMMANDS = {
    "asara": [sys.executable, "-m", "asara_server.cli", "sidecar"],
    "module": [sys.executable, "-m", "asara_search.sidecar"],
}
HELLO = b'{"method":"hello"}\n'


def talk(lines: bytes, *, command: str = "module") -> list[dict[str, object]]:
    """Return the answers to lines, after which the process must have ended by itself."""
    done = subprocess.run(
        COMMANDS[command], input=lines, capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_every_line_has_an_answer_and_the_end_of_input_is_the_end(command):
    lines = HELLO + b"garbage\n\n" + b"x" * (3 * LONGEST_LINE) + b"\n" + HELLO + HELLO.strip()
    answers = talk(lines, command=command)
    assert [answer.get("protocol_version") for answer in answers] == [
        PROTOCOL_VERSION, None, None, None, PROTOCOL_VERSION, PROTOCOL_VERSION,
    ]  # fmt: skip
    assert answers[3] == {"error": "the line has more than 1,048,576 bytes"}


def test_a_line_of_the_greatest_length_is_read():
    padded = HELLO.strip() + b" " * (LONGEST_LINE - len(HELLO) + 1)
    assert len(padded) == LONGEST_LINE
    answers = talk(padded + b"\r\n" + padded + b" \n" + HELLO)
    assert ["error" in answer for answer in answers] == [False, True, False]


def loaded(code: str) -> set[str]:
    """Return the packages outside the standard library that code has loaded when it ends."""
    code += "\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()) - sys.stdlib_module_names


@pytest.mark.long
@pytest.mark.parametrize("module", ["asara_search.sidecar.command", "asara_server.cli"])
def test_the_command_loads_nothing_but_the_client_and_the_forward_model(module: str) -> None:
    words = "" if module.startswith("asara_search") else "'sidecar'"
    found = loaded(f"from {module} import main\ntry: main([{words}])\nexcept SystemExit: pass")
    client = loaded("import asara, google.protobuf.json_format")
    assert found - client <= {"asara_codec", "asara_game", "asara_search", "asara_server"}
    assert ("asara_server" in found) == (module == "asara_server.cli")


_TIMERS = """
import faulthandler
calls = []
faulthandler.dump_traceback_later = lambda *_, **__: calls.append("set")
faulthandler.cancel_dump_traceback_later = lambda: calls.append("cancelled")
from asara_search.sidecar.command import main
try:
    main([])
except SystemExit:
    print(*calls)
"""


def test_no_stack_is_printed_if_a_bot_starts_it_and_thinks_for_long():
    """A bot that has not called `run` after 20 seconds prints where it is.

    The sidecar has the variables of the bot, so the client takes it for one. It never calls `run`,
    and a stack that is printed while it works can crash it.
    """
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _TIMERS],
        env={**os.environ, "ASARA_TOKEN": "token"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == [b"set", b"cancelled"]


@pytest.fixture
def reading() -> Iterator["subprocess.Popen[bytes]"]:
    """A sidecar that has answered and reads on."""
    with subprocess.Popen(
        COMMANDS["module"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(HELLO)
        process.stdin.flush()
        process.stdout.readline()
        yield process


def test_a_bot_that_has_gone_is_no_error(reading):
    reading.stdout.close()
    reading.stdin.write(HELLO)
    reading.stdin.close()
    assert reading.wait(EVENT_S) == 0
    assert reading.stderr.read() == b""


def test_an_interrupt_ends_it_without_a_traceback(reading):
    reading.send_signal(signal.SIGINT)
    assert reading.wait(EVENT_S) == 130
    assert reading.stderr.read() == b""


def test_a_wrong_option_is_one_line():
    done = subprocess.run(
        [*COMMANDS["asara"], "--sed", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == ("asara: sidecar: unknown option --sed 1; see `asara sidecar --help`\n")


# Fuzz


def observed(message: bytes) -> bytes:
    request = {"method": "observe", "response": b64encode(message).decode()}
    return json.dumps(request).encode()


ODD_VALUES: tuple[object, ...] = (-1, 0, 10**30, 1.5, None, True, "", "1", "decline", [], [0], {})


def odd(request: dict[str, object], rng: random.Random) -> bytes:
    """Return a request with another value of a member; half of them are numbers that may fit."""
    name = rng.choice([*request][rng.random() > 0.1 :])
    return json.dumps({**request, name: rng.choice((*ODD_VALUES, *[1, 2, 3] * 4))}).encode()


def fuzz(seed: int, lines: int) -> None:
    """Every damaged line has one answer, and what is right is still answered afterwards."""
    rng = random.Random(seed)
    messages = up_to_decision(seat_messages("pro+gifts+genie", 3), 12)
    requests: list[dict[str, object]] = [
        {"method": "hello", "protocol_version": 1},
        {"method": "sample", "count": 2, "seed": 1, "match_id": "pro+gifts+genie-1"},
        {"method": "legal_actions", "state": 1, "form": "json"},
        {"method": "apply", "state": 1, "actions": [0, "decline"]},
        {"method": "copy", "state": 1, "count": 2},
        {"method": "release", "states": [1, 2]},
        {"method": "outcome", "state": 1},
        {"method": "view", "state": 1, "seat": 0},
        {"method": "evaluate", "states": [1], "actions": [0]},
        {"method": "play_out", "states": [1], "until": "year", "milliseconds": 1},
    ]
    asked = Asked()
    refused = 0
    for number in range(lines):
        if number % 25 == 0:  # before so much is released that all requests are refused
            asked = Asked(messages)
            asked.ask("sample", count=2, seed=1)
        kind = rng.randrange(5)
        if kind == 0:
            line = observed(mutate_bytes(rng.choice(messages), rng))
        elif kind == 1:
            line = mutate_bytes(json.dumps(rng.choice(requests)).encode(), rng)
        else:
            line = odd(rng.choice(requests), rng)
        refused += "error" in asked.line(line.replace(b"\n", b" "))
    assert 0.3 * lines < refused < 0.95 * lines
    views = []
    for each in (asked, Asked()):
        for data in up_to_decision(seat_messages(), 9):
            each.pass_on(data)
        state = each.sample(match_id="basic-1", seed=1)
        views.append(each.ask("view", state=state, seat=1))
    assert views[0] == views[1]


@pytest.mark.parametrize("seed", range(3))
def test_garbage_is_refused_line_by_line(seed):
    fuzz(seed, 300)
