"""The journal: every input of every match, written to disk before its consequences are sent.

README.md describes the file. Only its owner may read it, because it contains the secrets of running
matches. Only one process can have it open at a time, because opening the journal locks it.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, Self

from asara_codec.wire_format import delimited, varint
from asara_server.atomic_file import PRIVATE, AppendedFile
from asara_server.journal.file_lock import hold, holder
from asara_server.journal.line_index import IndexWriter
from asara_server.journal.rows import (
    MAGIC,
    JournalError,
    RowReader,
    row_bytes,
    row_checksum,
)

__all__ = ["Ended", "Fact", "Journal", "JournalError", "split_line"]

_ABOUT_RUN: Final = b"\x00"
"""Number of the frames that belong to no match."""
_LINE: Final = re.compile(r"(?:(match|result) (\d+)|([a-z_]+)(?= \{)) (.*)", re.DOTALL)


class Ended(NamedTuple):
    """A match that is over."""

    result: str
    """The text with which the match was ended."""
    records: tuple[bytes, ...]
    """All records that the journal has of its replay; empty if the match is not in `wanted`."""


class Fact(NamedTuple):
    """A fact about the run."""

    kind: str
    values: Mapping[str, Any]


class _OpenMatch:
    """A match that began and is not over: its number, and how many of its records are added."""

    __slots__ = ("number", "records")

    def __init__(self, number: int, records: int) -> None:
        self.number = number
        self.records = records


class Journal:
    """An open journal. As a context manager, it commits what was added and then closes the file."""

    def __init__(
        self,
        path: Path,
        wanted: Callable[[str], bool] = lambda name: True,
        index: IndexWriter | None = None,
    ) -> None:
        """Open a journal, creating it if it does not exist; raises JournalError.

        A damaged journal is refused. The file is not changed before the first commit. `ended` keeps
        the records of finished matches only if their names are in `wanted`. Lines about the run are
        also written to the `index`.
        """
        self.path = path
        self._index = index
        self.unfinished: dict[str, tuple[bytes, ...]] = {}
        """Header and inputs of each match that was unfinished when the journal was opened, by match
        name.

        A match is removed when it ends, or when the journal's owner takes it over.
        """
        self.ended: list[Ended] = []
        """The matches that were over when the journal was opened, in the order they ended."""
        self.facts: list[Fact] = []
        """The facts that the journal contained when it was opened."""
        self._failed: str | None = None
        self._open: dict[str, _OpenMatch] = {}
        """The matches that began and are not over, by name."""
        self._added: list[bytes] = []
        self._lines: list[bytes] = []
        """Lines about the run that were added since the last commit."""
        self._begun = False
        """True after the first commit."""
        try:
            with ExitStack() as stack:
                self._held = stack.enter_context(_open_private(path))
                self._lock(self._held.fileno())
                reader = RowReader(self._held, path)
                self._next_number = self._read(reader, wanted)
                self._checksum = reader.checksum
                self.size = reader.end
                """Bytes of all rows, without a last row that was cut short."""
                self._file = AppendedFile(path)
                stack.callback(self._file.close)
                if index is not None:
                    stack.callback(index.close)
                self._stack = stack.pop_all()
        except OSError as error:
            self._fail(error)

    def _lock(self, descriptor: int) -> None:
        """Lock the file until it is closed; raises JournalError if another process holds it."""
        try:
            hold(descriptor)
        except (BlockingIOError, PermissionError):
            raise JournalError(f"{self.path}: {in_use(holder(descriptor) or 0)}") from None

    def _read(self, reader: RowReader, wanted: Callable[[str], bool]) -> int:
        """Read the whole journal; return the number for the next match."""
        numbers: dict[str, int] = {}
        matches: dict[int, tuple[str, list[bytes]]] = {}
        highest = 0
        for row in reader.rows():
            lines: list[bytes] = []
            try:
                for number, data in row:
                    if number:
                        matches[number][1].append(data)
                        continue
                    lines.append(data)
                    kind, match, text = split_line(data)
                    if kind == "match":
                        matches.pop(numbers.get(text, 0), None)
                        matches[match] = text, []
                        numbers[text] = highest = match
                    elif kind != "result":
                        self.facts.append(Fact(kind, json.loads(text)))
                    else:
                        name, records = matches.pop(match, ("", []))
                        self.ended.append(Ended(text, tuple(records) if wanted(name) else ()))
            except KeyError as error:
                raise reader.damaged(f"it lacks the beginning of match {error}") from None
            except ValueError as error:
                raise reader.damaged(str(error)) from None
            if self._index is not None:
                self._index.read(reader.end, reader.checksum, lines)
        for number, (name, records) in matches.items():
            self.unfinished[name] = tuple(records)
            self._open[name] = _OpenMatch(number, len(records))
        return highest + 1

    # Writing

    def begin(self, match_id: str, header: bytes) -> None:
        """Begin a match, which the next commit writes."""
        self._open[match_id] = _OpenMatch(self._next_number, 0)
        self._add_line(f"match {self._next_number} {match_id}")
        self._next_number += 1
        self.add(match_id, header)

    def adopt(self, match_id: str, records: tuple[bytes, ...]) -> None:
        """Take over and commit an unfinished match of another journal; raises JournalError.

        This journal may already contain the first part of the match. If it contains different
        records, nothing is done.
        """
        held = self.unfinished.get(match_id, ())
        if held == records[: len(held)]:
            self._add_rest(match_id, records)
            self.commit()
            self.unfinished[match_id] = records

    def add(self, match_id: str, record: bytes) -> None:
        """Add a record of a match that began, which the next commit writes."""
        opened = self._open[match_id]
        opened.records += 1
        self._added.append(varint(opened.number) + delimited(record))

    def commit(self) -> None:
        """Write everything that was added.

        Raises JournalError if that fails, and on every later call.
        """
        if not self._added:
            return
        self._check()
        frames = b"".join(self._added)
        self._added.clear()
        self._checksum = row_checksum(self._checksum, frames)
        row = row_bytes(frames, self._checksum)
        try:
            if not self._begun:
                os.truncate(self.path, self.size)
                row = row if self.size else MAGIC + row
                self._begun = True
            self._file.append(row)
        except OSError as error:
            self._fail(error)
        self.size += len(row)
        if self._lines and self._index is not None:
            self._index.append(self.size, self._checksum, self._lines)
        self._lines.clear()

    def end(self, match_id: str, result: str, records: Sequence[bytes] = ()) -> None:
        """End a match, and commit everything that was added; raises JournalError.

        `records` are the records of its replay; the journal adds any that it lacks. If somebody
        without this journal played the match again from its start, the match begins anew here.
        """
        if records:
            held = self.unfinished.get(match_id, ())
            if held != tuple(records[: len(held)]):
                del self._open[match_id]
            self._add_rest(match_id, records)
        opened = self._open.pop(match_id, None)
        self.unfinished.pop(match_id, None)
        self._add_line(f"result {opened.number if opened else 0} {result}")
        self.commit()
        self._file.sync_soon()

    def note(self, *facts: Fact) -> None:
        """Record facts about the run, and commit everything added; raises JournalError."""
        for kind, values in facts:
            self._add_line(f"{kind} {json.dumps(values)}")
        self.commit()

    def sha256(self) -> str:
        """Force the file to disk, and return its SHA-256 in hexadecimal; raises OSError."""
        os.fsync(self._file.fileno())
        self._held.seek(0)  # opening and closing the file again would unlock it
        return hashlib.file_digest(self._held, "sha256").hexdigest()

    def _add_rest(self, match_id: str, records: Sequence[bytes]) -> None:
        """Add the records of a match that the journal lacks; begin the match if necessary."""
        if match_id not in self._open:
            self.begin(match_id, records[0])
        for record in records[self._open[match_id].records :]:
            self.add(match_id, record)

    def _add_line(self, text: str) -> None:
        self._lines.append(text.encode())
        self._added.append(_ABOUT_RUN + delimited(self._lines[-1]))

    # Closing and failing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what was added, and close the file; raises JournalError."""
        try:
            if self._failed is None:
                self.commit()
        finally:
            self._stack.close()

    def _check(self) -> None:
        if self._failed is not None:
            raise JournalError(self._failed)
        if self._file.sync_error is not None:
            self._fail(self._file.sync_error)

    def _fail(self, error: OSError) -> NoReturn:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        self._failed = (
            f"{error.filename or self.path}: {_FULL if full else error.strerror or error}"
        )
        raise JournalError(self._failed) from None


def split_line(data: bytes) -> tuple[str, int, str]:
    """Return the kind of a line, the number of its match or 0, and the rest; raises ValueError."""
    found = _LINE.fullmatch(data.decode())
    if found is None:
        raise ValueError("a line about the run that this version cannot read")
    return found[1] or found[3], int(found[2] or 0), found[4]


_FULL: Final = "the disk is full: make room, then continue with --resume"


def in_use(process: int, what: str = "run") -> str:
    """Return the message that a process has a file open; 0 means an unknown process."""
    which = f" (process {process})" if process else ""
    return f"another program has it open{which}: wait until that {what} is over, or stop it"


def _open_private(path: Path) -> BufferedReader:
    """Open an ordinary file, creating it if it does not exist; raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), PRIVATE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is a device or a pipe, not a file", str(path))
    return os.fdopen(descriptor, "rb")
