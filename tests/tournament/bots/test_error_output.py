"""The lines that explain the end of a program, and the remedies for what it printed."""

import random
from pathlib import Path

import pytest

from asara_server.tournament.bots.output import (
    NO_NETWORK,
    OutputLog,
    clean_lines,
    kit_message,
    last_lines,
    remedy,
)
from tests.tournament.samples import seat

OWN = '  File "/bots/my_bot.py", line 3, in decide'
LIBRARY = ['  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode', "    raise"]
WHERE = "in m1, decision 12 (buyers)"


def test_the_reason_in_one_line_is_the_error_and_where_it_happened() -> None:
    printed = (OWN, "    [][0]", "IndexError: none", WHERE)
    crash = seat("ann", 2, "exited with status 1", printed=printed)
    assert crash.explanation == f"exited with status 1; it printed: IndexError: none; {WHERE}"
    assert seat("ann", 2, "ended", printed=()).explanation == "ended; it printed nothing"
    assert seat("ann", 2, "missed").explanation == "missed"
    illegal = seat("ann", 2, "EMPTY: the reply carries no action")
    assert illegal.explanation == illegal.reason == "the reply carries no action"


def test_the_message_of_a_client_is_found_among_other_output() -> None:
    message = ["asara: decision 3 of m1 is still here:", OWN]
    assert kit_message(["thinking", *message, "again"]) == message
    go = "2026/11/22 09:03:45 WARN asara: reply rejected match=a decision=3 reason=EMPTY"
    assert kit_message([*message, go]) == [go]
    assert kit_message(["thinking"]) == []
    inner, library = (line.replace(", in", " in") for line in (OWN, LIBRARY[0]))
    stacks = ["Timeout (0:01:01.500000)!", "Thread 0x1 (most recent call first):", library, ""]
    stacks += ["Thread 0x2 (most recent call first):", library, inner, library, "again"]
    timer = "asara: /bots/my_bot.py, line 3, in decide: the program was still here after 0:01:01"
    assert kit_message(clean_lines("\n".join(stacks).encode())) == [timer]


def test_the_last_lines_begin_with_a_whole_call_and_the_heading_of_a_client() -> None:
    calls = [line for name in "abc" for line in (OWN.replace("decide", name), "    x = (", "    ^")]
    heading = "asara: decision 3 of m1 is still here:"
    last = [heading, "  …", *calls[6:]]
    assert last_lines([heading, *calls]) == kit_message([heading, *calls]) == last
    assert last_lines([*calls, "IndexError: none", WHERE]) == [
        *calls[6:],
        "IndexError: none",
        WHERE,
    ]
    stack = [f"    at Bot.java:{line}" for line in range(7)]
    assert last_lines(["Exception in thread", *stack]) == stack[2:]
    frames = [line for line in calls if line != "    ^"]
    assert last_lines(["begin", *frames, *LIBRARY, *LIBRARY]) == [frames[4], "  …", *LIBRARY * 2]


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "",
        ),
        ("Error: getaddrinfo EAI_AGAIN example.org", ""),
        ("panic: Get: dial tcp: lookup example.org", ""),
        ("ModuleNotFoundError: No module named 'nunpy'", "the module nunpy is missing: "),
        ("Error: Cannot find module './left'", "the module ./left is missing: "),
    ],
)
def test_no_network_and_a_missing_module_have_a_remedy(printed: str, says: str) -> None:
    assert remedy([printed, "more"], contained=True).startswith(says or NO_NETWORK)
    assert remedy([printed], contained=False).startswith(says)
    assert bool(remedy([printed], contained=False)) == bool(says)


@pytest.mark.parametrize(
    "printed",
    [
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/large'",
        "Error: ENOENT: no such file or directory, open 'data/large'",
        "panic: open data/large: no such file or directory",
        "java.nio.file.NoSuchFileException: data/large",
    ],
)
def test_a_file_that_the_sandbox_may_hide_has_a_remedy_in_every_language(printed: str) -> None:
    assert "pass --readable FILE" in remedy([printed, "    at line 3"], contained=True)
    assert remedy([printed], contained=False) == ""


def test_the_clients_messages_need_no_remedy() -> None:
    assert remedy(["asara: no referee for 30 s: Connection refused"], contained=True) == ""


def test_what_a_terminal_would_obey_is_removed() -> None:
    output = b"\x1b[31mred\x1b[0m\tno\n\x1b]0;title\x07x\x07\n\xe2\x80\xaeright\n\rover\n\xff\n"
    assert clean_lines(output) == ["red no", "x ", " right", "over", "\N{REPLACEMENT CHARACTER}"]


def test_no_output_is_too_odd_for_a_reason(tmp_path: Path) -> None:
    """Noise, megabytes without a line end, and lines that resemble tracebacks."""
    parts = [b'  File "', b'", line 3', b"asara: ", b"\x1b[", b"\x1b]0;", b"\n", b"\xe2\x80", b"\0"]
    drawn = random.Random(1)
    log = OutputLog(tmp_path / "bot.log", 1_000)
    for _ in range(40):
        log.write(b"".join(drawn.choice([*parts, drawn.randbytes(9)]) for _ in range(50)))
        lines = (*log.last_lines(), *log.kit_message())
        assert seat("ann", 2, "ended", printed=lines).explanation.isprintable()
        assert remedy(lines, contained=True).isprintable()
    log.write(b"x" * (3 << 20))
    assert len(log.last_lines()[-1]) <= 201
    log.close()
