"""The rows of a journal, chained by checksums; README.md describes the file.

A database would take ten times as long for such small commits. The main reason is that its code is
large and not in the processor's caches when it is needed.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from asara_codec.wire_format import read_varint
from asara_server.bounded_file import open_ordinary
from asara_server.user_error import UserError

MAGIC: Final = b"ASARA run log 3\n"
CHECKSUM_BYTES: Final = 16
_LENGTH_BYTES: Final = 4
_SMALLEST_ROW: Final = _LENGTH_BYTES + CHECKSUM_BYTES
_LARGEST_ROW: Final = 256 << 20
"""Upper limit on a row's bytes, above the size of any commit."""
_LARGEST_TORN: Final = 1 << 20
"""Upper limit on the bytes that are left of a row that was cut short."""
_MOST_NEWS: Final = 1 << 20


class JournalError(UserError):
    """Raised when the journal cannot be read or written; the text gives reason and remedy."""

    status = 1


def row_checksum(before: bytes, frames: bytes) -> bytes:
    """Return the checksum of a row, given the checksum `before` of the previous row."""
    return sha256(before + frames).digest()[:CHECKSUM_BYTES]


def row_bytes(frames: bytes, checksum: bytes) -> bytes:
    """Return the row with these frames."""
    return len(frames).to_bytes(_LENGTH_BYTES, "little") + frames + checksum


def split_frames(frames: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each frame; raises ValueError."""
    at = 0
    while at < len(frames):
        try:
            number, at = read_varint(frames, at)
            length, at = read_varint(frames, at)
        except IndexError:
            raise ValueError("the length of a frame is damaged") from None
        if at + length > len(frames):
            raise ValueError("a frame is cut short")
        yield number, frames[at : at + length]
        at += length


class RowReader:
    """Reads an open file up to its last complete row; another process may be appending to it."""

    def __init__(self, file: BinaryIO, path: Path, end: int = 0, checksum: bytes = MAGIC) -> None:
        """`path` is used in errors. Reading starts at `end`, where another reader stopped;
        `checksum` is the checksum of the last row that it read.
        """
        self.end = end
        """Position of the end of the last row that was read, in bytes."""
        self.checksum = checksum
        """Checksum of the last row that was read."""
        self.content = b""
        """The frames of the last row that was read, as bytes."""
        self._row = end
        self._file = file
        self._path = path

    def rows(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the number and the bytes of each frame in a row, row by row.

        Raises OSError, and JournalError if a row is damaged. An incomplete last row is left out.
        """
        read = self._file.read
        size = os.fstat(self._file.fileno()).st_size
        if not self.end:
            magic = read(len(MAGIC))
            if magic != MAGIC:
                if MAGIC.startswith(magic):
                    return
                raise self.damaged("it does not begin as a log in this version's format")
            self.end = len(MAGIC)
        self._file.seek(self.end)
        while self.end < size:
            self._row = self.end
            length = int.from_bytes(read(_LENGTH_BYTES), "little")
            end = self.end + _SMALLEST_ROW + length
            frames = read(length) if end <= size and length <= _LARGEST_ROW else b""
            checksum = row_checksum(self.checksum, frames)
            if end > size or read(CHECKSUM_BYTES) != checksum:
                self._check_torn(size)
                return
            try:
                split = list(split_frames(frames))
            except ValueError as error:
                raise self.damaged(str(error)) from None
            self.end, self.checksum, self.content = end, checksum, frames
            yield split

    def damaged(self, fault: str) -> JournalError:
        """Return the error for the row that was just read, or could not be read."""
        return JournalError(
            f"{self._path}: damaged at byte {self._row:,}: {fault}; restore it from a backup, or "
            "start the run again in another folder"
        )

    def _check_torn(self, size: int) -> None:
        """Raise JournalError unless the rest looks like a row cut short by a full disk or kill."""
        self._file.seek(self.end)
        rest = self._file.read(min(size - self.end, _LARGEST_ROW))
        if not _is_torn(self.checksum, rest):
            raise self.damaged("a row has another checksum")


def _is_torn(before: bytes, rest: bytes) -> bool:
    """Return True if `rest` is zeros, or the first part of a row after the checksum `before`.

    It must not be a whole row with a damaged length, and no whole row may follow it.
    """
    if not rest.strip(b"\0"):  # the system lost power before it had written the row
        return True
    whole = row_checksum(before, rest[_LENGTH_BYTES:-CHECKSUM_BYTES])
    if _row_end(rest, 0) <= len(rest) or rest[-CHECKSUM_BYTES:] == whole:
        return False
    if len(rest) > _LARGEST_TORN:  # the search for a row would take long
        return False
    return not any(_is_row(rest, at) for at in range(_SMALLEST_ROW, len(rest) - _SMALLEST_ROW))


def _is_row(data: bytes, at: int) -> bool:
    """Return True if a valid row begins at a position, after the checksum of another row."""
    end = _row_end(data, at)
    if end > len(data):
        return False
    frames = data[at + _LENGTH_BYTES : end - CHECKSUM_BYTES]
    checksum = row_checksum(data[at - CHECKSUM_BYTES : at], frames)
    return data[end - CHECKSUM_BYTES : end] == checksum


def _row_end(data: bytes, at: int) -> int:
    length = int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
    return at + _SMALLEST_ROW + length


class RowFollower:
    """Follows a log from its beginning, and reads the rows that are added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.end = 0
        """Position of the end of the last row that was read, in bytes."""
        self.checksum = MAGIC
        """Checksum of the last row that was read."""

    def news(self) -> list[tuple[int, bytes]]:
        """Return the frames of the next rows, a few MiB at most; empty if there are no new rows.

        Raises OSError, and JournalError if a row is damaged or the file has been replaced.
        """
        with open_ordinary(self._path) as file:
            reader = RowReader(file, self._path, self.end, self.checksum)
            frames: list[tuple[int, bytes]] = []
            for row in reader.rows():
                frames += row
                if reader.end > self.end + _MOST_NEWS:
                    break
            self.end, self.checksum = reader.end, reader.checksum
        return frames
