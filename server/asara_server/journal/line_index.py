"""The index of a journal: its lines about the run, without the records of matches.

A journal of 100,000 matches has several hundred MiB, and nearly all of them are records. With
the index, a reader need not read them. The index is a cache: whatever reads it checks that the
journal has the row to which the index leads, and reads the rest from the journal. If the index is
deleted or damaged, the whole journal is read.

Each line of the file belongs to a row of the journal: the position of the row's end, the row's
checksum in hexadecimal, and the lines about the run in that row, each after a tab.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from asara_server.atomic_file import PRIVATE, AppendedFile, replace_file
from asara_server.bounded_file import open_ordinary
from asara_server.journal.rows import CHECKSUM_BYTES, RowFollower

_TAIL: Final = 64 << 20
"""Maximum bytes of the index that are searched for its last whole line."""


class IndexWriter:
    """Writes the index of a journal. If that fails, the index ends there, and the run goes on."""

    def __init__(self, path: Path, has: Callable[[bytes], bool]) -> None:
        """`has` tells whether the index has a line, given the line."""
        self._path = path
        self._has = has
        self._file: AppendedFile | None = None
        self._begun: list[bytes] | None = []
        """Its lines for the rows that the journal already has; None once they are written."""

    def read(self, end: int, checksum: bytes, lines: Sequence[bytes]) -> None:
        """Take a row that the journal already has."""
        if self._begun is not None and (line := self._line(end, checksum, lines)):
            self._begun.append(line)

    def append(self, end: int, checksum: bytes, lines: Sequence[bytes]) -> None:
        """Write a row that was added to the journal."""
        begun, self._begun = self._begun, None
        with suppress(OSError):
            if begun is not None:
                replace_file(self._path, b"".join(begun), mode=PRIVATE, durable=False)
                self._file = AppendedFile(self._path)
            if self._file is not None and (line := self._line(end, checksum, lines)):
                self._file.append(line)
            return
        self.close()

    def _line(self, end: int, checksum: bytes, lines: Sequence[bytes]) -> bytes:
        """Return a row's line in the index; empty if the index has none of its lines."""
        kept = [line for line in lines if self._has(line)]
        return b"\t".join((f"{end} {checksum.hex()}".encode(), *kept)) + b"\n" if kept else b""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def index_end(path: Path) -> int:
    """Return the position in the journal to which an index leads; 0 if there is no index."""
    try:
        with open_ordinary(path) as index:
            return _last(index)[1]
    except OSError:
        return 0


class LineFollower:
    """Reads the lines about the run in a journal, including lines that are added later."""

    def __init__(self, journal: Path, index: Path) -> None:
        self._journal = journal
        self._index = index
        self._file = 0, 0
        """Device and inode of the journal that was read."""
        self._indexed = 0, 0
        """Inode of the index that was read, and how far."""
        self._log = RowFollower(journal)

    def is_replaced(self) -> bool:
        """Return True if the journal is another file than the one read before; raises OSError."""
        about = self._journal.stat()
        before, self._file = self._file, (about.st_dev, about.st_ino)
        return before not in {(0, 0), self._file} or about.st_size < self._log.end

    def news(self) -> Iterator[bytes]:
        """Yield the lines about the run that were added; raises OSError and JournalError."""
        with suppress(OSError), open_ordinary(self._index) as index:
            yield from self._from_index(index)
        while frames := self._log.news():
            yield from (data for number, data in frames if not number)

    def _from_index(self, index: BinaryIO) -> Iterator[bytes]:
        """Yield the new lines in the index, if the journal has its last row."""
        last, end, checksum = _last(index)
        with open_ordinary(self._journal) as journal:
            journal.seek(max(end - CHECKSUM_BYTES, 0))
            if end <= self._log.end or journal.read(CHECKSUM_BYTES) != checksum:
                return
        inode = os.fstat(index.fileno()).st_ino
        at = index.seek(self._indexed[1] if self._indexed[0] == inode else 0)
        while at < last:
            line = index.readline()
            at += len(line)
            place, *lines = line.removesuffix(b"\n").split(b"\t")
            try:
                is_new = int(place.split(b" ")[0]) > self._log.end
            except ValueError:
                continue
            if is_new:
                yield from lines
        self._log.end, self._log.checksum = end, checksum
        self._indexed = inode, last


def _last(index: BinaryIO) -> tuple[int, int, bytes]:
    """Return where the last whole line of an index ends, and the end and checksum of its row."""
    size = index.seek(0, os.SEEK_END)
    step = 1 << 12
    while step <= _TAIL:
        start = max(size - step, 0)
        index.seek(start)
        tail = index.read(size - start)
        whole = tail.rfind(b"\n") + 1
        begin = tail.rfind(b"\n", 0, max(whole - 1, 0)) + 1
        if whole and (begin or not start):
            place = tail[begin:whole].partition(b"\t")[0].decode(errors="replace")
            end, _, checksum = place.partition(" ")
            try:
                return start + whole, int(end), bytes.fromhex(checksum)
            except ValueError:
                break
        if not start:
            break
        step *= 8
    return 0, 0, b""
