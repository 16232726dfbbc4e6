"""Finds the lines of a program's output that tell how the program ended, and what to do about it.

Only the organiser sees these lines: no bot receives the output of another bot. Remedies are for
what programs in all languages report alike: no network, a missing file, or a missing module.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import filterfalse, takewhile

from asara_server.text import plain

LAST_LINES = 5
"""Number of lines shown of a program's output."""

SEARCHED_LINES = 40
"""Number of last lines in which the author's own line and a remedy are looked for."""

_LONGEST_LINE = 200
_LONGEST_KIT_LINE = 600
"""Maximum characters of a client's own line, which reports a file and a remedy."""
_KIT_LINE = re.compile(r"(\S+ \S+ )?((WARN|ERROR) )?asara: \S")
"""The prefix of a client's own line; Go's log/slog writes time and level before it."""
_ESCAPE_SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\))")

_PYTHON_FRAME = re.compile(r'[\s|]*File ".+", line \d+')
_LIBRARY = re.compile(
    r'File "(<|.*/lib(64)?/python\d|.*/(site|dist)-packages/|.*/clients/python/asara/)'
)
_DUMPED = re.compile(r'\s+File "(.+)", line (\d+) in (.+)')
"""A line of Python's `faulthandler`, which ends with the outermost calls."""

_STACKS = re.compile(
    r'^Timeout \(([\d:]+).*(?:\n(?:(?:Current t|T)hread 0x|  File "|  \.\.\.).*)+', re.MULTILINE
)
"""All threads, the main thread last, as `faulthandler` prints them for a timer of the client."""


_NETWORK = re.compile(
    r"name resolution|Name or service not known|resolve host|Unknown ?[Hh]ost|dial tcp|unreachable"
    r"|Connection refused|Address family not supported"
    r"|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENOTCACHED|offline mode"
)
_MODULE = re.compile(r"(?:No module named|Cannot find (?:module|package)) '([^']+)'")
_FILE = re.compile(r"no such file|ENOENT|NoSuchFile|FileNotFound", re.IGNORECASE)

NOT_RUN = "the program has to call the client's run function, which connects"
NO_NETWORK = "the sandbox has no network: put what it needs from there into its folder beforehand"
_FILE_HIDDEN = (
    "in the sandbox, a bot sees its own folder alone; for another file, pass --readable FILE (in a "
    "tournament file: readable)"
)


def clean_lines(output: bytes) -> list[str]:
    """Return the non-blank lines, indentation kept, safe to show on a terminal.

    If a timer of the Python client ran out, a sentence with the author's line replaces the stacks.
    """
    lines = map(clean_line, output.decode(errors="replace").splitlines())
    return _STACKS.sub(_still_here, "\n".join(line for line in lines if line.strip())).splitlines()


def _still_here(stacks: re.Match[str]) -> str:
    for thread in reversed(stacks[0].split("hread 0x")):
        for call in _DUMPED.finditer(thread):
            if not _LIBRARY.search(call[0]):
                place = f"{call[1]}, line {call[2]}, in {call[3]}"
                return f"asara: {place}: the program was still here after {stacks[1]}"
    return stacks[0]


def clean_line(line: str) -> str:
    """Return a line without escape sequences and other control characters."""
    text = _ESCAPE_SEQUENCE.sub("", line).expandtabs(4).rstrip()
    shown = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return plain(shown, longest=_LONGEST_KIT_LINE if _KIT_LINE.match(shown) else _LONGEST_LINE)


def last_lines(lines: Sequence[str]) -> list[str]:
    """Return the last lines, preceded by the author's own line of a Python traceback.

    They begin with a whole call of the traceback, after the heading if a client wrote it. Calls in
    Python's libraries that follow the author's after a crash of native code are left out.
    """
    lines = [line for line in lines if not (_DUMPED.match(line) and _LIBRARY.search(line))]
    start = _call_start(lines, max(0, len(lines) - LAST_LINES))
    last = lines[start:]
    above = (_heading(lines[:start], last), _own_line(lines[-SEARCHED_LINES:]))
    before = [line for line in above if line and line not in last]
    return [*before, "  …", *last] if before else last


def kit_message(lines: Sequence[str]) -> list[str]:
    """Return the last message of a client library, shortened like `last_lines`, or []."""
    starts = [number for number, line in enumerate(lines) if _KIT_LINE.match(line)]
    if not starts:
        return []
    first, *rest = lines[starts[-1] :]
    return last_lines([first, *takewhile(_is_indented, rest)])


def _is_indented(line: str) -> bool:
    return line.startswith(" ")


def _call_start(lines: Sequence[str], start: int) -> int:
    """Return where the next call of a traceback begins if `start` is within the lines of one."""
    calls = {number for number, line in enumerate(lines) if _PYTHON_FRAME.match(line)}
    call = max((number for number in calls if number <= start), default=None)
    if call is None or not all(map(_is_indented, lines[call : start + 1])):
        return start
    rest = range(start, len(lines))
    return next((one for one in rest if one in calls or not _is_indented(lines[one])), start)


def _heading(lines: Sequence[str], last: Sequence[str]) -> str:
    """Return the client's line above the indented lines that continue in `last`, or ""."""
    if not last or not _is_indented(last[0]):
        return ""
    line = next(filterfalse(_is_indented, reversed(lines)), "")
    return line if _KIT_LINE.match(line) else ""


def _own_line(lines: Sequence[str]) -> str:
    """Return the last line of a Python traceback that is not of a library, or ""."""
    own = [line for line in lines if _PYTHON_FRAME.match(line) and not _LIBRARY.search(line)]
    return own[-1] if own else ""


def remedy(lines: Sequence[str], *, contained: bool) -> str:
    """Return a remedy for the last lines that a failed bot printed; "" if none is known.

    `contained` is True for a bot in the sandbox. The clients' own messages are left out, because
    they explain themselves.
    """
    lines = [line for line in lines[-SEARCHED_LINES:] if "asara: " not in line]
    if contained and wants_network(lines):
        return NO_NETWORK
    if missing := missing_module(lines):
        return (
            f"the module {missing} is missing: put it into the bot's folder if it is a file of "
            "yours; if it is a package, install it for the program that runs the bot"
        )
    if contained and any(map(_FILE.search, lines)):
        return _FILE_HIDDEN
    return ""


def wants_network(printed: Iterable[str]) -> bool:
    """Return True if a program seems to have failed because it had no network."""
    return any(map(_NETWORK.search, printed))


def missing_module(printed: Iterable[str]) -> str:
    """Return the last module that Python or Node.js did not find, or ""."""
    found = [module[1] for module in map(_MODULE.search, printed) if module]
    return found[-1] if found else ""
