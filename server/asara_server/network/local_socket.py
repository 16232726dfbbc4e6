"""Sockets between programs of one user, at a path.

Where there are no Unix sockets, the path is a file with a port of the loopback interface and a
secret, which whoever connects sends first.
"""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from asara_server import system
from asara_server.atomic_file import PRIVATE, replace_file
from asara_server.bounded_file import read_bounded

_HOST: Final = "127.0.0.1"
_SECRET_BYTES: Final = 32
_LARGEST: Final = 128
_ANSWER_S: Final = 2.0

Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def listen(connected: Connected, path: Path, *, backlog: int) -> asyncio.Server:
    """Call `connected` for each connection. Raises OSError.

    Who may connect is up to the permissions of the folder.
    """
    if system.UNIX_SOCKETS:
        return await asyncio.start_unix_server(connected, path, backlog=backlog)
    secret = secrets.token_hex(_SECRET_BYTES // 2).encode()

    async def check(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_ANSWER_S):
                sent = await reader.readexactly(_SECRET_BYTES)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            sent = b""
        if hmac.compare_digest(sent, secret):
            await connected(reader, writer)
        else:
            writer.transport.abort()

    server = await asyncio.start_server(check, _HOST, 0, backlog=backlog)
    port = server.sockets[0].getsockname()[1]
    replace_file(path, b"%d %s" % (port, secret), mode=PRIVATE, durable=False)
    return server


async def connect(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a socket. Raises OSError, and ValueError if the path leads to something else."""
    if system.UNIX_SOCKETS:
        return await asyncio.open_unix_connection(path)
    port, _, secret = read_bounded(path, _LARGEST).partition(b" ")
    if len(secret) != _SECRET_BYTES:
        raise ValueError("is no socket")
    reader, writer = await asyncio.open_connection(_HOST, int(port))
    writer.write(secret)
    return reader, writer
