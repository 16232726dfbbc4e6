"""Reads files of unknown origin: ordinary files only, and never more bytes than expected.

A device such as /dev/zero never ends, a pipe waits for its writer, and a sparse file can be larger
than memory.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final

MIB: Final = 1 << 20


@contextmanager
def open_ordinary(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading; raises OSError, including for a directory, a device or a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except ValueError:  # a zero byte in the path
        raise OSError(errno.EINVAL, "is not a path", str(path)) from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):  # Python opens no directory
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is a device or a pipe, not a file", str(path))
        yield file


@contextmanager
def open_evidence(path: Path, largest: int) -> Iterator[BufferedReader]:
    """Open a regular file of at most `largest` bytes that is not a link; raises OSError.

    A file that proves something is opened like this, because a link could lead to another file
    tomorrow.
    """
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        why = "not a regular file; replace it with a copy of the file"
        raise OSError(errno.EINVAL, why, str(path))
    if about.st_size > largest:
        raise OSError(errno.EFBIG, "larger than any file of this kind", str(path))
    with open_ordinary(path) as file:
        yield file


def read_bounded(path: Path, largest: int) -> bytes:
    """Return the content of a file of at most `largest` bytes; raises OSError if it is larger."""
    with open_ordinary(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"is larger than {largest:,} bytes", str(path))
    return data
