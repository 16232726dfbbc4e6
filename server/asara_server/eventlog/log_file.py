"""The file of a journal: rows that are only ever appended, in a chain of checksums.

A row is what one commit wrote: the number of bytes of its frames (four bytes, little-endian), the
frames, and a checksum, which covers the frames and the checksum of the row before. The first 16
bytes of the file identify the format and stand for the checksum before the first row. A frame is
a number (varint), and bytes preceded by their length (varint); `journal` says what they mean.

A database would take ten times as long for such small commits, mostly because its code is large and
not in the processor's caches when it is needed.
"""

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from asara_codec.wire_format import read_varint

MAGIC: Final = b"ASARA run log 1\n"
_CHECKSUM_BYTES: Final = 16
_LENGTH_BYTES: Final = 4
_SMALLEST_ROW: Final = _LENGTH_BYTES + _CHECKSUM_BYTES
_LARGEST_ROW: Final = 256 << 20
"""More bytes than any commit writes."""


class JournalError(Exception):
    """The journal cannot be read or written; the text says why, and what to do."""


def row_checksum(before: bytes, frames: bytes) -> bytes:
    """Return the checksum of a row that follows one with the checksum `before`."""
    return blake2b(before + frames, digest_size=_CHECKSUM_BYTES).digest()


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


class LogReader:
    """Reads an open file from its beginning to its last whole row."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        """`path` names the file in errors."""
        self.end = 0
        """Number of bytes up to the end of the last row that was read."""
        self.checksum = MAGIC
        """Checksum of that row."""
        self._file = file
        self._path = path

    def rows(self) -> Iterator[bytes]:
        """Yield the frames of each row.

        Raises OSError, and JournalError if a row is damaged. A last row that was never written to
        its end is left out.
        """
        read = self._file.read
        size = os.fstat(self._file.fileno()).st_size
        magic = read(len(MAGIC))
        if magic != MAGIC:
            if MAGIC.startswith(magic):
                return
            raise self.damaged("it does not begin as the log of a run, in this version's format")
        self.end = len(MAGIC)
        while self.end < size:
            length = int.from_bytes(read(_LENGTH_BYTES), "little")
            end = self.end + _SMALLEST_ROW + length
            frames = read(length) if end <= size else b""
            checksum = row_checksum(self.checksum, frames)
            if end > size or read(_CHECKSUM_BYTES) != checksum:
                self._check_torn(size)
                return
            self.checksum = checksum
            yield frames
            self.end = end

    def damaged(self, fault: str) -> JournalError:
        """Return the error about the row after the last one that was read."""
        return JournalError(
            f"{self._path}: damaged at byte {self.end:,}: {fault}; restore it from a backup, or "
            "start the run again in another folder"
        )

    def _check_torn(self, size: int) -> None:
        """Raise JournalError unless what follows is what a full disk or a kill leaves of a row."""
        self._file.seek(self.end)
        rest = self._file.read(min(size - self.end, _LARGEST_ROW))
        if not _is_torn(self.checksum, rest):
            raise self.damaged("a row has another checksum")


def _is_torn(before: bytes, rest: bytes) -> bool:
    """Return True for the first part of a row that follows the checksum `before`, or zeros.

    No part of a row is whole, even with another length, and no row follows it.
    """
    if not rest.strip(b"\0"):  # the system lost power before it had written the row
        return True
    whole = row_checksum(before, rest[_LENGTH_BYTES:-_CHECKSUM_BYTES])
    if _row_end(rest, 0) <= len(rest) or rest[-_CHECKSUM_BYTES:] == whole:
        return False
    return not any(_is_row(rest, at) for at in range(_SMALLEST_ROW, len(rest) - _SMALLEST_ROW))


def _is_row(data: bytes, at: int) -> bool:
    """Return True if a sound row begins at a position, behind the checksum of another."""
    end = _row_end(data, at)
    if end > len(data):
        return False
    frames = data[at + _LENGTH_BYTES : end - _CHECKSUM_BYTES]
    checksum = row_checksum(data[at - _CHECKSUM_BYTES : at], frames)
    return data[end - _CHECKSUM_BYTES : end] == checksum


def _row_end(data: bytes, at: int) -> int:
    length = int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
    return at + _SMALLEST_ROW + length
