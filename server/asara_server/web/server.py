"""Runs the web server: uvicorn, with limits on connections."""

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from asara_server.event_loop import new_event_loop, seldom_collect
from asara_server.network.addresses import client_network, join_address, listen_at
from asara_server.network.open_files import raise_open_files_limit
from asara_server.web.settings import WebLimits

_BACKLOG: Final = 128
_LARGEST_HEAD: Final = 16 * 1024
"""Maximum bytes of a request's head."""
_PING_S: Final = 20.0
_CLOSE_S: Final = 10.0
"""Seconds for a WebSocket's peer to read the remaining data once the WebSocket is closed."""
_MOST_UNREAD: Final = 1024 * 1024
"""Maximum bytes of pong frames that a peer may leave unread."""
_LAST_LOOK_S: Final = 2.5
"""Seconds for open pages to ask once more, so that they learn how a run has ended."""
_STOP_S: Final = 2
"""Seconds for responses in progress when the server stops."""


class ListeningSocket:
    """A listening socket, to be opened before the server that takes it over."""

    def __init__(self, address: str, *, allow_remote: bool = False) -> None:
        """Raise ServeError for an address that is malformed, in use, or open to other machines.

        Port 0 takes any free port, and `address` then contains that port.
        """
        self.host, self.socket = listen_at(
            address,
            remote_allowed=allow_remote,
            danger="anybody there could see the matches: listen on 127.0.0.1, or pass "
            "--insecure-remote",
        )
        self.address = join_address(self.host, self.socket.getsockname()[1])


def run_web_server(
    app: ASGIApp,
    listening: ListeningSocket,
    limits: WebLimits,
    started: Callable[[], None],
    *,
    last_look: bool = False,
) -> None:
    """Serve until SIGINT or SIGTERM; `started` is called once requests are answered.

    With `last_look`, open pages have time to learn how the run has ended.
    """
    raise_open_files_limit()
    seldom_collect()
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # strangers cannot fill the log
    gate = _Gate(limits)
    server = _Server(_config(app, limits, gate), started, gate if last_look else None)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(server.serve(sockets=[listening.socket]))


def _config(app: ASGIApp, limits: WebLimits, gate: "_Gate") -> Config:
    return Config(
        app,
        http=_http_protocol(gate),
        ws=_socket_protocol(gate),
        ws_max_size=limits.socket_message_bytes,
        ws_max_queue=8,
        ws_ping_interval=_PING_S,
        ws_ping_timeout=_PING_S,
        ws_per_message_deflate=False,  # updates are encoded once for all viewers
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_STOP_S,
        backlog=_BACKLOG,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # anybody could send them
        server_header=False,
    )


class _Server(uvicorn.Server):
    def __init__(
        self, config: Config, started: Callable[[], None], last_look: "_Gate | None"
    ) -> None:
        super().__init__(config)
        self._started = started
        self._last_look = last_look

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def main_loop(self) -> None:
        await super().main_loop()
        if self._last_look is not None and self._last_look.connections:
            await asyncio.sleep(_LAST_LOOK_S)


class _Gate:
    """Counts open connections, in total and by peer."""

    def __init__(self, limits: WebLimits) -> None:
        self.limits = limits
        self._open: Counter[str] = Counter()

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return self._open.total()

    def admit(self, peer: str) -> bool:
        """Count a connection; return False if there are too many."""
        limits = self.limits
        self._open[peer] += 1
        return (
            self.connections <= limits.connections
            and self._open[peer] <= limits.connections_per_peer
        )

    def release(self, peer: str) -> None:
        self._open[peer] -= 1
        if not self._open[peer]:
            del self._open[peer]


def _http_protocol(gate: _Gate) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with limits on connections added."""

    class Http(H11Protocol):
        _peer: str | None = None
        _deadline: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._peer = client_network(self.client[0]) if self.client else ""
            self._deadline = self.loop.call_later(gate.limits.head_s, self._close_if_silent)
            if not gate.admit(self._peer):
                transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._leave()

        # A peer that does not read a response must not keep it in memory.

        def pause_writing(self) -> None:
            super().pause_writing()
            self._unread = self.loop.call_later(gate.limits.request_s, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._forget_unread()

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            self.loop.call_later(_CLOSE_S, self.transport.abort)

        def handle_websocket_upgrade(self, event: Any) -> None:
            # From here on, the connection counts as a WebSocket, with the limits for WebSockets.
            super().handle_websocket_upgrade(event)
            self._leave()

        def _close_if_silent(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.abort()

        def _forget_unread(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

        def _leave(self) -> None:
            self._forget_unread()
            if self._deadline is not None:
                self._deadline.cancel()
            if self._peer is not None:
                gate.release(self._peer)
                self._peer = None

    return Http


def _socket_protocol(gate: _Gate) -> type[asyncio.Protocol]:
    """Return uvicorn's WebSocket protocol with limits on connections added."""

    class WebSocket(WebSocketsSansIOProtocol):
        _peer: str | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._peer = client_network(self.client[0]) if self.client else ""
            gate.admit(self._peer)  # the same connection is briefly counted twice

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._peer is not None:
                gate.release(self._peer)
                self._peer = None

        # A peer that reads nothing must keep neither its connection nor its queued messages.

        async def send(self, message: Any) -> None:
            if message["type"] == "websocket.close":
                self.writable.set()  # the close does not wait for messages to be read
                self.loop.call_later(_CLOSE_S, self.transport.abort)
            await super().send(message)

        def handle_close(self, event: Any) -> None:
            super().handle_close(event)
            self.loop.call_later(_CLOSE_S, self.transport.abort)

        def handle_ping(self) -> None:
            super().handle_ping()
            if self.transport.get_write_buffer_size() > _MOST_UNREAD:
                self.transport.abort()

        def keepalive_timeout(self) -> None:
            super().keepalive_timeout()
            self.transport.abort()

    return WebSocket
