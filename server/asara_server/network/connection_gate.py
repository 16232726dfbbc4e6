"""The gate of a public address: accepts TCP connections and forwards them to a gRPC server.

gRPC can limit the connections of a server, but not the connections of one client, and it cannot
close a single connection. So the gate accepts the connections and forwards their bytes to the
server's Unix socket. TLS ends in the server. A *client* is an IPv4 address or an IPv6 network of 64
bits. A connection is *unknown* until one of its bots has presented a valid token. The caps on
unknown connections are:

- Their number is limited. If there are too many, the oldest connection of the client that has most
  of them makes room; among equals, of the client that has connected most often within the minute.
- A connection is closed after `hello_s`, after too many bytes, and after too many streams.
- Connections are forwarded after their first bytes, at a limited rate. The newest connection of the
  client that has connected least often comes first.

Known connections count towards no cap, and the files that they need are reserved (`open_files`).
"""

import asyncio
import socket
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Final, cast

from structlog.typing import FilteringBoundLogger

from asara_server.network.addresses import client_network
from asara_server.network.unread_bytes import can_check, unread_bytes, unread_from
from asara_server.referee.limits import LimitSettings
from asara_server.referee.session import BotSocket
from asara_server.referee.stall_clock import monotonic_us

_BACKLOG: Final = 4096
"""Connections that may wait in the system, where they need no file, until the gate accepts them."""

_PAUSE_S: Final = 0.01
"""Seconds without accepting after the system refused to open a file."""

_REPORT_S: Final = 10.0
"""Seconds between two lines in the log about refused connections."""

_BUFFER_BYTES: Final = 256 * 1024
"""Bytes queued for one side of a connection above which the other side is not read."""

_FLUSH_S: Final = 1.0
"""Seconds within which one side of a connection must take the last bytes of the other side."""

_LAST_DATA_RECEIVED: Final = 52
_TCP_INFO_BYTES: Final = 56
"""Start and end, in Linux's `struct tcp_info`, of the milliseconds since data last arrived."""

_MINUTE_S: Final = 60.0
_CLIENTS_COUNTED: Final = 4096

_TLS_HANDSHAKE: Final = b"\x16\x03"
_HTTP2: Final = b"PRI * HTTP/2"


class _Side(asyncio.Protocol):
    """One side of a connection. It is read only as fast as the other side takes the bytes."""

    transport: asyncio.Transport

    def __init__(self, other: "_Side | None" = None) -> None:
        self.other = other

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self.transport.set_write_buffer_limits(_BUFFER_BYTES)

    def data_received(self, data: bytes) -> None:
        if other := self.open_other():
            other.write(data)

    def pause_writing(self) -> None:
        if other := self.open_other():
            other.pause_reading()

    def resume_writing(self) -> None:
        if other := self.open_other():
            other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the other side too, once its queued bytes are sent, or after a second.

        gRPC stops reading from a client that does not take its answers.
        """
        if other := self.open_other():
            other.close()
            asyncio.get_running_loop().call_later(_FLUSH_S, other.abort)

    def open_other(self) -> asyncio.Transport | None:
        """Return the other side's transport; None if it is closed."""
        if self.other is None or self.other.transport.is_closing():
            return None
        return self.other.transport


class GateConnection(_Side, BotSocket):
    """The client's side of a connection; the other side exists from the client's first bytes on."""

    def __init__(self, gate: "ConnectionGate", client: str) -> None:
        super().__init__()
        self.client = client
        self.name = ""
        """Name of the other side, as gRPC reports it."""
        self.deadline: asyncio.TimerHandle | None = None
        """Closes the connection while it is unknown."""
        self._gate = gate
        self._first = b""
        self._forwarding: asyncio.Task[None] | None = None
        self._known = 0
        """Number of streams on this connection whose bots have presented a valid token."""
        self._was_known = False
        self._unknown_bytes = 0
        self._unknown_streams = 0

    # Forwarding

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._gate.add(self)

    def data_received(self, data: bytes) -> None:
        if not self._known:
            self._unknown_bytes += len(data)
            if self._unknown_bytes > self._gate.limits.unknown_bytes:
                self.refuse("it sent too many bytes")
                return
        if self._forwarding is not None:
            super().data_received(data)
        elif fault := transport_fault(data, tls=self._gate.tls):
            self.refuse(fault)
        else:
            self._first = data
            self.transport.pause_reading()
            self._gate.forward_soon()

    @property
    def waits(self) -> bool:
        """True from the connection's first bytes until it is forwarded."""
        return bool(self._first) and self._forwarding is None

    def forward(self) -> None:
        self._forwarding = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        """Connect to the server, send the client's first bytes, and read the client again.

        `create_unix_connection` is not suitable. If uvloop closes such a transport early, the
        socket later closes its file descriptor's number again, which by then may belong to another
        file.
        """
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            end.setblocking(False)
            self.name = _bind_name(end, self._gate.server_path)
            end.connect(str(self._gate.server_path))
            self._gate.by_name[self.name] = self
            loop = asyncio.get_running_loop()
            server, self.other = await loop.connect_accepted_socket(lambda: _Side(self), end)
        except OSError as error:
            end.close()
            self.refuse(f"it could not be forwarded ({error.strerror or error})")
            return
        server.write(self._first)
        if self.transport.is_closing():  # in the meantime
            self.abort()
            server.abort()
        else:
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gate.remove(self)
        super().connection_lost(exc)

    def refuse(self, reason: str) -> None:
        """Close the connection; report the reason unless the connection was ever known."""
        if not self._was_known:
            self._gate.report(reason, self.client)
        self.abort()

    def abort(self) -> None:
        """Close the connection immediately."""
        self._gate.remove(self)
        self.transport.abort()

    # For the referee

    def begin_stream(self) -> bool:
        """Count a stream of this connection; if there are too many, close it and return False."""
        self._unknown_streams += 1
        if self._unknown_streams > self._gate.limits.unknown_streams:
            self.refuse("it opened too many streams")
        return not self.transport.is_closing()

    def admit(self) -> None:
        self._known += 1
        self._unknown_bytes = self._unknown_streams = 0
        self._gate.discard_unknown(self)
        if not self._was_known:
            self._was_known = True
            self._gate.forgive(self.client)

    def release(self) -> None:
        self._known -= 1
        if not self._known and not self.transport.is_closing():
            self._gate.add_unknown(self)

    def unread_bytes(self) -> int | None:
        client = self._socket()
        if client is None or not can_check():
            return None
        server = self.open_other()
        forwarded = 0 if server is None else server.get_write_buffer_size()
        return unread_bytes(client.fileno()) + forwarded + unread_from(self.name)

    def last_arrival_us(self) -> int | None:
        client = self._socket()
        if client is None:
            return None
        try:
            info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        except (AttributeError, OSError):  # not Linux, or closed in the meantime
            return None
        if len(info) < _TCP_INFO_BYTES:
            return None
        age_ms = int.from_bytes(info[_LAST_DATA_RECEIVED:][:4], sys.byteorder)
        return monotonic_us() - age_ms * 1000

    def _socket(self) -> socket.socket | None:
        client = self.transport.get_extra_info("socket")
        return None if client is None or client.fileno() < 0 else client


class ConnectionGate:
    """Listens at a TCP address and forwards connections to a Unix socket, until it is closed."""

    def __init__(
        self, server_path: Path, limits: LimitSettings, log: FilteringBoundLogger, *, tls: bool
    ) -> None:
        self.server_path = server_path
        self.limits = limits
        self.tls = tls
        self.by_name: dict[str, GateConnection] = {}
        """The forwarded connections, by gRPC's name for the peer."""
        self._log = log
        self._accepting: asyncio.Task[None] | None = None
        self._next_forwarding: asyncio.TimerHandle | None = None
        self._unknown: dict[GateConnection, None] = {}
        """Unknown connections, oldest first."""
        self._attempts: Counter[str] = Counter()
        """By client, the connections of the current minute on which no valid token has come."""
        self._minute_ends_s = 0.0
        self._unreported = 0
        self._next_report_s = 0.0

    def listen(self, listener: socket.socket) -> None:
        """Accept connections at a bound socket, which the gate closes in the end."""
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept(listener))
        self._accepting.add_done_callback(lambda _: listener.close())

    async def _accept(self, listener: socket.socket) -> None:
        """Accept connections one by one; an asyncio.Server would accept all that wait at once."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, peer = await loop.sock_accept(listener)
                made = partial(GateConnection, self, client_network(str(peer[0])))
                await loop.connect_accepted_socket(made, accepted)
            except (OSError, RuntimeError):
                await asyncio.sleep(_PAUSE_S)

    def stop_listening(self) -> None:
        """Accept no more connections."""
        if self._accepting is not None:
            self._accepting.cancel()

    def break_connections(self) -> None:
        """Break all connections immediately."""
        for connection in [*self._unknown, *self.by_name.values()]:
            connection.abort()

    def forward_soon(self) -> None:
        """Forward the waiting connections one by one, at a limited rate."""
        if self._next_forwarding is None:
            self._forward_next()

    def _forward_next(self) -> None:
        """Forward the newest waiting connection of the client that has connected least often."""
        waiting = [each for each in reversed(self._unknown) if each.waits]
        if not waiting:
            self._next_forwarding = None
            return
        min(waiting, key=self._attempts_of).forward()
        self._next_forwarding = asyncio.get_running_loop().call_later(
            1 / self.limits.handshakes_per_second, self._forward_next
        )

    # The caps

    def add(self, connection: GateConnection) -> None:
        """Apply the caps to a new connection."""
        now_s = time.monotonic()
        if now_s > self._minute_ends_s or len(self._attempts) >= _CLIENTS_COUNTED:
            self._minute_ends_s = now_s + _MINUTE_S
            self._attempts.clear()
        self._attempts[connection.client] += 1
        self.add_unknown(connection)

    def forgive(self, client: str) -> None:
        """Do not count a connection on which a valid token has come."""
        if self._attempts[client]:  # it may have been counted in an earlier minute
            self._attempts[client] -= 1

    def add_unknown(self, connection: GateConnection) -> None:
        """Apply the caps to a connection from now on; another connection may have to make room."""
        if len(self._unknown) >= self.limits.unknown_connections:
            held = Counter(each.client for each in self._unknown)
            max(
                self._unknown, key=lambda each: (held[each.client], self._attempts_of(each))
            ).refuse("it made room for a newer one")
        self._unknown[connection] = None
        connection.deadline = asyncio.get_running_loop().call_later(
            self.limits.hello_s, connection.refuse, "it presented no valid token in time"
        )

    def _attempts_of(self, connection: GateConnection) -> int:
        return self._attempts[connection.client]

    def discard_unknown(self, connection: GateConnection) -> None:
        """Stop applying the caps to a connection."""
        self._unknown.pop(connection, None)
        if connection.deadline is not None:
            connection.deadline.cancel()

    def remove(self, connection: GateConnection) -> None:
        """Forget a closed connection."""
        self.by_name.pop(connection.name, None)
        self.discard_unknown(connection)

    def report(self, reason: str, client: str) -> None:
        """Log a refused connection, and the number of those that were not logged before."""
        now_s = time.monotonic()
        if now_s < self._next_report_s:
            self._unreported += 1
            return
        self._log.warning(
            "connection refused", client=client, detail=reason, others=self._unreported
        )
        self._next_report_s = now_s + _REPORT_S
        self._unreported = 0


def transport_fault(first: bytes, *, tls: bool) -> str:
    """Return what is wrong with a connection that begins with these bytes, or "".

    TLS at an address without TLS, or the reverse, is a common mistake in settings. The gate gives
    such a client no answer. If it answered a client without TLS in HTTP/2, gRPC would reconnect
    without a pause.
    """
    expected, other = (_TLS_HANDSHAKE, _HTTP2) if tls else (_HTTP2, _TLS_HANDSHAKE)
    if first.startswith(expected[: len(first)]):
        return ""
    if not first.startswith(other[: len(first)]):
        return "it sent neither TLS nor HTTP/2"
    if tls:
        return "it dialled without TLS, which this address needs (the bot needs ASARA_CA)"
    return "it dialled with TLS, which this address does not use (the bot has ASARA_CA set)"


def _bind_name(end: socket.socket, server_path: Path) -> str:
    """Bind a socket to a unique name; return the name as gRPC writes it."""
    end.bind("")  # Linux chooses an abstract name
    name = end.getsockname()
    if isinstance(name, bytes) and name:
        return f"unix-abstract:{name[1:].decode()}"
    path = server_path.with_name(f"peer-{id(end)}-{time.monotonic_ns()}")
    end.bind(str(path))
    path.unlink()
    return f"unix:{path}"
