"""`asara bridge`: programs that read lines and print lines, against a scripted referee."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

import asara
from asara.bridge import program
from asara.bridge.flushing import flush_advice
from asara.bridge.program import Program
from asara.random_choice import random_index
from asara.text import parse_action
from asara.v1.play_pb2 import PlayResponse
from tests.contract.client import scripted
from tests.contract.client.scripted import LEGAL, ScriptedReferee, Stream
from tests.events import EVENT_S, wait_until
from tests.sizes import others_long

RECORDER = """
import json, sys
answers = sys.argv[2:]
with open(sys.argv[1], "w") as file:
    for line in sys.stdin:
        file.write(line)
        file.flush()
        if json.loads(line)["type"] == "decision":
            print(answers.pop(0) if len(answers) > 1 else answers[0])
"""
"""Python code: writes all lines to a file, and prints the remaining arguments as answers."""


def start(
    referee: ScriptedReferee | None, *command: object, options: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    settings = {"ASARA_ADDRESS": referee.address, "ASARA_TOKEN": "secret"} if referee else {}
    return subprocess.Popen(
        [sys.executable, "-m", "asara.bridge", *options, "--", *map(str, command)],
        env={**os.environ, **settings, "ASARA_SEED": "7"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=EVENT_S)
    assert out == ""
    return process.returncode, err


def shell(code: str) -> tuple[str, ...]:
    return "sh", "-c", code


def recorder(path: Path, *answers: str) -> tuple[object, ...]:
    return sys.executable, "-c", RECORDER, path, *answers


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def as_json(response: PlayResponse) -> Any:
    return MessageToDict(
        response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def asking(clock_us: int = 0) -> scripted.Script:
    """Return the script of a match whose decision gets the first legal action."""

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        asked = scripted.decision(1)
        asked.decision.clock_us = clock_us
        yield asked
        assert stream.reply().actions == LEGAL[:1]
        yield scripted.ended()
        yield scripted.goodbye()

    return script


def deciding(clock_us: int = 0) -> scripted.Script:
    """Return the script of a match whose only decision is not answered."""

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        asked = scripted.decision(17)
        asked.decision.clock_us = clock_us
        yield asked
        stream.expect_nothing_more()

    return script


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_the_program_reads_every_message_and_answers_decisions(
    referee: ScriptedReferee, tmp_path: Path
) -> None:
    sent = [scripted.started(), scripted.decision(1, sequence=2, events=scripted.new_events(5, 0))]
    sent += [scripted.decision(2, sequence=2), scripted.ended(sequence=2)]

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        for response in sent:
            yield response
            if response.HasField("decision"):
                reply = stream.reply()
                assert reply.decision_id == response.decision.decision_id
                assert reply.actions == LEGAL[reply.decision_id : reply.decision_id + 1]
        yield scripted.goodbye()

    referee.scripts.append(script)
    command = recorder(tmp_path / "lines", "1", "dispatch tent 2")
    assert finish(start(referee, *command, options=("--jobs", "5"))) == (0, "")
    texts = ["dispatch bank 12", "dispatch coloured-building 1", "dispatch tent 2"]
    expected = []
    for response in sent:
        [(kind, message)] = as_json(response).items()
        line = {"type": kind, "match_id": "m1", "seat": 0, kind: message}
        if kind == "decision":
            number = int(message["decision_id"])
            line |= {"legal": texts, "random_index": random_index("7", "m1", 0, number, 3)}
        expected.append(line)
    assert lines(tmp_path / "lines") == expected
    assert referee.hellos[0].max_matches == 5
    assert referee.hellos[0].bot_name.startswith(shlex.quote(sys.executable)[:20])


def test_an_illegal_action_is_rejected_by_the_referee_and_followed_by_the_first_legal_one(
    referee: ScriptedReferee, tmp_path: Path
) -> None:
    rejection = asara.Rejection(
        match_id="m1", decision_id=1, detail="illegal", legal_actions=LEGAL, forgiven=2
    )

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision()
        assert stream.reply().actions == [parse_action("dispatch bank 99")]
        yield PlayResponse(rejection=rejection)
        assert stream.reply().actions == LEGAL[:1]
        yield scripted.goodbye()

    referee.scripts.append(script)
    command = recorder(tmp_path / "lines", "dispatch bank 99")
    assert finish(start(referee, *command)) == (
        0,
        (
            "asara: the reply to decision 1 of m1 was rejected (illegal); 2 more are forgiven in "
            "this match; return one of decision.legal_actions as it is\n"
        ),
    )
    last = lines(tmp_path / "lines")[-1]
    assert last["type"] == "rejection"
    assert last["rejection"] == as_json(PlayResponse(rejection=rejection))["rejection"]


READ_2 = "read -r _; read -r _; "
FAULTS = {
    "dies": (READ_2 + "exit 3", "decision 17 of m1: it exited with status 3"),
    "is killed": (READ_2 + "kill -9 $$", "decision 17 of m1: it was killed by SIGKILL"),
    "half a line": (
        READ_2 + "printf 'disp'; exit 1",
        (
            "decision 17 of m1: it exited with status 1; its last output was 'disp', without the "
            "end of a line"
        ),
    ),
    "reads one line": (
        READ_2 + "exit",
        (
            "decision 17 of m1: it exited with status 0; it must read and answer until its "
            "standard input ends"
        ),
    ),
    "ends at once": ("exit 1", "match_started of m1: it exited with status 1"),
    "closes its output": (
        READ_2 + "exec >&-; sleep 600",
        "decision 17 of m1: it has closed its standard output, and is still running",
    ),
    "garbage": (
        READ_2 + r"printf 'hal\033[31mlo\n'; sleep 600",
        "decision 17 of m1: it answered 'hal�[31mlo': no verb",
    ),
    "an empty line": (
        READ_2 + "echo; sleep 600",
        (
            "decision 17 of m1: it answered '': the line is empty; print an index from 0 to 2, or "
            "the text of an action, such as 'dispatch bank 12'"
        ),
    ),
    "an index too large": (
        READ_2 + "echo 3; sleep 600",
        "decision 17 of m1: it answered '3': there is no legal action 3; print",
    ),
    "bytes that are no text": (
        READ_2 + r"printf '\377\376\n'; sleep 600",
        r"decision 17 of m1: it answered '\\xff\\xfe': not valid UTF-8 at byte 0; print",
    ),
    "a greeting": (
        "echo Welcome; cat >/dev/null",
        (
            "it printed 'Welcome' before decision 17 of m1, which nothing asked for; print one "
            "line per decision, and everything else to standard error"
        ),
    ),
    "two lines": (
        READ_2 + r"printf '0\nI win\n'; sleep 600",
        "it printed 'I win' after its answer to decision 17 of m1, which nothing asked for",
    ),
    "no end of the line": (
        READ_2 + "exec cat /dev/zero",
        (
            "decision 17 of m1: more than 65,536 bytes without the end of a line, which begin with "
            "'�����"
        ),
    ),
}


@pytest.mark.parametrize("fault", others_long(FAULTS, 3))
def test_a_fault_ends_the_bridge_with_one_line(referee: ScriptedReferee, fault: str) -> None:
    code, message = FAULTS[fault]
    referee.scripts.append(deciding())
    status, err = finish(start(referee, *shell(f": {fault}; {code}")))
    assert status == 1
    assert err.count("\n") == 1, err
    assert err.startswith(f"asara: sh -c ': {fault}; ")
    assert f": {message}" in err


def test_a_program_that_does_not_read_is_named(referee: ScriptedReferee) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        asked = scripted.decision(17, events=scripted.new_events(*range(5000)), sequence=5000)
        asked.decision.clock_us = 500_000
        yield asked
        stream.expect_nothing_more()

    referee.scripts.append(script)
    status, err = finish(start(referee, "sleep", "60"))
    assert (status, err) == (
        1,
        (
            "asara: sleep 60: decision 17 of m1: it does not read its standard input; read a line, "
            "answer it if it is a decision, and read the next one\n"
        ),
    )


@pytest.mark.long
def test_a_program_that_may_forget_to_flush_is_told_how(referee: ScriptedReferee) -> None:
    command = ("perl", "-e", r"<STDIN>; <STDIN>; print qq(0\n); sleep 600")
    referee.scripts.append(deciding(clock_us=2_200_000))
    status, err = finish(start(referee, *command))
    name = shlex.join(command)
    assert (status, err) == (
        1,
        (
            f"asara: {name}: decision 17 of m1: no answer for 2 s, still waiting; if it has "
            "printed one, it must flush its output: begin with $| = 1;\n"
            f"asara: {name}: decision 17 of m1: no answer yet, and its clock of 2.2 s runs out; "
            "does it flush? begin with $| = 1;\n"
            f"asara: {name}: decision 17 of m1: no answer long after the end of its clock\n"
        ),
    )


@pytest.mark.long
def test_a_program_that_prints_no_end_of_the_line_is_told_so(referee: ScriptedReferee) -> None:
    command = shell("read -r _; read -r _; printf 1; sleep 600")
    referee.scripts.append(deciding(clock_us=2_200_000))
    _, err = finish(start(referee, *command))
    waiting, late, _ = err.splitlines()
    assert waiting.endswith("17 of m1: it has printed '1', and no end of the line; still waiting")
    assert late.endswith(
        "no answer yet, and its clock of 2.2 s runs out, but '1' without the end of a line"
    )


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("env", "perl5.36.0", "bot"), "begin with $| = 1;"),
        (("/usr/bin/python3", "bot.py"), "call print(..., flush=True), or start it as `python -u`"),
        (("mawk", "-f", "bot"), "call fflush() after print; mawk must also be started as"),
        (("dash", "bot.sh"), "printf and echo flush, but filters need an option: `jq --unbuf"),
        (("./bot",), "such as by fflush(stdout) in C"),
    ],
)
def test_the_remedy_is_that_of_the_language(command: tuple[str, ...], remedy: str) -> None:
    assert flush_advice(command).startswith(remedy)


@pytest.mark.parametrize("answered", [False, True])
def test_a_slow_program_that_has_answered_before_is_not_disturbed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answered: bool
) -> None:
    slow = Program(shell("while read -r _; do echo 0; done"))
    if answered:
        assert slow.ask("a line", "decision 1 of m1", 30) == b"0"
    with monkeypatch.context() as patch:
        seconds = itertools.count(step=3)  # pass between two looks at the clock
        patch.setattr(program, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
        assert slow.ask("a line", "decision 2 of m1", 1_000) == b"0"
    assert slow.close() == ""
    assert ("no answer for 3 s" in capsys.readouterr().err) is not answered


def test_standard_error_is_the_log_and_a_bad_status_after_the_last_match_is_reported(
    referee: ScriptedReferee,
) -> None:
    referee.scripts.append(asking())
    code = "echo ready >&2; read -r _; read -r _; echo 0; cat >/dev/null; exit 7"
    name = shlex.join(shell(code))
    ending = f"asara: {name} exited with status 7 after its last match\n"
    assert finish(start(referee, *shell(code))) == (0, f"ready\n{ending}")


STUBBORN = """
trap '' TERM HUP INT
(trap '' TERM HUP INT; while :; do sleep 1; done) &
echo $$ $! >"$1"
read -r _; read -r _; echo 0
while :; do sleep 1; done
"""


def stubborn(path: Path) -> tuple[str, ...]:
    return "sh", "-c", STUBBORN, "sh", str(path)


def wait_for_pids(path: Path) -> list[int]:
    wait_until("process ids", lambda: path.read_text().endswith("\n"))
    return [int(word) for word in path.read_text().split()]


def test_a_stubborn_program_ends_with_the_goodbye(referee: ScriptedReferee, tmp_path: Path) -> None:
    referee.scripts.append(asking())
    assert finish(start(referee, *stubborn(tmp_path / "pids"))) == (0, "")
    assert not any(map(alive, wait_for_pids(tmp_path / "pids")))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_signal_leaves_the_program_behind(
    referee: ScriptedReferee, tmp_path: Path, number: signal.Signals
) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision(1)
        stream.reply()
        yield scripted.decision(2)
        process.send_signal(number)
        stream.expect_nothing_more()

    referee.scripts.append(script)
    process = start(referee, *stubborn(tmp_path / "pids"))
    pids = wait_for_pids(tmp_path / "pids")
    status, printed = finish(process)
    assert status == (130 if number == signal.SIGINT else -number), printed
    wait_until("its processes end", lambda: not any(map(alive, pids)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a program: asara bridge -- perl bot.pl"),
        (["--"], "name a program: asara bridge -- perl bot.pl"),
        (["--", "no-such-program"], "there is no program 'no-such-program'; check its name, and"),
        (
            ["--", "perl bot.pl"],
            "there is no program 'perl bot.pl'; write its words without quotes",
        ),
        (["--", "/etc/passwd"], "'/etc/passwd' is not executable; run chmod +x, or put its"),
        (["--", "a\0b"], "'a�b' cannot be started: embedded null byte"),
        (["--jobs", "0", "cat"], "argument --jobs/-j: '0' is not a number from 1"),
        (["--jobs"], "argument --jobs/-j: expected one argument"),
        (["--nonsense", "--", "cat"], "unknown option --nonsense"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from asara.bridge.command import main

    with pytest.raises(SystemExit) as caught:
        main(arguments)
    err = capsys.readouterr().err
    assert caught.value.code == 2
    assert err.startswith(f"asara: bridge: {message}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"#!/no/such -x\n", "the interpreter in its first line does not exist: '/no/such'"),
        (b"#!/bin/sh\r\necho 0\r\n", "its lines end as on Windows, in CR LF"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "it begins with a byte order mark: save it as UTF-8 without"),
        (b"echo 0\n", "put its interpreter before it, or name it in a first line"),
    ],
)
def test_a_wrong_first_line_is_explained(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from asara.bridge.command import main

    program = tmp_path / "bot"
    program.write_bytes(content)
    program.chmod(0o755)
    with pytest.raises(SystemExit):
        main(["--", str(program)])
    assert message in capsys.readouterr().err


def test_a_program_that_the_sandbox_may_lack_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from asara.bridge.command import main

    monkeypatch.setenv("ASARA_CONTAINED", "1")
    with pytest.raises(SystemExit):
        main(["--", "no-such-language"])
    assert "in the sandbox a bot sees its folder" in capsys.readouterr().err


def test_the_help_says_what_a_program_reads_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    from asara.bridge.command import main

    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    for word in ("match_started", "match_ended", "random_index", "legal", "standard error"):
        assert word in shown


def test_the_command_loads_nothing_but_the_client() -> None:
    code = (
        "import sys\n"
        "from asara_server.cli import main\n"
        "try: main(['bridge', '--help'])\n"
        "except SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: asara bridge [OPTIONS] -- COMMAND...\n")
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "asara" in loaded
    assert not loaded & {"typer", "rich", "pydantic", "scipy", "numpy", "structlog"}
