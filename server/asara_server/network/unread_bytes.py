"""Detection of bots that send without pause, below the level of requests.

gRPC handles some HTTP/2 frames by itself, such as settings frames. A bot can send these as fast as
gRPC reads them. No request arrives then, and gRPC's threads delay the connections of other bots. So
this module checks, from time to time, how many bytes are waiting at the sockets of this process. An
honest bot has at most one reply waiting. Only a bot that sends without pause is found with many
bytes in check after check.
"""

import array
import contextlib
import os
import socket
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

with contextlib.suppress(ImportError):  # Windows, which has no descriptors of this kind
    import fcntl
    import termios

CHECK_INTERVAL_S: Final = 0.5
UNREAD_BYTES: Final = 16 * 1024
"""Bytes waiting at one connection that count as many; a reply has about 200."""
CHECKS: Final = 4
"""Consecutive checks with many waiting bytes that prove that a bot sends without pause."""


class UnreadBytes:
    """Finds the Unix sockets with a connection that has many unread bytes in every check."""

    def __init__(self) -> None:
        self._checks: Counter[str] = Counter()

    def check(self) -> list[str]:
        """Return the paths at which many bytes were waiting in each of the most recent checks."""
        crowded = crowded_paths()
        self._checks = Counter({path: self._checks[path] + 1 for path in crowded})
        return [path for path, checks in self._checks.items() if checks >= CHECKS]


def crowded_paths() -> set[str]:
    """Return the paths of Unix sockets that have a connection with many unread bytes."""
    found: set[str] = set()
    for descriptor in _descriptors():
        if unread_bytes(descriptor) >= UNREAD_BYTES:
            with _connection(descriptor) as connection:
                if connection is not None:
                    found.add(connection.getsockname())
    return found


def unread_at(path: str) -> int:
    """Return the total number of unread bytes of all connections accepted at a path."""
    found = 0
    for descriptor in _descriptors():
        unread = unread_bytes(descriptor)
        if unread:
            with _connection(descriptor) as connection:
                if connection is not None and connection.getsockname() == path:
                    found += unread
    return found


def unread_from(name: str) -> int:
    """Return the number of unread bytes of the connections that come from a Unix socket.

    `name` is the name of the remote end, as gRPC writes it.
    """
    found = 0
    for descriptor in _descriptors():
        unread = unread_bytes(descriptor)
        if unread:
            with _connection(descriptor) as connection:
                if connection is not None and _peer_name(connection) == name:
                    found += unread
    return found


def _peer_name(connection: socket.socket) -> str:
    try:
        peer = connection.getpeername()
    except OSError:  # it only listens, or has been broken
        return ""
    if isinstance(peer, bytes):
        return f"unix-abstract:{peer[1:].decode(errors='replace')}"
    return f"unix:{peer}"


def break_connections(path: str) -> None:
    """Break all connections accepted at a path.

    gRPC closes a connection only after sending its last frames, and a bot can delay that.
    """
    for descriptor in _descriptors():
        with _connection(descriptor) as connection:
            if connection is not None and connection.getsockname() == path:
                with contextlib.suppress(OSError):  # the listening socket, or already broken
                    connection.shutdown(socket.SHUT_RDWR)


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208


def unread_bytes(descriptor: int) -> int:
    """Return the number of bytes waiting to be read; 0 if unknown."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(descriptor, termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]


@contextlib.contextmanager
def _connection(descriptor: int) -> Iterator[socket.socket | None]:
    """Yield a duplicate descriptor of a Unix socket with a name; None for any other descriptor.

    Other files are not duplicated. Closing any descriptor of a file would release all locks of this
    process on that file, such as the journal's lock.
    """
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            yield None
            return
        duplicate = os.dup(descriptor)
    except OSError:  # closed in the meantime
        yield None
        return
    with socket.socket(fileno=duplicate) as connection:
        named = connection.family == socket.AF_UNIX and connection.getsockname()
        yield connection if named else None


def can_check() -> bool:
    """Return True if the system shows the descriptors of this process, as Linux does."""
    return Path("/proc/self/fd").is_dir()
