"""The proxy between a program and the scripted referee."""

import asyncio
import socket
import tempfile
from pathlib import Path

from asara_server.conformance.proxy import Proxy
from tests.events import EVENT_S


async def test_a_connection_that_the_referee_breaks_ends_for_the_program() -> None:
    """A referee that closes a connection with bytes unread does not end it, but breaks it."""
    with (
        tempfile.TemporaryDirectory(prefix="asara-") as folder,
        socket.socket(socket.AF_UNIX) as at,
    ):
        target = Path(folder) / "referee"
        at.bind(str(target))
        at.listen()
        proxy = Proxy(target, None)
        await proxy.listen()
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        try:
            writer.write(b"unread")
            referee, _ = await asyncio.to_thread(at.accept)
            await asyncio.to_thread(referee.recv, 1, socket.MSG_PEEK)
            referee.close()
            async with asyncio.timeout(EVENT_S):
                assert await reader.read() == b""
        finally:
            writer.close()
            await proxy.close()
