"""Finds the part of a program's output that explains how the program ended.

The lines found here may follow a sentence about the end of a process (`match_result.with_output`).
Only the organiser sees these lines: no bot receives the output of another bot.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from asara_server.text import plain
from asara_server.tournament.bots.output.tracebacks import frames, last_own

LAST_LINES = 5
"""Number of lines shown of an output without a known error message."""

_MOST_LINES = 14
_STACK_LINES = 4
_LONGEST_LINE = 200
_LONGEST_MESSAGE = 4_096  # bytes
_LONGEST_CLIENT_LINE = 600
"""Maximum characters of a client's own line, which reports a file and a remedy."""
_CLIENT = re.compile(r"(\S+ \S+ )?((WARN|ERROR) )?asara: \S")
"""The prefix of a client's own line; Go's log/slog writes time and level before it."""

WAITED = "Timeout ("
"""First line of a stack that Python bots on slow machines print even while only waiting."""
_ESCAPE_SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\))")

_FIRST_LINE = re.compile(
    r"""
      asara:\ \S                                    # the clients' own messages
    | (\S+\ \S+\ )?(WARN|ERROR)\ asara:\ \S        # Go, by log/slog
    | .*Traceback\ \(most\ recent\ call\ last\):    # Python, also behind a prompt
    | \s*File\ ".*",\ line\ \d+$                    # Python, a syntax error
    | Timeout\ \(\d+:\d+:\d+                        # Python, faulthandler
    | Fatal\ Python\ error:
    | (file://)?/.*\.[cm]?[jt]s:\d+$                # Node
    | node:internal/\S+:\d+$                        # Node, a missing module
    | Exception\ in\ thread\ "                      # Java
    | (panic|fatal\ error):\                        # Go
    | thread\ '.*'.*\ panicked\ at\                 # Rust
    | terminate\ called                             # C++
    """,
    re.VERBOSE,
)
_PYTHON_STACK = re.compile(r'Timeout \(|(Current t|T)hread 0x|\s+(File "|\.\.\.)')
_PYTHON = re.compile(r'Traceback|\s*File "|Timeout \(|Fatal Python|asara: ')
_INNERMOST_LAST = re.compile(r".*Traceback \(most recent call last\):|asara: ")
_PROGRAM_ENDED = re.compile(r"asara: .*: it (exited with status|was killed by) ")
"""The line of `asara bridge` after a program has ended; the program's messages precede it."""
_FRAME = re.compile(r"\s+at |\s+\.\.\. \d+ more$|\s+/[^:]+:\d+|[\w./*()-]+\(.*\)$|created by ")
"""Matches a line of a stack in Java, Node and Go; the innermost call comes first."""


def clean_lines(output: bytes) -> list[str]:
    """Return the non-blank lines, indentation kept, safe to show on a terminal."""
    lines = map(clean_line, output.decode(errors="replace").splitlines())
    return [line for line in lines if line.strip()]


def clean_line(line: str) -> str:
    """Return a line without escape sequences and other control characters."""
    text = _ESCAPE_SEQUENCE.sub("", line).expandtabs(4).rstrip()
    shown = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    of_client = _CLIENT.match(shown) is not None
    return plain(shown, longest=_LONGEST_CLIENT_LINE if of_client else _LONGEST_LINE)


def error_lines(lines: Sequence[str]) -> list[str]:
    """Return the last error message, its stack shortened in the middle, or else the last lines."""
    message = known_error(lines)
    return message or list(lines[-LAST_LINES:])


def known_error(lines: Sequence[str]) -> list[str]:
    """Return the last error message of a known kind, or no lines."""
    starts = [
        number
        for number, line in enumerate(lines)
        if _FIRST_LINE.match(line) and not (line.startswith(WAITED) and _went_on(lines[number:]))
    ]
    if not starts:
        return []
    start = starts[-1]
    if start and _PROGRAM_ENDED.match(lines[start]):
        return [*error_lines(lines[:start]), *lines[start:]]
    if lines[start].lstrip().startswith('File "'):  # a syntax error in an imported module
        while start and not lines[start].startswith("Traceback") and lines[start][:1] == " ":
            start -= 1
        start = start if lines[start].startswith("Traceback") else starts[-1]
    message = lines[start:]
    if message[0].startswith(("Fatal Python", WAITED)):
        return _own_calls(message)
    if _INNERMOST_LAST.match(message[0]):
        return _shortened_traceback(message)
    if _PYTHON.search(message[0]):
        return _shortened(message, first=1, last=_MOST_LINES - 2)
    return _shortened(_without_inner_frames(message), first=_MOST_LINES - 2, last=1)


def _went_on(lines: Sequence[str]) -> bool:
    """Return True if other output follows a stack that was printed after a long wait."""
    return not all(map(_PYTHON_STACK.match, lines))


def _own_calls(lines: Sequence[str]) -> list[str]:
    """Return the author's calls and the crashed call from a message of `faulthandler`."""
    current = next((n for n, line in enumerate(lines) if line.startswith("Current thread")), 0)
    calls = frames(lines[current:])
    crashed = calls[0] if calls and not lines[0].startswith(WAITED) else None
    shown = [call for call in calls if call is crashed or call.own][:_STACK_LINES]
    return [lines[0], *(lines[current + call.start] for call in shown)]


def clients_message(output: bytearray) -> bytes:
    """Return the last message that a client printed, with its stack, or no lines."""
    place = output.rfind(b"asara: ")
    if place < 0:
        return b""
    message = bytes(output[place : place + _LONGEST_MESSAGE])
    first, *lines = message.splitlines(keepends=True)
    return b"".join([first, *takewhile(lambda line: line[:1] == b" ", lines)])


def exception_in(lines: Sequence[str]) -> list[str]:
    """Return the last exception that a program itself printed, with its stack, or no lines.

    Unlike `known_error`, it leaves out clients' messages and whatever follows the exception.
    """
    starts = [
        number
        for number, line in enumerate(lines)
        if _FIRST_LINE.match(line) and not _CLIENT.match(line) and not line.startswith(WAITED)
    ]
    if not starts:
        return []
    end = starts[-1] + 1
    while end < len(lines) and (lines[end][0].isspace() or _FRAME.match(lines[end])):
        end += 1
    error_last = _PYTHON.search(lines[starts[-1]]) is not None
    return known_error(lines[starts[-1] : end + error_last])


def _without_inner_frames(lines: Iterable[str]) -> list[str]:
    """Keep the first lines of every stack: the innermost calls."""
    kept: list[str] = []
    run = 0
    for line in lines:
        if run > _STACK_LINES and not _FRAME.match(line):
            kept.append(f"    … {run - _STACK_LINES} more lines")
        run = run + 1 if _FRAME.match(line) else 0
        if run <= _STACK_LINES:
            kept.append(line)
    return [*kept, f"    … {run - _STACK_LINES} more lines"] if run > _STACK_LINES else kept


def _shortened_traceback(lines: Sequence[str]) -> list[str]:
    """Keep the last calls, and the author's call that led to them if they are in a library."""
    if len(lines) <= _MOST_LINES:
        return list(lines)
    calls = frames(lines)
    own = last_own(calls)
    if own is None or own.start >= len(lines) - (_MOST_LINES - 2):
        return _shortened(lines, first=1, last=_MOST_LINES - 2)
    own_lines = lines[own.start : own.end]
    earliest = len(lines) - (_MOST_LINES - 3 - len(own_lines))
    start = min((call.start for call in calls if call.start >= earliest), default=earliest)
    return [
        lines[0],
        *_left_out(own.start - 1),
        *own_lines,
        *_left_out(start - own.end),
        *lines[start:],
    ]


def _left_out(number: int) -> list[str]:
    return [f"  … {number} more line{'s' * (number > 1)}"] if number else []


def _shortened(lines: Sequence[str], first: int, last: int) -> list[str]:
    if len(lines) <= first + last + 1:
        return list(lines)
    return [*lines[:first], f"  … {len(lines) - first - last} more lines", *lines[-last:]]
