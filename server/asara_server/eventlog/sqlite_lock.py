"""Finds the process that has an SQLite file open, without locking the file."""

import os
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK_OFFSET: Final = 0x4000_0000
_LOCK_BYTES: Final = 512
"""Range that SQLite locks: after the first GiB of a file, even if the file is shorter."""


def hold_shared(descriptor: int) -> None:
    """Hold a file as those do that have an SQLite file open, until it is closed or given up."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, _LOCK_BYTES, _LOCK_OFFSET)


def give_up(descriptor: int) -> None:
    """Hold a file no more."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, _LOCK_BYTES, _LOCK_OFFSET)


def holder(descriptor: int) -> int | None:
    """Return the number of another process that holds an open file, or None; see `lock_holder`."""
    if fcntl is None:
        return None
    kind, process = _unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, _pack(fcntl.F_WRLCK)))
    return None if kind == fcntl.F_UNLCK else max(process, 0)


def lock_holder(path: Path) -> int | None:
    """Return the number of the process that has an SQLite file locked, or None if there is none.

    The number is 0 if the process cannot be determined. No lock is taken: even a short one could
    keep out a run that is about to begin. A process must not call this for a file that it has open
    itself: it would not see its own lock, and would lose it. Raises OSError.
    """
    if fcntl is None:
        return _refused(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for its writer
    try:
        return holder(descriptor)
    finally:
        os.close(descriptor)


def _refused(path: Path) -> int | None:
    """Return 0 if SQLite may not read a file, else None; it locks the file for that moment."""
    path.stat()
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", 0, uri=True)) as file:
        try:
            file.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.OperationalError:
            return 0
        except sqlite3.DatabaseError:  # it is no such file
            return None
    return None


# C's `struct flock`, whose fields are ordered differently on every system


def _pack(kind: int) -> bytes:
    if sys.platform == "darwin":
        return struct.pack("qqihh", _LOCK_OFFSET, _LOCK_BYTES, 0, kind, os.SEEK_SET)
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, _LOCK_OFFSET, _LOCK_BYTES, 0)


def _unpack(answer: bytes) -> tuple[int, int]:
    """Return the kind of the lock and the process that holds it."""
    if sys.platform == "darwin":
        _, _, process, kind, _ = struct.unpack("qqihh", answer)
    else:
        kind, _, _, _, process = struct.unpack("hhqqi0q", answer)
    return kind, process
