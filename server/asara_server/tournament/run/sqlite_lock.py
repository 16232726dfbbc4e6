"""Whether another process has a journal open, found out without a lock of our own."""

import os
import struct
import sys
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FIRST: Final = 0x4000_0000
_BYTES: Final = 512
"""Where SQLite locks a file: behind its first gibibyte, whether or not it is so long."""


def holder(path: Path) -> int | None:
    """The number of the process that has an SQLite file open and keeps others out; None: nobody.

    0 where the number cannot be told from here. It only asks: a lock, even for a moment, could keep
    out a run that is about to begin. Not for the process that has the file open itself, which would
    not see its own lock, and lose it. Raises OSError where the file cannot be read.
    """
    if fcntl is None:
        return 0
    descriptor = os.open(path, os.O_RDONLY)
    try:
        kind, process = _unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, _pack(fcntl.F_WRLCK)))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else max(process, 0)


# C's `struct flock`, whose fields have another order in every system


def _pack(kind: int) -> bytes:
    if sys.platform == "darwin":
        return struct.pack("qqihh", _FIRST, _BYTES, 0, kind, os.SEEK_SET)
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, _FIRST, _BYTES, 0)


def _unpack(answer: bytes) -> tuple[int, int]:
    """Kind of the lock, and the process that has it."""
    if sys.platform == "darwin":
        _, _, process, kind, _ = struct.unpack("qqihh", answer)
    else:
        kind, _, _, _, process = struct.unpack("hhqqi0q", answer)
    return kind, process
