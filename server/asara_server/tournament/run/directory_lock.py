"""The lock on a run directory: one run at a time is played or deleted in it.

The lock is one of the system on the directory itself. It ends with the process that holds it,
however that ends.
"""

import os
from pathlib import Path
from typing import Self

from asara_server.eventlog.file_lock import lock_holder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class DirectoryInUseError(Exception):
    """Another run is being played in the directory; the text names its process."""


class DirectoryLock:
    """A held lock on a directory. `release` it in the end."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path, journal: str) -> Self:
        """Lock a directory, whose runs have a journal of this name.

        Raises DirectoryInUseError, and OSError if there is no such directory.
        """
        if fcntl is None:
            return cls(None)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = False
        except BlockingIOError:
            held = True
        except OSError:  # a file system without such locks; the journal has one of its own
            held = False
        try:
            process = _journal_holder(path / journal)
            if held or process is not None:
                which = f" by process {process}" if process else ""
                raise DirectoryInUseError(
                    f"{path}: a run is being played in it{which}: wait until it is over, stop it, "
                    "or choose another directory"
                )
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _journal_holder(journal: Path) -> int | None:
    """Return the process that has a journal open, 0 if its number is not known, or None."""
    try:
        return lock_holder(journal)
    except OSError:
        return None
