"""The format of a journal: its tables, its checksums, and the position file beside it.

Every commit that adds something makes one row of `log`, numbered from 1 without gaps. The checksum
of a row covers that of the row before it, so a row that was changed, exchanged or lost inside the
log is found. Rows that no running match needs are deleted, all but the last of them, whose checksum
the next row continues. Matches that are over are chained in the same way, in their order.

SQLite drops the end of a damaged write-ahead log without an error. Therefore the number of the last
commit is also written to a small file beside the journal, after each commit: the journal may be
ahead of that file, but never behind it.
"""

import os
import struct
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple, Self

from asara_codec.wire_format import read_varint
from asara_server.bounded_file import read_bounded

APPLICATION: Final = 0x41534152
VERSION: Final = 2
# SQLite keeps the text of the schema, comments included, in the file.
SCHEMA: Final = (
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
    """CREATE TABLE matches (
        number INTEGER PRIMARY KEY,
        match_id TEXT NOT NULL UNIQUE,
        header BLOB,    -- record 1 of its replay, while it runs
        tokens TEXT,    -- of its bots by seat, while it runs
        result TEXT,    -- set exactly when it is over
        ended INTEGER,  -- 1 for the match that was over first
        replay BLOB,    -- the whole file, until it is written
        replay_checksum BLOB, -- if it has a replay, once it is over
        checksum BLOB NOT NULL -- of the row; once it is over, also of the match over before it
    )""",
    "CREATE TABLE log (id INTEGER PRIMARY KEY, frames BLOB NOT NULL, checksum BLOB NOT NULL)",
)

_BYTES: Final = 16
GENESIS: Final = bytes(_BYTES)
"""The checksum before the first row, and before the first match that is over."""


class JournalError(Exception):
    """The journal cannot be read or written; the text says why, and what to do."""


def log_checksum(before: bytes, frames: bytes) -> bytes:
    """Return the checksum of a row of `log` that follows a row with the checksum `before`."""
    return blake2b(before + frames, digest_size=_BYTES).digest()


def begun_checksum(number: int, match_id: str, header: bytes, tokens: str) -> bytes:
    """Return the checksum of the row of a running match."""
    return _checksum(b"%d" % number, match_id.encode(), header, tokens.encode())


def ended_checksum(
    before: bytes, number: int, match_id: str, result: str, replay_checksum: bytes | None
) -> bytes:
    """Return the checksum of a match that is over after the match with the checksum `before`."""
    about = b"%d" % number, match_id.encode(), result.encode(), replay_checksum or b""
    return _checksum(before, *about)


def replay_checksum(replay: bytes) -> bytes:
    """Return the checksum of the content of a replay file."""
    return blake2b(replay, digest_size=_BYTES).digest()


def _checksum(*parts: bytes) -> bytes:
    joined = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return blake2b(joined, digest_size=_BYTES).digest()


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
    """Boot of the system during which commits survive, as `boot_id`; DURABLE if they survive it."""
    commits: int
    """Number of the last commit."""
    ended: int
    """Number of matches that were over."""
    checksum: bytes
    """Checksum of the row of the last commit."""

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


DURABLE: Final = b"\xff" * 16
"""In the place of a boot: the commits survive even a loss of power."""
_MAGIC: Final = b"ASARApos"
_POSITION: Final = struct.Struct(f"<8s16sQQ{_BYTES}s")


def position_path(journal: Path) -> Path:
    """Return the path of a journal's position file."""
    return journal.with_name(f"{journal.stem}.position")


class PositionFile:
    """The open position file of a journal that is being written."""

    def __init__(self, journal: Path, *, durable: bool) -> None:
        """Open the file, which is created if it does not exist; raises OSError.

        With `durable`, every commit is on disk before it is stored as the position.
        """
        self.path = position_path(journal)
        self._descriptor = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        self._boot = DURABLE if durable else boot_id()

    def write(self, commits: int, ended: int, checksum: bytes) -> None:
        """Store the position; raises OSError with the path of the file.

        One small write is whole or not done if the process is killed. It costs half a microsecond.
        """
        data = _POSITION.pack(_MAGIC, self._boot, commits, ended, checksum)
        try:
            os.pwrite(self._descriptor, data, 0)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        os.close(self._descriptor)


def boot_id() -> bytes:
    """Return 16 bytes that identify the system since it was started; zeros if there are none."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return bytes.fromhex(text.replace("-", "").strip())[:16]
    except (OSError, ValueError):  # not Linux
        return bytes(16)
