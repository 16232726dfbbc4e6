"""Plain connections, as somebody opens them who does not speak gRPC."""

import asyncio
import socket
from pathlib import Path


async def connect_idle(target: int | str, *, source: str = "127.0.0.1") -> socket.socket:
    """Connect to a port of this machine, or to `unix:/path`, without sending anything."""
    loop = asyncio.get_running_loop()
    if isinstance(target, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        await loop.sock_connect(connection, target.removeprefix("unix:"))
    else:
        connection = socket.socket()
        connection.setblocking(False)
        connection.bind((source, 0))
        try:
            await loop.sock_connect(connection, ("127.0.0.1", target))
        except BaseException:  # the attacker is cancelled
            connection.close()
            raise
    return connection


def is_open(connection: socket.socket) -> bool:
    """True unless the other side has closed the connection; reads what it has sent."""
    try:
        while connection.recv(4096):
            pass
    except BlockingIOError:
        return True
    except ConnectionResetError:
        pass
    return False


def open_files() -> int:
    """Return the number of files that this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
