"""The lines that explain the end of a program, from outputs of real interpreters."""

from pathlib import Path

import pytest

from asara_server.tournament.bots.output.error_output import clean_lines, error_lines, known_error
from asara_server.tournament.bots.output.output_log import OutputLog

NODE = """ready
/bots/bot.js:2
    throw new TypeError('legal is not iterable');
    ^

TypeError: legal is not iterable
    at choose (/bots/bot.js:2:31)
    at decide (/bots/bot.js:9:12)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
    at Module._extensions..js (node:internal/modules/cjs/loader:1623:10)
    at Module.load (node:internal/modules/cjs/loader:1266:32)
    at Module._load (node:internal/modules/cjs/loader:1091:12)

Node.js v20.20.2
"""
JAVA = (
    'ready\nException in thread "main" java.lang.StackOverflowError\n'
    + "\tat Bot.search(Bot.java:17)\n" * 1_024
)
GO = """ready
panic: runtime error: index out of range [7] with length 0

goroutine 20 [running]:
main.bot.Decide(...)
\t/bots/main.go:20
asara.(*activeMatch).decide(0xc0001)
\t/clients/go/active_match.go:98 +0x4b
created by asara.(*session).start in goroutine 1
\t/clients/go/session.go:98 +0x4b
exit status 2
"""
RUST = """thread 'main' panicked at src/main.rs:4:9:
index out of bounds: the len is 0 but the index is 3
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
PYTHON = """thinking
Traceback (most recent call last):
  File "/bots/bot.py", line 3, in decide
    return best(decision)
           ^^^^^^^^^^^^^^
IndexError: list index out of range
"""
IMPORTED = """Traceback (most recent call last):
  File "/bots/bot.py", line 1, in <module>
    import tools
  File "/bots/tools.py", line 4
    def f(:
          ^
SyntaxError: invalid syntax
"""


@pytest.mark.parametrize(
    ("output", "first", "contains"),
    [
        (NODE, "/bots/bot.js:2", "TypeError: legal is not iterable"),
        (JAVA, 'Exception in thread "main" java.lang.StackOverflowError', "Bot.java:17"),
        (GO, "panic: runtime error: index out of range [7] with length 0", "/bots/main.go:20"),
        (RUST, "thread 'main' panicked at src/main.rs:4:9:", "index out of bounds"),
        (PYTHON, "Traceback (most recent call last):", '  File "/bots/bot.py", line 3, in decide'),
        (IMPORTED, "Traceback (most recent call last):", "SyntaxError: invalid syntax"),
    ],
    ids=["node", "java", "go", "rust", "python", "python-import"],
)
def test_an_error_is_shown_from_its_first_line_in_every_language(
    output: str, first: str, contains: str
) -> None:
    shown = error_lines(clean_lines(output.encode()))
    assert shown[0] == first
    assert any(contains in line for line in shown)
    assert len(shown) <= 15


def test_the_warning_of_a_go_bot_is_shown() -> None:
    line = "2026/11/22 09:03:45 WARN asara: reply rejected match=a decision=3 reason=EMPTY"
    assert error_lines(["thinking", line, "more"]) == [line, "more"]


def test_the_innermost_calls_of_a_stack_are_kept() -> None:
    shown = error_lines(clean_lines(NODE.encode()))
    assert shown[4:] == [
        "    at choose (/bots/bot.js:2:31)",
        "    at decide (/bots/bot.js:9:12)",
        "    at Module._compile (node:internal/modules/cjs/loader:1521:14)",
        "    at Module._extensions..js (node:internal/modules/cjs/loader:1623:10)",
        "    … 2 more lines",
        "Node.js v20.20.2",
    ]


def test_without_an_error_message_the_last_lines_are_shown() -> None:
    lines = [f"line {number}" for number in range(9)]
    assert error_lines(lines) == lines[-5:]
    assert known_error(lines) == []
    assert known_error(["asara: connected", *lines])[0] == "asara: connected"


def test_the_stack_of_a_program_that_waited_explains_nothing_once_it_has_gone_on() -> None:
    stack = [
        "Timeout (0:00:20)!",
        "Thread 0x0 (most recent call first):",
        '  File "bot.py", line 4 in decide',
    ]
    assert known_error(stack)[0] == stack[0]
    ended = "2026/11/22 09:03:45 sidecar: EOF"
    assert known_error([*stack, ended]) == []
    assert error_lines([*stack, ended])[-1] == ended


def test_the_end_of_a_bridged_program_is_shown_below_its_own_message() -> None:
    perl = "Can't locate object method at bot.pl line 7."
    ended = "asara: perl bot.pl: decision 4 of m1: it exited with status 255"
    assert error_lines(["ready", perl, ended]) == ["ready", perl, ended]
    traceback = ["Traceback (most recent call last):", '  File "bot.py", line 1', "KeyError: 'a'"]
    killed = "asara: python bot.py: decision 4 of m1: it was killed by SIGSEGV"
    assert error_lines(["ready", *traceback, killed]) == [*traceback, killed]
    garbage = "asara: perl bot.pl: decision 4 of m1: it answered 'hi': no verb 'hi'"
    assert error_lines(["ready", garbage]) == [garbage]
    assert error_lines([ended]) == [ended]


def test_what_a_terminal_would_obey_is_removed() -> None:
    output = b"\x1b[31mred\x1b[0m\tno\n\x1b]0;title\x07x\x07\n\xe2\x80\xaeright\n\rover\n\xff\n"
    assert clean_lines(output) == ["red no", "x ", " right", "over", "\N{REPLACEMENT CHARACTER}"]


def test_the_message_of_a_client_stays_known_under_a_flood(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "bot.log", 1_000)
    message = ["asara: decision 3 of m1 is still here:", '  File "/bots/bot.py", line 4, in decide']
    log.write(b"no action" + "\n".join([*message, "again\n"]).encode())
    for _ in range(100):
        log.write(b"again\n" * 1_000)
    assert log.error_lines(only_known=True) == message
    log.switch_to(tmp_path / "next.log")
    assert log.error_lines(only_known=True) == []
    log.close()
