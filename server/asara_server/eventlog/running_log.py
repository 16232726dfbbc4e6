"""The log of a journal: what was committed of the matches that run, in a file that only grows.

Every commit appends one row, with one write: its frames, preceded by their length (varint) and
followed by a checksum, which covers that of the row before. So a row that was changed, exchanged or
lost inside the log is found. A frame is the number of a match (varint) and a record preceded by its
length; a frame of number 0 begins a match. The file begins with the number and the checksum of the
commit before its first row. It is written anew, without the matches that are over, when it is
opened and whenever it has grown to several times that size.

A database would take ten times as long for such small commits, mostly because its code is large and
not in the processor's caches when it is needed.
"""

import json
from collections.abc import Container, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from asara_codec.wire_format import delimited, read_varint, varint
from asara_server.atomic_file import PRIVATE, AppendedFile, replace_file
from asara_server.bounded_file import read_bounded
from asara_server.eventlog.journal_format import (
    CHECKSUM_BYTES,
    GENESIS,
    RESTORE,
    JournalError,
    log_checksum,
    split_frames,
)

_LARGEST: Final = 1 << 30
"""Bytes of the largest log; that of a thousand running matches has some 32 MiB."""
_MAGIC: Final = b"ASARAlog"
_HEADER_BYTES: Final = 16 + 2 * CHECKSUM_BYTES
_BEGIN: Final = 0
_SMALLEST_REWRITTEN: Final = 4 << 20
_GROWTH: Final = 4
"""The log is written anew once it is so many times as large as then, and not below 4 MiB."""


class OpenMatch(NamedTuple):
    """A match that began and is not over."""

    match_id: str
    header: bytes
    """First record of its replay."""
    tokens: tuple[str, ...]
    """Tokens of its bots, by seat."""
    records: tuple[bytes, ...]
    """The records that follow, in order."""


class LogContent:
    """What a log holds up to its first damaged row, and so all of it if it is sound."""

    def __init__(self, data: bytes) -> None:
        """`data` is the content of the file; raises ValueError if that is no log."""
        self.commits = 0
        """Number of the last commit."""
        self.checksums: dict[int, bytes] = {0: GENESIS}
        """Checksums of the commits, by number."""
        self._matches: dict[int, tuple[str, bytes, tuple[str, ...]]] = {}
        self._records: dict[int, list[bytes]] = {}
        if data:
            self.commits, checksum = _read_header(data[:_HEADER_BYTES])
            self.checksums = {self.commits: checksum}
            self._read_rows(data, checksum)

    def _read_rows(self, data: bytes, checksum: bytes) -> None:
        at = _HEADER_BYTES
        while at < len(data):
            try:
                length, begin = read_varint(data, at)
            except (IndexError, ValueError):
                return
            frames = data[begin : begin + length]
            at = begin + length + CHECKSUM_BYTES
            checksum = log_checksum(checksum, frames)
            if data[begin + length : at] != checksum:
                return
            self.commits += 1
            self.checksums[self.commits] = checksum
            self._read_frames(frames)

    def _read_frames(self, frames: bytes) -> None:
        for number, record in split_frames(frames):
            if number == _BEGIN:
                length, at = read_varint(record, 0)
                began, match_id, *tokens = json.loads(record[at : at + length])
                self._matches[began] = match_id, record[at + length :], tuple(tokens)
                self._records[began] = []
            elif number in self._records:
                self._records[number].append(record)
            else:
                raise ValueError(f"it lacks the beginning of match {number}")

    def matches(self, over: Container[str]) -> dict[int, OpenMatch]:
        """Return the matches that began, by number, except those whose names are in `over`."""
        return {
            number: OpenMatch(match_id, header, tokens, tuple(self._records[number]))
            for number, (match_id, header, tokens) in self._matches.items()
            if match_id not in over
        }


def read_log(path: Path) -> LogContent:
    """Read a log; a file that does not exist holds nothing. Raises OSError and JournalError."""
    try:
        data = read_bounded(path, _LARGEST)
    except FileNotFoundError:
        data = b""
    try:
        return LogContent(data)
    except (ValueError, TypeError, IndexError) as error:
        raise JournalError(f"{path}: damaged: {error}; {RESTORE}") from None


def log_path(journal: Path) -> Path:
    """Return the path of a journal's log."""
    return journal.with_name(f"{journal.stem}.running")


class RunningLog:
    """An open log, which is being written."""

    def __init__(self, path: Path, over: Container[str]) -> None:
        """Open the log, which is created if it does not exist, and drop what is damaged at its end.

        The matches whose names are in `over` are over. Raises OSError and JournalError.
        """
        content = read_log(path)
        self.commits = content.commits
        """Number of the last commit."""
        self.checksum = content.checksums[self.commits]
        self.open_matches = content.matches(over)
        """The matches that had begun when the log was opened, by number."""
        self._path = path
        self._file = AppendedFile(path)
        self._size = 0
        self._rewritten_at = 0
        self._next_number = 1 + max(self.open_matches, default=0)
        # All frames of the matches that run, by number, and those added since the last commit.
        self._matches: dict[int, list[bytes]] = {
            number: [_begin_frame(number, match), *(_frame(number, one) for one in match.records)]
            for number, match in self.open_matches.items()
        }
        self._added: list[bytes] = []
        self._rewrite()

    @property
    def pending(self) -> bool:
        """True if anything was added since the last commit."""
        return bool(self._added)

    def begin(self, match_id: str, header: bytes, tokens: Sequence[str]) -> int:
        """Begin a match; return the number under which its records are added."""
        number = self._next_number
        self._next_number += 1
        frame = _begin_frame(number, OpenMatch(match_id, header, tuple(tokens), ()))
        self._matches[number] = [frame]
        self._added.append(frame)
        return number

    def add(self, number: int, record: bytes) -> None:
        """Add a record of a match, which the next commit writes."""
        frame = _frame(number, record)
        self._matches[number].append(frame)
        self._added.append(frame)

    def commit(self) -> None:
        """Write what was added; raises OSError with the path of the file."""
        self._append(b"".join(self._added))
        self._added.clear()

    def drop(self, number: int) -> None:
        """Drop a match that is over, once everything was committed; raises OSError."""
        self._matches.pop(number, None)
        if self._size > self._rewritten_at:
            self._rewrite()

    def close(self) -> None:
        self._file.close()

    def _append(self, frames: bytes) -> None:
        self.checksum = log_checksum(self.checksum, frames)
        self.commits += 1
        row = delimited(frames) + self.checksum
        self._file.append(row)
        self._size += len(row)

    def _rewrite(self) -> None:
        """Write the file anew, with nothing but the matches that run, as one commit."""
        frames = b"".join(chain.from_iterable(self._matches.values()))
        data = _header(self.commits, self.checksum)
        if frames:
            self.checksum = log_checksum(self.checksum, frames)
            self.commits += 1
            data += delimited(frames) + self.checksum
        self._file.close()
        replace_file(self._path, data, mode=PRIVATE)
        self._file = AppendedFile(self._path)
        self._size = len(data)
        self._rewritten_at = max(_SMALLEST_REWRITTEN, _GROWTH * self._size)


def _header(commits: int, checksum: bytes) -> bytes:
    about = _MAGIC + commits.to_bytes(8, "little")
    return about + checksum + log_checksum(checksum, about)


def _read_header(data: bytes) -> tuple[int, bytes]:
    """Return number and checksum of the commit before the first row; raises ValueError."""
    about, checksum = data[:16], data[16 : 16 + CHECKSUM_BYTES]
    commits = int.from_bytes(about[8:], "little")
    if data != _header(commits, checksum):
        raise ValueError("it does not begin like a log")
    return commits, checksum


def _frame(number: int, record: bytes) -> bytes:
    return varint(number) + delimited(record)


def _begin_frame(number: int, match: OpenMatch) -> bytes:
    about = json.dumps([number, match.match_id, *match.tokens]).encode()
    return _frame(_BEGIN, delimited(about) + match.header)
