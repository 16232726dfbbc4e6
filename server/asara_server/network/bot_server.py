"""The address of one bot: a separate gRPC server that accepts only this bot's token.

Whatever a bot opens, sends or leaves unread happens at its own address, and the limits of that
address affect no other bot. A server takes a tenth of a millisecond to start, one file descriptor
and 14 KiB of memory.
"""

import asyncio
import contextlib
import hmac
import time
from collections.abc import Callable
from pathlib import Path

import grpc

from asara_server.network.grpc_server import add_play_service, add_port, server_options
from asara_server.network.unread_bytes import can_check, unread_at
from asara_server.referee.referee import BotRegistry
from asara_server.referee.session import BotSocket
from asara_server.referee.stream_errors import Context, ErrorKind, StreamError, end_call


class BotServer(BotSocket):
    """A server for one bot, and the `Authenticator` with which the bot is registered."""

    def __init__(self, referee: BotRegistry, token: str, on_flood: Callable[[str], None]) -> None:
        """`on_flood` is called with the reason if the server closes because the bot floods it."""
        self.address = ""
        self.first_connected_s: float | None = None
        """Monotonic time of the bot's first connection, in seconds; None before."""
        self._referee = referee
        self._token = token
        self._on_flood = on_flood
        limits = referee.limits
        self._streams = limits.new_stream_limiter()
        self._server = grpc.aio.server(
            options=[
                *server_options(limits, limits.transport_bytes, keepalive=False),
                ("grpc.max_allowed_incoming_connections", limits.bot_connections),
            ]
        )
        self._closing: asyncio.Task[None] | None = None

    async def start(self, target: str) -> None:
        """Listen at `unix:/path`, or at any free port for `127.0.0.1:0`; raise ServeError."""
        add_play_service(self._server, self._play)
        port = add_port(self._server, target, None)
        self.address = target if target.startswith("unix:") else f"127.0.0.1:{port}"
        await self._server.start()

    async def stop(self) -> None:
        """Close the address and all connections to it."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._server.stop(0))
        await self._closing

    def authenticate(self, token: str) -> str | None:
        return token if hmac.compare_digest(token.encode(), self._token.encode()) else None

    def connections_changed(self) -> None:
        """Permit new connections only while the bot has none.

        Otherwise, a bot could keep gRPC's threads busy by connecting and disconnecting all the time
        without ever opening a stream. The system now refuses such connections before they reach
        this process.
        """
        if self.first_connected_s is None:
            self.first_connected_s = time.monotonic()
        if self.address.startswith("unix:") and self._closing is None:
            mode = 0 if self._referee.is_connected(self._token) else 0o600
            with contextlib.suppress(OSError):
                Path(self.address.removeprefix("unix:")).chmod(mode)

    def unread_bytes(self) -> int | None:
        if not self.address.startswith("unix:") or not can_check():
            return None
        return unread_at(self.address.removeprefix("unix:"))

    async def _play(self, _: object, context: Context) -> None:
        if self._closing is None and not self._streams.allow(time.monotonic()):
            limits = self._referee.limits
            self.close_after_flood(
                f"opened more than {limits.streams_opened} streams within "
                f"{limits.stream_window_s:g} s"
            )
        if self._closing is not None:
            end_call(context, StreamError(ErrorKind.STOPPING, "this address is closed"))
            return
        await self._referee.open_session(context, self, socket=self).run()

    def close_after_flood(self, what: str) -> None:
        """Close the address; the bot forfeits.

        Refusing streams one by one would take as long as serving them.
        """
        if self._closing is None:
            detail = f"{what}; its address was closed"
            self._closing = asyncio.create_task(self._server.stop(0))
            self._referee.expel_bot(self._token, StreamError(ErrorKind.REQUEST_RATE, detail))
            self._on_flood(detail)
