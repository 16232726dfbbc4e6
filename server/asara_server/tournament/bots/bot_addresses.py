"""Opens the addresses at which local bot processes reach the referee, one address per process.

Unix sockets are in a directory that only this user may enter, and each sandboxed bot sees only its
own socket there. Socket names are random, because numbers would reveal how many processes have been
started. A TCP port is on loopback, where any local program can connect to it. With `transport =
"tcp"`, one bot could therefore use up the connections of another.
"""

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from asara_server.network.addresses import socket_parent
from asara_server.network.bot_server import BotServer
from asara_server.network.unread_bytes import (
    CHECK_INTERVAL_S,
    CHECKS,
    UnreadBytes,
    break_connections,
    can_check,
)
from asara_server.referee.referee import BotRegistry


class BotAddresses:
    """Opens addresses for bots. After `close`, no address can be opened."""

    def __init__(self, referee: BotRegistry, transport: Literal["unix", "tcp"]) -> None:
        self._referee = referee
        self._transport = transport
        self._folder: Path | None = None
        self._servers: dict[str, BotServer] = {}
        self._monitor: asyncio.Task[None] | None = None

    @property
    def folder(self) -> Path:
        """The directory that holds the sockets."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="asara-", dir=socket_parent()))
        return self._folder

    async def open(self, token: str, on_flood: Callable[[str], None]) -> BotServer:
        """Open an address for the bot with this token; raise ServeError.

        `on_flood` is called with the reason if the address closes because the bot floods it.
        """
        server = BotServer(self._referee, token, on_flood)
        if self._transport == "unix":
            path = str(self.folder / secrets.token_hex(4))
            await server.start(f"unix:{path}")
            self._servers[path] = server
            if self._monitor is None and can_check():
                self._monitor = asyncio.create_task(self._monitor_unread_bytes())
        else:
            await server.start("127.0.0.1:0")
        return server

    async def discard(self, server: BotServer) -> None:
        """Close an address that is no longer needed."""
        self._servers.pop(server.address.removeprefix("unix:"), None)
        await server.stop()

    async def _monitor_unread_bytes(self) -> None:
        """Close the address of any bot that sends data without pause."""
        unread = UnreadBytes()
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            for path in unread.check():
                if server := self._servers.pop(path, None):
                    seconds = CHECK_INTERVAL_S * CHECKS
                    server.close_after_flood(f"sent data without pause for {seconds:g} s")
                    break_connections(path)

    def close(self) -> None:
        """Remove the directory of the sockets."""
        if self._monitor is not None:
            self._monitor.cancel()
            self._monitor = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
