"""The format of a journal: its database, its checksums, and the position file beside it.

The database has the matches that are over, and the log, a file beside it, the others: `running_log`
describes it. The rows of both carry checksums, each of which covers that of the row before, so a
row that was changed, exchanged or lost among others is found.

A lost end could not be found in this way, and SQLite drops the end of a damaged write-ahead log
without an error. Therefore the numbers of the last commit and of the matches that are over are also
written to a small file beside the journal, after each commit: the journal may be ahead of that
file, but never behind it.
"""

import struct
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple, Self

from asara_codec.wire_format import read_varint
from asara_server.bounded_file import read_bounded

APPLICATION: Final = 0x41534152
VERSION: Final = 3
# SQLite keeps the text of the schema, comments included, in the file.
SCHEMA: Final = (
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
    """CREATE TABLE matches (
        ended INTEGER PRIMARY KEY, -- 1 for the match that was over first
        match_id TEXT NOT NULL UNIQUE,
        result TEXT NOT NULL,
        replay BLOB,    -- the whole file, until it is written
        replay_checksum BLOB, -- if it has a replay
        checksum BLOB NOT NULL -- of the row and that of the match over before it
    )""",
)

CHECKSUM_BYTES: Final = 16
GENESIS: Final = bytes(CHECKSUM_BYTES)
"""The checksum before the first row."""


RESTORE: Final = "restore the journal from a backup, or start the run again in another folder"


class JournalError(Exception):
    """The journal cannot be read or written; the text says why, and what to do."""


def log_checksum(before: bytes, frames: bytes) -> bytes:
    """Return the checksum of a row of the log that follows one with the checksum `before`."""
    return blake2b(before + frames, digest_size=CHECKSUM_BYTES).digest()


def ended_checksum(
    before: bytes, match_id: str, result: str, replay_checksum: bytes | None
) -> bytes:
    """Return the checksum of a match that is over after the match with the checksum `before`."""
    parts = before, match_id.encode(), result.encode(), replay_checksum or b""
    joined = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return blake2b(joined, digest_size=CHECKSUM_BYTES).digest()


def replay_checksum(replay: bytes) -> bytes:
    """Return the checksum of the content of a replay file."""
    return blake2b(replay, digest_size=CHECKSUM_BYTES).digest()


def split_frames(frames: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number of the match and the record of each frame; raises ValueError."""
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


# The position


class Position(NamedTuple):
    """Content of the position file."""

    boot: bytes
    """Boot of the system during which commits survive, as `boot_id`."""
    commits: int
    """Number of the last commit to the log."""
    ended: int
    """Number of matches that were over."""
    checksum: bytes
    """Checksum of this commit."""

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the position; None if there is no file. Raises OSError and JournalError."""
        try:
            data = read_bounded(path, _POSITION.size)
        except FileNotFoundError:
            return None
        if not data:  # its writer was killed at the first moment
            return None
        try:
            magic, *fields = _POSITION.unpack(data)
        except struct.error:
            magic, fields = b"", []
        if magic != _MAGIC:
            raise JournalError(
                f"{path}: damaged; restore it from a backup, or delete it to resume from what "
                "the journal holds"
            )
        return cls(*fields)


_MAGIC: Final = b"ASARApos"
_POSITION: Final = struct.Struct(f"<8s16sQQ{CHECKSUM_BYTES}s")


def position_path(journal: Path) -> Path:
    """Return the path of a journal's position file."""
    return journal.with_name(f"{journal.stem}.position")


class PositionFile:
    """The open position file of a journal that is being written."""

    def __init__(self, journal: Path) -> None:
        """Open the file, which is created if it does not exist; raises OSError."""
        self.path = position_path(journal)
        self.path.touch(0o600)
        self._file = self.path.open("r+b", buffering=0)
        self._boot = boot_id()

    def write(self, commits: int, ended: int, checksum: bytes) -> None:
        """Store the position; raises OSError with the path of the file.

        One small write is whole or not done if the process is killed. It costs half a microsecond.
        """
        data = _POSITION.pack(_MAGIC, self._boot, commits, ended, checksum)
        try:
            self._file.seek(0)
            self._file.write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        self._file.close()


def boot_id() -> bytes:
    """Return 16 bytes that identify the system since it was started; zeros if there are none."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return bytes.fromhex(text.replace("-", "").strip())[:16]
    except (OSError, ValueError):  # not Linux
        return bytes(16)
