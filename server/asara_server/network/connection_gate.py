"""The gate for unknown clients: accepts TCP connections and forwards their bytes to a gRPC server.

gRPC for Python does not report who connects, and cannot close a single connection. So the gate
accepts the connections of a public address and forwards them to the server's Unix socket. TLS ends
in the server. A *client* is an IPv4 address or an IPv6 network of 64 bits. A connection is
*unknown* until one of its bots has presented a valid token. The caps on unknown connections are:

- Each client has a maximum number, and all clients together have a total. Beyond a client's
  maximum, its oldest connection makes room for the newest. Beyond the total, the oldest connection
  of the clients with the lowest priority makes room.
- A client that connects too often within a minute has the lowest priority. Clients that have
  presented a valid token have the highest.
- A connection is forwarded after its first bytes, at a limited rate, in the same order of clients.
- A connection is closed after `hello_s`, after too many bytes, and after too many streams.

Known connections count towards no cap, and the files that they need are reserved (`open_files`).
"""

import asyncio
import ipaddress
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final, cast

from structlog.typing import FilteringBoundLogger

from asara_server.network.unread_bytes import can_check, unread_bytes, unread_from
from asara_server.referee.limits import LimitSettings
from asara_server.referee.match_clock import monotonic_us

_BACKLOG: Final = 4096
"""Connections that may wait in the system, where they need no file, until the gate accepts them."""

_ACCEPTED_AT_ONCE: Final = 64
"""Maximum connections accepted before the event loop does something else."""

_LOOK_S: Final = 0.005
"""Seconds between checks of the connections that have not been forwarded."""

_PAUSE_S: Final = 0.1
"""Seconds without accepting after the system refused to open a file."""

_REPORT_S: Final = 60.0
"""Seconds between reports of refused connections. The first follows a second after the refusal."""

_BUFFER_BYTES: Final = 256 * 1024
"""Bytes queued for one side of a connection above which the other side is not read."""

_FLUSH_S: Final = 1.0
"""Seconds within which one side of a connection must take the last bytes of the other side."""

_LAST_DATA_RECEIVED: Final = 52
_TCP_INFO_BYTES: Final = 56
"""Start and end, in Linux's `struct tcp_info`, of the milliseconds since data last arrived."""

_CLIENTS: Final = 4096
"""Maximum number of clients that are remembered."""
_MINUTE_S: Final = 60.0
_KNOCKS: Final = 10
"""Connections per minute that a client may open without presenting a valid token."""
_KNOCKS_OF_FAMILIAR: Final = 100
"""The same limit for a client that has presented a valid token."""

_TLS_HANDSHAKE: Final = b"\x16\x03"
_HTTP2: Final = b"PRI * HTTP/2"


class _Client:
    """An IPv4 address or an IPv6 network of 64 bits."""

    __slots__ = ("familiar", "knocks", "name", "unknown")

    def __init__(self, name: str) -> None:
        self.name = name
        self.familiar = False
        """True if this client has presented a valid token."""
        self.knocks = 0
        """Connections in the current minute without a valid token."""
        self.unknown: dict[GateConnection, None] = {}
        """Its unknown connections, oldest first."""

    @property
    def place(self) -> int:
        """The client's priority; the smallest number comes first."""
        if self.knocks > (_KNOCKS_OF_FAMILIAR if self.familiar else _KNOCKS):
            return 2
        return 0 if self.familiar else 1


class GateConnection:
    """A connection of a client and, once it is forwarded, the matching connection to the server.

    It is also the `BotSocket` of the streams on this connection.
    """

    def __init__(self, gate: "ConnectionGate", client: _Client, accepted: socket.socket) -> None:
        self.client = client
        self.accepted: socket.socket | None = accepted
        """The client's socket until the connection is forwarded; None afterwards."""
        self.deadline_s = 0.0
        """Monotonic time at which the connection is closed if it is still unknown."""
        self.name = ""
        """Name of the socket to the server, as gRPC reports it; empty before forwarding."""
        self.closed = False
        self.client_side = _Side(self)
        self.server_side = _Side(self)
        self._gate = gate
        self._known = 0
        """Number of streams on this connection whose bots have presented a valid token."""
        self._was_known = False
        self._unknown_bytes = 0
        self._unknown_streams = 0

    def begin_stream(self) -> bool:
        """Count a stream of this connection; if there are too many, close it and return False."""
        self._unknown_streams += 1
        if self._unknown_streams > self._gate.limits.unknown_streams:
            self.refuse("opened too many streams")
            return False
        return True

    def admit(self) -> None:
        """Exempt the connection from the caps, because a valid token was presented on it."""
        if not self._was_known:
            self.client.knocks -= 1
        self.client.familiar = self._was_known = True
        self._known += 1
        self._unknown_streams = 0
        self._unknown_bytes = 0
        self._gate.discard_unknown(self)

    def end_stream(self, *, admitted: bool) -> None:
        """Apply the caps to the connection again if this was its last admitted stream."""
        if admitted:
            self._known -= 1
            if not self._known and not self.closed:
                self._gate.add_unknown(self)

    def unread_bytes(self) -> int | None:
        """Return the number of the client's bytes that the server has not read yet."""
        client = self._socket()
        if client is None or not can_check():
            return None
        server = self.server_side.transport
        forwarded = 0 if server is None else server.get_write_buffer_size()
        return unread_bytes(client.fileno()) + forwarded + unread_from(self.name)

    def last_arrival_us(self) -> int | None:
        """Return when the client's last bytes reached the system; only Linux reports it for TCP."""
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
        transport = self.client_side.transport
        client = None if transport is None else transport.get_extra_info("socket")
        return None if client is None or client.fileno() < 0 else client

    def count_bytes(self, number: int) -> None:
        """Count bytes from the client; close an unknown connection that sends too many."""
        if not self._known:
            self._unknown_bytes += number
            if self._unknown_bytes > self._gate.limits.unknown_bytes:
                self.refuse("sent too many bytes")

    def refuse(self, reason: str) -> None:
        """Close the connection; report the reason unless the connection was ever known."""
        if not self._was_known:
            self._gate.report(reason, self.client.name)
        self.abort()

    def side_lost(self, side: "_Side") -> None:
        """Close the other side too, once its queued bytes are sent, or after a second.

        gRPC stops reading from a client that does not take its answers.
        """
        both = (self.client_side, self.server_side)
        for other in both:
            if other is not side and other.transport is not None and not other.lost:
                other.transport.close()
                asyncio.get_running_loop().call_later(_FLUSH_S, self.abort)
                return
        self.abort()

    def abort(self) -> None:
        """Close both sides immediately."""
        self.closed = True
        self._gate.remove(self)
        if self.accepted is not None:
            self.accepted.close()
            self.accepted = None
        for side in (self.client_side, self.server_side):
            if side.transport is not None:
                side.transport.abort()


class _Side(asyncio.Protocol):
    """One side of a forwarded connection; it is read only as fast as the other side accepts."""

    def __init__(self, connection: GateConnection) -> None:
        self.transport: asyncio.Transport | None = None
        self.lost = False
        self._connection = connection
        self.early = bytearray()
        """Bytes that the server sent before the client's side was ready."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self.transport.set_write_buffer_limits(_BUFFER_BYTES)
        if self._connection.closed:
            self.transport.abort()
        elif self is self._connection.client_side:
            self.transport.write(bytes(self._connection.server_side.early))

    def data_received(self, data: bytes) -> None:
        if self is self._connection.client_side:
            self._connection.count_bytes(len(data))
        if other := self._open_other():
            other.write(data)
        elif self._connection.client_side.transport is None:
            self.early += data

    def pause_writing(self) -> None:
        if other := self._open_other():
            other.pause_reading()

    def resume_writing(self) -> None:
        if other := self._open_other():
            other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._connection.side_lost(self)

    def _open_other(self) -> asyncio.Transport | None:
        """Return the other side's transport; None if it is closed."""
        connection = self._connection
        is_client = self is connection.client_side
        other = (connection.server_side if is_client else connection.client_side).transport
        return None if other is None or other.is_closing() else other


class ConnectionGate:
    """Listens at a TCP address and forwards connections to a Unix socket, until it is closed."""

    def __init__(
        self, server_path: Path, limits: LimitSettings, log: FilteringBoundLogger, *, tls: bool
    ) -> None:
        self.limits = limits
        self._log = log
        self._server_path = server_path
        self._tls = tls
        self._all: dict[GateConnection, None] = {}
        self._by_name: dict[str, GateConnection] = {}
        self._unknown: dict[GateConnection, None] = {}
        """Unknown connections, earliest deadline first."""
        self._clients: dict[str, _Client] = {}
        self._minute_began_s = 0.0
        self._forwardable = 0.0
        self._looked_s = 0.0
        self._look_timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: socket.socket | None = None
        self._refused: Counter[str] = Counter()
        self._refused_clients: dict[str, None] = {}
        self._reported_s = -_REPORT_S
        self._report_timer: asyncio.TimerHandle | None = None

    # Accepting

    def listen(self, listener: socket.socket) -> None:
        """Accept connections at a bound socket, which the gate closes in the end."""
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        self._listener = listener
        self._resume()

    def _resume(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def stop_listening(self) -> None:
        """Accept no more connections."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _accept(self) -> None:
        assert self._listener is not None
        now_s = time.monotonic()
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, peer = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:  # out of files or memory
                self.report(f"found no free file ({error.strerror})", "this machine")
                loop = asyncio.get_running_loop()
                loop.remove_reader(self._listener)
                loop.call_later(_PAUSE_S, self._resume)
                return
            accepted.setblocking(False)
            client = self._client(client_network(peer), now_s)
            client.knocks += 1
            connection = GateConnection(self, client, accepted)
            self._all[connection] = None
            self.add_unknown(connection)

    def _client(self, name: str, now_s: float) -> _Client:
        if now_s > self._minute_began_s + _MINUTE_S:
            self._minute_began_s = now_s
            for client in self._clients.values():
                client.knocks = 0
        if name not in self._clients:
            if len(self._clients) >= _CLIENTS:
                self._forget_clients()
            self._clients[name] = _Client(name)
        return self._clients[name]

    def _forget_clients(self) -> None:
        """Forget all clients that have neither a valid token nor an unknown connection.

        If too many clients remain, forget the oldest ones too.
        """
        kept = [one for one in self._clients.values() if one.familiar or one.unknown]
        self._clients = {one.name: one for one in kept[-_CLIENTS // 2 :]}

    # The caps

    def add_unknown(self, connection: GateConnection) -> None:
        """Apply the caps to a connection from now on; another connection may have to make room."""
        client = connection.client
        if len(client.unknown) >= self.limits.unknown_connections_per_client:
            next(iter(client.unknown)).refuse("made room for newer ones of their client")
        elif len(self._unknown) >= self.limits.unknown_connections:
            max(self._unknown, key=_place).refuse("made room for newer ones")
        connection.deadline_s = time.monotonic() + self.limits.hello_s
        self._unknown[connection] = None
        client.unknown[connection] = None
        if self._look_timer is None:
            self._look_later()

    def discard_unknown(self, connection: GateConnection) -> None:
        """Stop applying the caps to a connection."""
        if connection in self._unknown:
            del self._unknown[connection]
            del connection.client.unknown[connection]

    def remove(self, connection: GateConnection) -> None:
        """Forget a closed connection."""
        self._all.pop(connection, None)
        self._by_name.pop(connection.name, None)
        self.discard_unknown(connection)

    def _look_later(self) -> None:
        self._look_timer = asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    def _look(self) -> None:
        """Close unknown connections that are out of time; forward those that have sent bytes."""
        now_s = time.monotonic()
        while self._unknown and (oldest := next(iter(self._unknown))).deadline_s <= now_s:
            oldest.refuse("presented no valid token in time")
        rate = self.limits.handshakes_per_second
        passed_s = now_s - self._looked_s
        self._forwardable = min(self._forwardable + passed_s * rate, float(rate))
        self._looked_s = now_s
        if self._forwardable >= 1:
            self._forward_some()
        if self._unknown:
            self._look_later()
        else:
            self._look_timer = None

    def _forward_some(self) -> None:
        """Forward connections by their clients' priority, newest first."""
        newest_first = list(reversed(self._unknown))
        for connection in sorted(newest_first, key=_place):
            if connection.accepted is not None and self._is_ready(connection):
                self._forwardable -= 1
                self._begin_forwarding(connection)
                if self._forwardable < 1:
                    return

    def _is_ready(self, connection: GateConnection) -> bool:
        """Return True if a connection has sent something; close it if that is not from a bot."""
        assert connection.accepted is not None
        try:
            first = connection.accepted.recv(len(_HTTP2), socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            first = b""
        if not first:  # the client has closed it
            connection.abort()
            return False
        fault = transport_fault(first, tls=self._tls)
        if fault:
            connection.refuse(fault)
        return not fault

    # Forwarding

    def _begin_forwarding(self, connection: GateConnection) -> None:
        accepted, connection.accepted = connection.accepted, None
        assert accepted is not None
        task = asyncio.get_running_loop().create_task(self._forward(connection, accepted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, connection: GateConnection, accepted: socket.socket) -> None:
        """Open the matching connection to the server's socket, under a name that gRPC reports."""
        loop = asyncio.get_running_loop()
        ours = [accepted]  # sockets that no transport has taken over
        try:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            ours.append(end)
            end.setblocking(False)
            connection.name = _bind_name(end, self._server_path)
            await loop.sock_connect(end, str(self._server_path))
            for side in (connection.server_side, connection.client_side):
                if not connection.closed:
                    self._by_name[connection.name] = connection
                    await _take_over(ours.pop(), side)
        except (OSError, RuntimeError) as error:  # uvloop raises RuntimeError for a closed socket
            connection.refuse(f"could not be forwarded ({error})")
        finally:
            if ours:
                connection.abort()
            for unused in ours:
                unused.close()

    def find(self, peer: str) -> GateConnection | None:
        """Return the connection of a call from gRPC's name for the peer; None if it is closed."""
        return self._by_name.get(peer)

    # The end

    def break_connections(self) -> None:
        """Break all connections immediately."""
        for connection in list(self._all):
            connection.abort()

    async def close(self) -> None:
        """Stop listening and close all connections."""
        self.stop_listening()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.break_connections()
        if self._look_timer is not None:
            self._look_timer.cancel()
        if self._report_timer is not None:
            self._report_timer.cancel()
            self._write_report()

    # The report

    def report(self, reason: str, client: str) -> None:
        """Count a refused connection; the log reports the count within a minute."""
        self._refused[reason] += 1
        if len(self._refused_clients) < _CLIENTS:
            self._refused_clients[client] = None
        if self._report_timer is None:
            wait_s = max(self._reported_s + _REPORT_S - time.monotonic(), 1.0)
            loop = asyncio.get_running_loop()
            self._report_timer = loop.call_later(wait_s, self._write_report)

    def _write_report(self) -> None:
        reasons = (f"{count} {reason}" for reason, count in self._refused.most_common())
        detail = "; ".join(reasons)
        self._log.warning("connections refused", clients=self._client_names(), detail=detail)
        self._refused.clear()
        self._refused_clients.clear()
        self._reported_s = time.monotonic()
        self._report_timer = None

    def _client_names(self) -> str:
        names = list(self._refused_clients)
        others = len(names) - 4
        return ", ".join(names) if others <= 0 else f"{', '.join(names[:4])} and {others} others"


async def _take_over(connected: socket.socket, side: _Side) -> None:
    """Let a transport read and close a connected socket.

    `create_unix_connection` is not suitable. If uvloop closes such a transport early, the socket
    later closes its file descriptor's number again, which by then may belong to another file.
    """
    await asyncio.get_running_loop().connect_accepted_socket(lambda: side, connected)


def _place(connection: GateConnection) -> int:
    return connection.client.place


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
        return "sent neither TLS nor HTTP/2"
    if tls:
        return "dialled without TLS, which this address needs (the bot needs ASARA_CA)"
    return "dialled with TLS, which this address does not use (the bot has ASARA_CA set)"


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


def client_network(peer: tuple[object, ...] | None) -> str:
    """Return a peer's IPv4 address, or the first 64 bits of its IPv6 address."""
    host = str(peer[0]).partition("%")[0] if peer else "0.0.0.0"  # noqa: S104
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
