"""Advice to authors of bots, from outputs of real interpreters."""

import shlex
import sys
from collections.abc import Sequence

import pytest

from asara_codec.results import Termination
from asara_server.tournament.bots.error_output import clean_lines, error_lines
from asara_server.tournament.bots.remedies import remedy
from asara_server.tournament.standings.match_result import with_output

LIBRARY = "/usr/lib/python3.11"
BOT = ("python", "my_bot.py")


def advice(output: str, status: int = 1, command: Sequence[str] = BOT) -> str:
    lines = error_lines(clean_lines(output.encode()))
    detail = with_output(f"exited with status {status}", lines)
    return remedy(Termination.NEVER_STARTED, detail, command)


def trace(error: str, *frames: str) -> str:
    """Return a traceback; frames are `FILE:LINE` or `FILE:LINE FUNCTION`."""
    lines = ["Traceback (most recent call last):"]
    for frame in frames:
        place, _, function = frame.partition(" ")
        file, _, number = place.rpartition(":")
        lines += [f'  File "{file}", line {number}, in {function or "<module>"}', "    code()"]
    return "\n".join([*lines, error])


def test_the_last_line_of_the_author_is_named_not_that_of_a_library() -> None:
    error = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    shown = trace(error, "/bots/my_bot.py:9", "/bots/tools.py:3 load", f"{LIBRARY}/json.py:337 x")
    assert advice(shown).startswith("correct tools.py, line 3. ")


def test_a_long_traceback_keeps_the_last_frame_of_the_author() -> None:
    inner = [f"{LIBRARY}/urllib/request.py:{number} open" for number in range(100, 107)]
    lines = trace("URLError: <error>", "/bots/a.py:1", "/bots/my_bot.py:2 decide", *inner)
    assert error_lines(lines.splitlines()) == [
        "Traceback (most recent call last):",
        "  … 2 more lines",
        '  File "/bots/my_bot.py", line 2, in decide',
        "    code()",
        "  … 6 more lines",
        *lines.splitlines()[-9:],
    ]


@pytest.mark.parametrize(
    "error",
    [
        "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        "socket.gaierror: [Errno -2] Name or service not known",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "OSError: [Errno 97] Address family not supported by protocol",
        "OSError: [Errno 101] Network is unreachable",
    ],
)
def test_bots_have_no_network(error: str) -> None:
    assert "a bot has no network" in advice(trace(error, "/bots/my_bot.py:2"))


def test_the_loss_of_the_referee_is_not_taken_for_a_missing_network() -> None:
    assert advice("asara: no referee at unix:/x for 30 s: Connection refused") == ""


def test_a_missing_module_may_be_a_file_of_the_author(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my env/bin/python")
    error = "ModuleNotFoundError: No module named 'tools.cards'"
    assert advice(trace(error, "/bots/my_bot.py:1")) == (
        "if tools is a file of yours, put tools.py beside my_bot.py. If it is a package, check its "
        f"name, or install it: {shlex.quote(sys.executable)} -m pip install tools"
    )


def test_what_the_sandbox_hid_needs_no_other_advice() -> None:
    error = "ModuleNotFoundError: No module named 'tools'"
    detail = with_output("exited with status 1", [error, "the sandbox hid tools.py: it is …"])
    assert remedy(Termination.NEVER_STARTED, detail, BOT) == ""


def test_a_group_of_exceptions_names_the_line() -> None:
    lines = trace("ExceptionGroup: two", "/bots/my_bot.py:2 decide").splitlines()
    first, *rest = lines
    output = "\n".join([f"  + Exception Group {first}", *(f"  | {line}" for line in rest)])
    assert advice(output).startswith("correct my_bot.py, line 2.")


def test_an_exception_of_a_program_behind_the_bridge_names_the_line() -> None:
    ended = "asara: python bot.py: decision 1 of m1: it exited with status 1"
    output = trace("KeyError: 'kind'", "/bots/bot.py:4") + f"\n{ended}"
    assert advice(output, command=("asara", "bridge", "--", "python", "bot.py")).startswith(
        "correct bot.py, line 4."
    )


def test_a_program_that_does_not_flush_is_not_told_to_be_quicker() -> None:
    line = "asara: perl a.pl: decision 1 of r1: no answer yet; does it flush? begin with $| = 1;"
    detail = with_output("did not answer decision 1 within the 4.5 s it had", [line])
    command = ("asara", "bridge", "--", "perl", "a.pl")
    assert remedy(Termination.TIME_OUT, detail, command) == ""


def test_the_line_where_a_bot_is_after_a_long_time_is_no_error() -> None:
    stack = ["Timeout (0:00:20)!", '  File "/bots/my_bot.py", line 6 in <module>']
    detail = with_output("did not dial in within 30 s", stack)
    assert "Look for an endless loop" in remedy(Termination.NEVER_STARTED, detail, BOT)
