"""Writes files whole or not at all: no reader ever sees a partly written file.

The data is written to a hidden file next to the target and forced to disk. Only then is the hidden
file renamed to the target. A process that is killed in between leaves the hidden file behind; see
`abandoned_parts`.
"""

import os
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Final

PUBLIC: Final = 0o644
PRIVATE: Final = 0o600
SYNC_S: Final = 1.0
"""Seconds after which `AppendedFile.sync_soon` forces a file to disk."""


def replace_file(path: Path, data: bytes, *, mode: int = PUBLIC, durable: bool = True) -> None:
    """Write a file, replacing any file at `path`. Raises OSError.

    The permissions are `mode` less the umask, regardless of the replaced file's permissions. A file
    that is not `durable` is not forced to disk, so a power failure may leave it empty.
    """
    with _written_part(path, data, mode, durable=durable) as part:
        part.replace(path)


def create_file(path: Path, data: bytes, *, mode: int = PUBLIC) -> None:
    """Write a new file; raises FileExistsError if `path` exists, and OSError for other failures."""
    with _written_part(path, data, mode) as part:
        path.hardlink_to(part)


def abandoned_parts(folder: Path, names: Iterable[str]) -> list[Path]:
    """Return the hidden files left in a folder when writers of these file names were killed.

    Names may be patterns such as `*.asara`. The result includes files that are being written now.
    """
    return [part for name in names for part in folder.glob(f".{name}.*.part")]


@contextmanager
def _written_part(path: Path, data: bytes, mode: int, *, durable: bool = True) -> Iterator[Path]:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with _named_errors(path):
        part.touch(mode, exist_ok=False)
    try:
        with _named_errors(path), part.open("wb", buffering=0) as file:
            _write_whole(file, data)
            if durable:
                os.fsync(file.fileno())
        yield part
    finally:
        part.unlink(missing_ok=True)


class AppendedFile:
    """A file to which lines are appended; each line is written immediately."""

    def __init__(self, path: Path) -> None:
        """Open the file, creating it if it does not exist; raises OSError."""
        self.sync_error: OSError | None = None
        """The error with which the file could not be forced to disk; this is not tried again."""
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._requested = threading.Event()
        self._closed = threading.Event()
        self._syncing: threading.Thread | None = None

    def append(self, data: bytes) -> None:
        """Append the data; raises OSError with the file's name."""
        try:  # without `_named_errors`, which would take longer than the write
            _write_whole(self._file, data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def sync_soon(self) -> None:
        """Have everything written so far forced to disk by a thread, so that nothing waits."""
        if self._syncing is None:
            self._syncing = threading.Thread(target=self._sync, name="disk-sync", daemon=True)
            self._syncing.start()
        self._requested.set()

    def _sync(self) -> None:
        while self._requested.wait() and not self._closed.wait(SYNC_S):
            self._requested.clear()
            if self._closed.is_set():  # this may have been the request of `close`
                return
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                self.sync_error = error
                return

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        """Close the file; a waiting request to force it to disk is dropped."""
        self._closed.set()
        self._requested.set()
        if self._syncing is not None:
            self._syncing.join()
        self._file.close()


def _write_whole(file: FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Add this file's name to OSErrors in the context, because errors of writing do not have it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
