"""The scripted referee of one case: a gRPC server behind a proxy, with all streams so far."""

import asyncio
import socket
import time
from collections.abc import Callable
from pathlib import Path

import grpc

from asara_server.conformance.case import Settings
from asara_server.conformance.certificates import certificate_for
from asara_server.conformance.failure import CaseFailed
from asara_server.conformance.proxy import Proxy
from asara_server.conformance.stream import Context, Stream
from asara_server.network.grpc_server import add_play_service

_OPTIONS = (
    ("grpc.max_receive_message_length", 1 << 20),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
)


class Stage:
    """Accepts the streams of the program.

    - `streams`: all streams so far, in order
    - `most_streams`: maximum number of streams open at the same time, without lost ones
    - `last_contact`: when the last stream ended, on the monotonic clock; before that, the start
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        """`folder` is for sockets, so its path has to be short."""
        self._settings = settings
        self._target = folder / "grpc"
        socket_path = folder / "referee" if settings.address == "unix" else None
        self.proxy = Proxy(self._target, socket_path)
        self._socket = socket_path
        self._server = grpc.aio.server(options=_OPTIONS)
        self.streams: list[Stream] = []
        self._lost: set[Stream] = set()
        self.most_streams = 0
        self.last_contact = time.monotonic()
        self._taken = 0
        self._opened = asyncio.Event()
        self._free_port = 0
        self.busy_s: Callable[[], float] = float
        """Returns the seconds for which program and referee have been busy; 0 if nobody asks."""

    @property
    def address(self) -> str:
        """ASARA_ADDRESS; "" if the variable must not be set."""
        match self._settings.address:
            case "unix":
                return f"unix:{self._socket}"
            case "tcp":
                host = "localhost" if self._settings.tls else "127.0.0.1"
                return f"{host}:{self.proxy.port}"
            case "nobody":
                return f"127.0.0.1:{self._free_port}"
            case "malformed":
                return "nowhere"
        return ""

    async def open(self) -> None:
        """Listen at the address."""
        if self._settings.address == "nobody":
            with socket.create_server(("127.0.0.1", 0)) as unused:
                self._free_port = unused.getsockname()[1]
        if self._settings.address not in ("unix", "tcp"):
            return
        add_play_service(self._server, self._play)
        target = f"unix:{self._target}"
        if self._settings.tls:
            made = certificate_for(self._settings.tls)
            pair = [(made.key, made.certificate)]
            self._server.add_secure_port(target, grpc.ssl_server_credentials(pair))
        else:
            self._server.add_insecure_port(target)
        await self._server.start()
        await self.proxy.listen()

    async def close(self) -> None:
        await self.proxy.close()
        await self._server.stop(0)

    async def next_stream(self, seconds: float) -> Stream:
        """Return the next stream that no script has taken; raise CaseFailed."""
        expected = "a stream" if not self._taken else "another stream"
        try:
            async with asyncio.timeout(seconds):
                while self._taken == len(self.streams):
                    self._opened.clear()
                    await self._opened.wait()
        except TimeoutError:
            raise CaseFailed(expected, f"none for {seconds:g} s") from None
        self._taken += 1
        return self.streams[self._taken - 1]

    def check_no_other_stream(self) -> None:
        """Raise CaseFailed if a stream was opened that no script has taken."""
        if len(self.streams) > self._taken:
            first = not self._taken
            raise CaseFailed(
                "no stream" if first else "no further stream",
                f"the program opened {'one' if first else 'another one'}",
            )

    def lose_connections(self) -> None:
        """Drop all further bytes of the open connections."""
        self._lost.update(one for one in self.streams if not one.closed.is_set())
        self.proxy.lose_connections()

    async def _play(self, _: object, context: Context) -> None:
        stream = Stream(context, self.busy_s)
        self.streams.append(stream)
        open_now = [s for s in self.streams if not s.closed.is_set() and s not in self._lost]
        self.most_streams = max(self.most_streams, len(open_now))
        self._opened.set()
        try:
            await stream.serve()
        finally:
            self.last_contact = time.monotonic()
