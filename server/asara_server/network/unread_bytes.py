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
    return {connection.getsockname() for connection in _connections(UNREAD_BYTES)}


def unread_at(path: str) -> int:
    """Return the total number of unread bytes of all connections accepted at a path."""
    at_path = (each for each in _connections(1) if each.getsockname() == path)
    return sum(unread_bytes(each.fileno()) for each in at_path)


def unread_from(name: str) -> int:
    """Return the number of unread bytes of the connections that come from a Unix socket.

    `name` is the name of the remote end, as gRPC writes it.
    """
    from_name = (each for each in _connections(1) if _peer_name(each) == name)
    return sum(unread_bytes(each.fileno()) for each in from_name)


def break_connections(path: str) -> None:
    """Break all connections accepted at a path.

    gRPC closes a connection only after sending its last frames, and a bot can delay that.
    """
    for connection in _connections(0):
        if connection.getsockname() == path:
            with contextlib.suppress(OSError):  # the listening socket, or already broken
                connection.shutdown(socket.SHUT_RDWR)


def unread_bytes(descriptor: int) -> int:
    """Return the number of bytes waiting to be read; 0 if unknown."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(descriptor, termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]


def _connections(unread: int) -> Iterator[socket.socket]:
    """Yield each of this process's named Unix sockets with this number of unread bytes or more.

    Other files are not opened again. Closing any descriptor of a file would release all locks of
    this process on that file, such as the journal's lock.
    """
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
        try:
            if unread_bytes(descriptor) < unread or not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            duplicate = os.dup(descriptor)
        except OSError:  # closed in the meantime
            continue
        with socket.socket(fileno=duplicate) as connection:
            if connection.family == socket.AF_UNIX and connection.getsockname():
                yield connection


def _peer_name(connection: socket.socket) -> str:
    try:
        peer = connection.getpeername()
    except OSError:  # it only listens, or has been broken
        return ""
    if isinstance(peer, bytes):
        return f"unix-abstract:{peer[1:].decode(errors='replace')}"
    return f"unix:{peer}"


def can_check() -> bool:
    """Return True if the system shows the descriptors of this process, as Linux does."""
    return Path("/proc/self/fd").is_dir()
