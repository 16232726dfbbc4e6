"""The output of bots: its log, the decision at which a bot printed a line, and its last lines.

The log of a bot is limited in size. A bot can write anything to its log, so the runner keeps an
index in its own file, `NAME.decisions` next to `NAME.log`. Each line of the index has a position in
the log, in bytes, and the number of the decision that was last requested when the bytes after this
position were read. The number is 0 before the first decision and after the match. Text written just
before a reply may be read after the next decision was requested, and is then counted for the later
decision.

The last lines tell how a program ended, and what to do about it. Only the organiser sees these
lines: no bot receives the output of another bot. Remedies are for what programs in all languages
report alike: no network, a missing file, or a missing module.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import filterfalse, pairwise, takewhile
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from asara_server.bounded_file import MIB, open_ordinary
from asara_server.logs import logger
from asara_server.text import plain

_LAST_BYTES = 1 << 16
"""Bytes kept of the end of the output."""


class OutputTap(Protocol):
    """Receives a process's output as it arrives, within the log's size limit."""

    def __call__(self, data: bytes, *, last: bool = False) -> None:
        """`last` is True for the final part, which may be empty."""


class OutputLog:
    """A bot's output, with the runner's notes as lines beginning with `#`."""

    def __init__(self, path: Path, limit: int, tap: OutputTap | None = None) -> None:
        """`limit` is the maximum size of each file in bytes."""
        self._limit = limit
        self._tap = tap
        self._last = bytearray()
        self._before = b""  # the end of what was printed before this match
        self._asked: Callable[[], int] | None = None
        self._index: list[tuple[int, int]] = []  # position in the file, decision
        self._open(path)

    def _open(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._too_much = False
        try:
            path.parent.mkdir(exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            self._give_up(error)
            return
        self._left = self._limit - self._file.tell()
        self._cut = self._left < 0

    def _give_up(self, error: OSError) -> None:
        """Stop writing output to this file, for example on a full disk; the match continues."""
        self._cut = True
        self._left = 0
        logger("runner").warning(
            "output of a bot is lost", file=str(self._path), why=error.strerror or str(error)
        )

    def _append(self, data: bytes) -> None:
        if self._file is not None:
            try:
                self._file.write(data)
            except OSError as error:
                self._give_up(error)

    @property
    def path(self) -> Path:
        """The file being written."""
        return self._path

    def switch_to(self, path: Path) -> None:
        """Continue in another file."""
        self.end_match()
        self._close_file()
        self._before = (self._before + self._last)[-_LAST_BYTES:]
        self._last.clear()
        self._open(path)

    def begin_match(self, asked: Callable[[], int]) -> None:
        """From now on, record during which decision the process writes.

        `asked` returns the number of the seat's last requested decision, 0 before the first.
        """
        self._asked = asked
        self._decision = 0

    def end_match(self) -> None:
        """Write the index next to the log: which part was written during which decision."""
        self._asked = None
        if self._index:
            append_index(index_of(self._path), [*self._index, (self._limit - self._left, 0)])
            self._index.clear()

    @property
    def cut(self) -> str:
        """A remark that output was cut because there was too much of it, or ""."""
        return f"(its output was cut at {self._limit:,} bytes)" if self._too_much else ""

    @property
    def full(self) -> bool:
        return self._left <= 0

    def write(self, data: bytes) -> None:
        """Write `data` up to the size limit. `last_lines` covers the remainder as well."""
        if self._asked is not None and (decision := self._asked()) != self._decision:
            self._decision = decision
            if not self._cut:
                self._index.append((self._limit - self._left, decision))
        self._last += data
        if len(self._last) > 2 * _LAST_BYTES:
            del self._last[:-_LAST_BYTES]
        if self._cut or self._file is None:
            return
        self._keep(data[: self._left])
        self._left -= len(data)
        if self._left < 0 and not self._cut:
            self._cut = self._too_much = True
            self._keep(f"\n# cut: only {self._limit:,} bytes are kept\n".encode())

    def _keep(self, data: bytes) -> None:
        self._append(data)
        if self._tap is not None:
            self._tap(data)

    def note(self, text: str) -> None:
        """Write a note with the current time in UTC."""
        if not self._cut:
            line = f"# {datetime.now(UTC):%H:%M:%S} {text}\n".encode()
            self._append(line)
            self._left -= len(line)

    def last_text(self) -> str:
        """Return the end of the output exactly as printed."""
        return self._last.decode(errors="replace")

    def last_lines(self) -> list[str]:
        """Return the last lines printed, safe to show; see the function `last_lines`.

        If nothing was printed in this match, return the last lines of the previous one, after which
        the process may have failed.
        """
        return last_lines(self.lines() or clean_lines(self._before))

    def kit_message(self) -> list[str]:
        """Return the last message of the bot's client in this match, or no lines."""
        return kit_message(self.lines())

    def lines(self) -> list[str]:
        """Return the end of what was printed in this match, indented as printed and safe to show.

        Empty lines are left out, and long lines are cut.
        """
        return clean_lines(bytes(self._last[-_LAST_BYTES:]))

    def close(self) -> None:
        """Close the file; the last output can still be read from memory."""
        self.end_match()
        if self._tap is not None:
            self._tap(b"", last=True)
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def last_printed(path: Path) -> list[str]:
    """Return the last lines in a file, like `last_lines`, without the runner's notes."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2 * _LAST_BYTES))
            data = file.read(2 * _LAST_BYTES)
    except OSError:
        return []
    return last_lines(clean_lines(b"\n".join(one for one in data.split(b"\n") if one[:2] != b"# ")))


# By decision

SUFFIX: Final = ".decisions"
LONGEST_TEXT: Final = 4_000
"""Maximum characters kept of a bot's output during one decision."""
_LONGEST_OF_SEAT: Final = 64_000
"""Maximum characters kept of a bot's output during one match."""
_LARGEST: Final = 4 * MIB
"""Maximum bytes read from a log and from its index."""
_MOST_PLACES: Final = 5_000
"""Maximum lines read from an index; a seat has about 150 decisions in a match."""
_LINE: Final = re.compile(rb"^(\d{1,18}) (\d{1,9})\n", re.MULTILINE)
_NOTE: Final = re.compile(r"# (\d\d:\d\d:\d\d |cut: only )")
"""The prefix of the runner's own lines."""


def index_of(log: Path) -> Path:
    """Return the path of the index of a log."""
    return log.with_suffix(SUFFIX)


def append_index(path: Path, places: Iterable[tuple[int, int]]) -> None:
    """Append log positions with their decisions to the index; does nothing if the disk is full."""
    with suppress(OSError), path.open("ab") as file:
        file.write(b"".join(b"%d %d\n" % place for place in places))


def moved_index(content: bytes, bytes_before: int) -> bytes:
    """Return an index with all positions increased by the size of an earlier log, in bytes."""
    places = ((int(place) + bytes_before, int(number)) for place, number in _LINE.findall(content))
    return b"".join(b"%d %d\n" % place for place in places)


def decision_texts(run: Path, match_id: str, entries: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return what the bots of a match wrote, by seat and decision, shortened and safe to show.

    `match_id` and `entries` are as in the match's replay. Without logs the result is empty.
    """
    texts = {}
    for seat, entry in enumerate(entries):
        log = run / "logs" / match_id / f"{seat}-{entry}.log"
        if log.parent.parent.name != "logs" or log.parent.name != match_id:
            continue  # a forged name that is a path
        left = _LONGEST_OF_SEAT
        for decision, lines in _lines_by_decision(log).items():
            text = "\n".join(lines)[: min(LONGEST_TEXT, left)]
            left -= len(text)
            if text:
                texts[seat, decision] = text
    return texts


def _lines_by_decision(log: Path) -> dict[int, list[str]]:
    index, content = _read(index_of(log)), _read(log)
    places = [(int(place), int(number)) for place, number in _LINE.findall(index)[:_MOST_PLACES]]
    found: dict[int, list[str]] = {}
    for (start, decision), (end, _) in pairwise([*places, (len(content), 0)]):
        if decision and start < end:
            for later in [number for number in found if number > decision]:
                del found[later]  # the match was begun again
            lines = (line for line in clean_lines(content[start:end]) if not _NOTE.match(line))
            found.setdefault(decision, []).extend(lines)
    return found


def _read(path: Path) -> bytes:
    with suppress(OSError), open_ordinary(path) as file:
        return file.read(_LARGEST)
    return b""


# The last lines

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
