"""A referee whose bots reach it through the WebSocket of the web server."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from structlog.typing import FilteringBoundLogger
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from asara.v1.play_pb2 import PlayResponse
from asara_server.journal.journal import Journal
from asara_server.referee.limits import LimitSettings
from asara_server.web import server as web_server
from asara_server.web.app import create_app
from asara_server.web.settings import WebLimits, WebSettings
from tests.referee.harness import RefereeServer, Stream, referee_server

TOO_LARGE = 1009
"""Close code with which a WebSocket itself refuses a message that is too large."""
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class WebStream(Stream):
    """A bot's stream over a WebSocket."""

    def __init__(self, address: str, *, narrow: bool = False) -> None:
        """A `narrow` one takes little before it is read."""
        self._address = address
        self._narrow = narrow
        self._socket: ClientConnection | None = None
        self._detail = ""
        self.call: Any = self  # `call.cancel()` breaks the stream

    async def socket(self) -> ClientConnection:
        """The WebSocket, which is opened by its first use."""
        if self._socket is None:
            host, port = self._address.split(":")
            plain = socket.socket()
            if self._narrow:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            plain.connect((host, int(port)))
            self._socket = await connect(
                f"ws://{self._address}/ws/play",
                sock=plain,
                max_size=None,
                max_queue=1,
                compression=None,
            )
        return self._socket

    def cancel(self) -> None:
        if self._socket is not None:
            self._socket.transport.abort()

    async def send_bytes(self, data: bytes) -> None:
        await (await self.socket()).send(data)

    async def read(self) -> PlayResponse:
        data = await (await self.socket()).recv(decode=False)
        return PlayResponse.FromString(data)

    async def silent(self, seconds: float = 0.1) -> bool:
        try:
            await asyncio.wait_for((await self.socket()).recv(), seconds)
        except TimeoutError:
            return True
        return False

    async def closing(self) -> tuple[int, str]:
        """Read to the end of the stream; return the close code and its reason."""
        with pytest.raises(ConnectionClosed) as closed:
            await self._read_to_the_end()
        assert closed.value.rcvd is not None, "the connection broke"
        return closed.value.rcvd.code, closed.value.rcvd.reason

    async def _read_to_the_end(self) -> None:
        while True:
            await (await self.socket()).recv()

    async def ending(self) -> tuple[grpc.StatusCode, str | None]:
        code, text = await self.closing()
        if code == TOO_LARGE:
            return grpc.StatusCode.RESOURCE_EXHAUSTED, None
        reason, _, self._detail = text.partition(": ")
        return _CODES[code - 4000], reason or None

    async def details(self) -> str:
        """The text for people with which the stream ended."""
        return self._detail


class WebRefereeServer(RefereeServer):
    """A referee, and streams to it by way of a web server."""

    def __init__(self, direct: RefereeServer, web_address: str, *, narrow: bool) -> None:
        super().__init__(direct.referee, direct.address)
        self.web_address = web_address
        self._narrow = narrow
        self._streams: list[WebStream] = []

    def stream(self, *_: Any) -> WebStream:
        stream = WebStream(self.web_address, narrow=self._narrow)
        self._streams.append(stream)
        return stream

    async def dial(self, name: str, *_: Any, **hello: Any) -> WebStream:
        stream = self.stream()
        await stream.hello(f"token-{name}", **hello)
        await stream.expect("welcome")
        return stream

    async def close(self) -> None:
        # One with unread messages does not notice that the server closes it.
        for stream in self._streams:
            stream.cancel()
        await super().close()


@asynccontextmanager
async def web_referee_server(
    limits: LimitSettings | None = None,
    log: FilteringBoundLogger | None = None,
    journal: Journal | None = None,
    *,
    web_limits: WebLimits | None = None,
    narrow: bool = False,
) -> AsyncIterator[WebRefereeServer]:
    """Serve a referee, and a web server in front of it, until the exit."""
    async with referee_server(limits, log, journal) as direct:
        settings = WebSettings(play_address=direct.address, limits=web_limits or WebLimits())
        async with serving(settings, narrow=narrow) as address:
            server = WebRefereeServer(direct, address, narrow=narrow)
            try:
                yield server
            finally:
                await server.close()


@asynccontextmanager
async def serving(settings: WebSettings, *, narrow: bool = False) -> AsyncIterator[str]:
    """Run a web server in this event loop until the exit; yield its address.

    The connections of a `narrow` one take little that is not read.
    """
    listening = web_server.ListeningSocket("127.0.0.1:0")
    if narrow:
        listening.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
    started = asyncio.Event()
    parts = vars(web_server)
    gate = parts["_Gate"](settings.limits)
    config = parts["_config"](create_app(settings), settings.limits, gate)
    server = parts["_Server"](config, started.set, None)
    server.install_signal_handlers = lambda: None
    task = asyncio.create_task(server._serve([listening.socket]))
    await started.wait()
    try:
        yield listening.address
    finally:
        server.should_exit = True
        await task
