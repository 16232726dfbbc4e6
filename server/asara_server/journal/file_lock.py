"""Locks on open files, and the processes that hold them.

When a process closes a file, it loses its lock, even if it has the file open elsewhere. So it must
not look for the holder of a file that it holds itself, because that opens and closes the file.
"""

import os
import struct
import sys
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK_OFFSET: Final = 1 << 62
"""Position of the locked byte, beyond the end of any file: on Windows, nobody can read it."""


def hold(descriptor: int) -> None:
    """Lock a file exclusively until it is closed; raises OSError if another process holds it."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _LOCK_OFFSET)
    elif sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)


def hold_shared(descriptor: int) -> None:
    """Lock a file together with other processes, until it is closed or `give_up` is called."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, _LOCK_OFFSET)


def give_up(descriptor: int) -> None:
    """Release the lock on a file."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, _LOCK_OFFSET)


def holder(descriptor: int) -> int | None:
    """Return the ID of the other process that holds an open file, or None; see `lock_holder`."""
    if fcntl is None:
        return None
    kind, process = _unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, _pack(fcntl.F_WRLCK)))
    return None if kind == fcntl.F_UNLCK else max(process, 0)


def lock_holder(path: Path) -> int | None:
    """Return the ID of the process that holds a file, or None if no process does.

    The ID is 0 if the process cannot be determined. No lock is taken, except on Windows, because
    even a brief lock could keep out a run that is about to begin. Raises OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # for a pipe
    try:
        if fcntl is None:
            hold(descriptor)
        return holder(descriptor)
    except PermissionError:  # Windows, if the file is held
        return 0
    finally:
        os.close(descriptor)


def known_holder(path: Path) -> int | None:
    """Return the same as `lock_holder`, and None if the file cannot be opened."""
    try:
        return lock_holder(path)
    except OSError:
        return None


# C's `struct flock`, whose fields are ordered differently on every system


def _pack(kind: int) -> bytes:
    if sys.platform == "darwin":
        return struct.pack("qqihh", _LOCK_OFFSET, 1, 0, kind, os.SEEK_SET)
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, _LOCK_OFFSET, 1, 0)


def _unpack(answer: bytes) -> tuple[int, int]:
    """Return the lock's type and the ID of the process that holds it."""
    if sys.platform == "darwin":
        _, _, process, kind, _ = struct.unpack("qqihh", answer)
    else:
        kind, _, _, _, process = struct.unpack("hhqqi0q", answer)
    return kind, process
