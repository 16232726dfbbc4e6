"""Accepts the connections of strangers over TCP, and forwards their bytes to a gRPC server.

gRPC for Python tells neither who connects nor closes a single connection. So a public address is
accepted here, in the event loop, and every connection is forwarded to the server's Unix socket; TLS
ends in the server. Clients are counted by IPv4 address or IPv6 network of 64 bits. As long as none
of its bots has presented a valid token, a connection

- counts towards a limit for its client and one for all clients, beyond which the client's oldest
  connection, or that of the client with most, is closed: the newest always has a place;
- is forwarded only after its first byte, at a limited rate in which clients take turns;
- is closed after `hello_s`, after too many bytes, and after too many streams.

A crowd with thousands of addresses can make all connections of strangers too short-lived to present
a token. It does not keep those out who have presented one before: from their addresses, connections
are closed only for others from there, and at least half of those that wait are served first.
"""

import asyncio
import ipaddress
import socket
import sys
import time
from pathlib import Path
from typing import Final, TypeAlias, cast

from structlog.typing import FilteringBoundLogger

from asara_server.network.transport_mismatch import MismatchReports
from asara_server.network.unread_bytes import can_check, unread_bytes, unread_from
from asara_server.referee.limits import LimitSettings, RateLimiter
from asara_server.referee.match_clock import monotonic_us

BACKLOG: Final = 128
"""Connections that the system accepts ahead of the gate, which opens and counts them at once."""

_BUFFER_BYTES: Final = 256 * 1024
"""Bytes on their way to one side of a connection at which its other side is read no more."""

_FLUSH_S: Final = 1.0
"""Seconds within which a side of a connection must take the last bytes of the other."""

_LAST_DATA_RECEIVED: Final = 52
_TCP_INFO_BYTES: Final = 56
"""Position in Linux's `struct tcp_info`, and end, of the milliseconds since data arrived last."""

_FAMILIAR_CLIENTS: Final = 1024
"""Clients that are remembered because a valid token came from them, the latest."""

_Client: TypeAlias = str


class ForwardedConnection:
    """A connection of a client and its counterpart at the server. The gate creates them.

    It is also the `BotSocket` of the streams on it.
    """

    def __init__(self, gate: "ConnectionGate", transport: asyncio.Transport, client: str) -> None:
        self.client = client
        self.known = 0
        """Number of its streams whose bots have presented a valid token."""
        self.name = ""
        """Name of the counterpart's socket, as gRPC reports it; empty before it is forwarded."""
        self.received = bytearray()
        """Bytes to be forwarded once the counterpart is connected."""
        self.server_transport: asyncio.Transport | None = None
        self.transport = transport
        self.forwarding = False
        self._gate = gate
        self._closing = False
        self._unknown_bytes = 0
        self._unknown_streams = 0
        self._deadline: asyncio.TimerHandle | None = None

    def begin_stream(self) -> bool:
        """Count a stream of this connection; return False, and close it, if there are too many."""
        self._unknown_streams += 1
        if self._unknown_streams > self._gate.limits.unknown_streams:
            self.abort()
            return False
        return True

    def admit(self) -> None:
        """Exempt the connection from the limits: a valid token was presented on it."""
        self.known += 1
        self._unknown_streams = 0
        self._unknown_bytes = 0
        self._stop_deadline()
        self._gate.unknown.discard(self)
        self._gate.familiar.add(self.client)

    def end_stream(self, *, admitted: bool) -> None:
        """Subject the connection to the limits again if this was its last admitted stream."""
        if admitted:
            self.known -= 1
            if not self.known and not self.transport.is_closing():
                self._gate.add_unknown(self)

    def unread_bytes(self) -> int | None:
        """Return the bytes of the client that the server has not read, wherever they are."""
        client = self.transport.get_extra_info("socket")
        if client is None or client.fileno() < 0 or not can_check():
            return None
        forwarded = 0
        if self.server_transport is not None:
            forwarded = self.server_transport.get_write_buffer_size() + unread_from(self.name)
        return unread_bytes(client.fileno()) + len(self.received) + forwarded

    def last_arrival_us(self) -> int | None:
        """Return when the system received bytes of the client last; Linux knows it of TCP."""
        client = self.transport.get_extra_info("socket")
        if client is None or client.fileno() < 0:
            return None
        try:
            info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        except (AttributeError, OSError):  # no Linux, or closed meanwhile
            return None
        if len(info) < _TCP_INFO_BYTES:
            return None
        age_ms = int.from_bytes(info[_LAST_DATA_RECEIVED:][:4], sys.byteorder)
        return monotonic_us() - age_ms * 1000

    def start_deadline(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(seconds, self.abort)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def data_received(self, data: bytes) -> None:
        """Forward what the client has sent."""
        if not self.known:
            self._unknown_bytes += len(data)
            if self._unknown_bytes > self._gate.limits.unknown_bytes:
                self.abort()
                return
        if self.server_transport is not None:
            self.server_transport.write(data)
        else:
            if not self.received:
                self._gate.report_mismatch(self.client, data)
            self.received += data
            self._gate.request_forwarding(self)

    def connected(self, server_transport: asyncio.Transport, name: str) -> None:
        """Begin to forward: the counterpart is connected."""
        if self.transport.is_closing():
            server_transport.abort()
            return
        self.server_transport = server_transport
        self.name = name
        server_transport.write(bytes(self.received))
        self.received.clear()

    def abort(self) -> None:
        """Close both sides at once."""
        self._stop_deadline()
        self._gate.remove(self)
        self.transport.abort()
        if self.server_transport is not None:
            self.server_transport.abort()

    def close(self) -> None:
        """Close both sides once what was written has been sent, for which they have a second.

        gRPC reads nothing more from a client that takes none of its answers.
        """
        if self._closing:
            return
        self._closing = True
        asyncio.get_running_loop().call_later(_FLUSH_S, self.abort)
        self._stop_deadline()
        self._gate.remove(self)
        self.transport.close()
        if self.server_transport is not None:
            self.server_transport.close()


class FamiliarClients:
    """The clients from which a valid token came, as many as are remembered."""

    def __init__(self) -> None:
        self._clients: dict[_Client, None] = {}

    def __contains__(self, client: _Client) -> bool:
        return client in self._clients

    def add(self, client: _Client) -> None:
        self._clients.pop(client, None)
        self._clients[client] = None
        if len(self._clients) > _FAMILIAR_CLIENTS:
            del self._clients[next(iter(self._clients))]


class UnknownConnections:
    """Connections without a valid token by client, the oldest first."""

    def __init__(self, limits: LimitSettings, familiar: FamiliarClients) -> None:
        self._limits = limits
        self._familiar = familiar
        self._by_client: dict[_Client, dict[ForwardedConnection, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, connection: ForwardedConnection) -> None:
        """Add a connection; others are closed if there are too many."""
        mine = self._by_client.get(connection.client, {})
        if len(mine) >= self._limits.unknown_connections_per_client:
            _least_useful(mine).abort()
        elif self._count >= self._limits.unknown_connections:
            strangers = [own for c, own in self._by_client.items() if c not in self._familiar]
            _least_useful(max(strangers or self._by_client.values(), key=len)).abort()
        self._by_client.setdefault(connection.client, {})[connection] = None
        self._count += 1

    def discard(self, connection: ForwardedConnection) -> None:
        mine = self._by_client.get(connection.client)
        if mine is not None and connection in mine:
            del mine[connection]
            self._count -= 1
            if not mine:
                del self._by_client[connection.client]


def _least_useful(connections: dict[ForwardedConnection, None]) -> ForwardedConnection:
    """Return the oldest connection on which nothing has been sent, or else the oldest."""
    oldest = next(iter(connections))
    return next((c for c in connections if not (c.received or c.forwarding)), oldest)


class ConnectionGate:
    """Listens at a TCP address and forwards connections to a Unix socket, until it is closed."""

    def __init__(
        self, server_path: Path, limits: LimitSettings, log: FilteringBoundLogger, *, tls: bool
    ) -> None:
        self.limits = limits
        self._mismatches = MismatchReports(tls=tls)
        self.familiar = FamiliarClients()
        self.unknown = UnknownConnections(limits, self.familiar)
        self._server_path = server_path
        self._log = log
        self._all: dict[ForwardedConnection, None] = {}
        self._by_name: dict[str, ForwardedConnection] = {}
        self._waiting: dict[_Client, dict[ForwardedConnection, None]] = {}
        self._familiar_turn = True
        self._handshakes = RateLimiter(limits.handshakes_per_second, 1.0)
        self._dispatcher: asyncio.TimerHandle | None = None
        self._connecting: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def listen(self, listener: socket.socket) -> None:
        """Accept connections at a bound socket."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _ClientSide(self), sock=listener, backlog=BACKLOG
        )

    async def close(self) -> None:
        """Stop listening and close all connections."""
        self.stop_listening()
        for task in self._connecting:
            task.cancel()
        if self._dispatcher is not None:
            self._dispatcher.cancel()
        for connection in list(self._all):
            connection.close()

    def stop_listening(self) -> None:
        """Accept no more connections."""
        if self._server is not None:
            self._server.close()

    def break_connections(self) -> None:
        """Break all connections at once."""
        for connection in list(self._all):
            connection.abort()

    def find(self, peer: str) -> ForwardedConnection | None:
        """Return the connection of a call by its peer, as gRPC names it; None if it is closed."""
        return self._by_name.get(peer)

    def add(self, transport: asyncio.Transport, client: str) -> ForwardedConnection:
        connection = ForwardedConnection(self, transport, client)
        self._all[connection] = None
        self.add_unknown(connection)
        return connection

    def add_unknown(self, connection: ForwardedConnection) -> None:
        """Subject a connection to the limits for strangers, from now on."""
        self.unknown.add(connection)
        connection.start_deadline(self.limits.hello_s)

    def remove(self, connection: ForwardedConnection) -> None:
        self._all.pop(connection, None)
        self._by_name.pop(connection.name, None)
        self.unknown.discard(connection)
        self._remove_waiting(connection)

    def report_mismatch(self, client: _Client, first: bytes) -> None:
        """Log once that a client began a connection with TLS or without it, if that is wrong."""
        fault = self._mismatches.fault(first)
        if fault and self._mismatches.is_new(client):
            self._log.warning("wrong transport", client=client, detail=fault)

    # The queue of connections that have sent something and are not forwarded yet

    def request_forwarding(self, connection: ForwardedConnection) -> None:
        """Forward a connection as soon as the rate permits."""
        if connection.forwarding:
            return
        if not self._waiting and self._handshakes.allow(time.monotonic()):
            self._forward(connection)
            return
        self._waiting.setdefault(connection.client, {})[connection] = None
        if self._dispatcher is None:
            self._schedule_dispatch()

    def _schedule_dispatch(self) -> None:
        loop = asyncio.get_running_loop()
        self._dispatcher = loop.call_later(1 / self.limits.handshakes_per_second, self._dispatch)

    def _dispatch(self) -> None:
        """Forward the newest connection of the client whose turn it is."""
        self._dispatcher = None
        if not self._waiting:
            return
        client = self._next_client()
        connection = next(reversed(self._waiting[client]))
        self._remove_waiting(connection)
        if client in self._waiting:
            self._waiting[client] = self._waiting.pop(client)  # to the end of the queue
        self._handshakes.allow(time.monotonic())
        self._forward(connection)
        if self._waiting:
            self._schedule_dispatch()

    def _next_client(self) -> _Client:
        """Return the client that has waited longest, of familiar ones and others by turns."""
        familiar, self._familiar_turn = self._familiar_turn, not self._familiar_turn
        first = next(iter(self._waiting))
        return next((c for c in self._waiting if (c in self.familiar) is familiar), first)

    def _remove_waiting(self, connection: ForwardedConnection) -> None:
        mine = self._waiting.get(connection.client)
        if mine is not None and connection in mine:
            del mine[connection]
            if not mine:
                del self._waiting[connection.client]

    def _forward(self, connection: ForwardedConnection) -> None:
        connection.forwarding = True
        task = asyncio.get_running_loop().create_task(self._connect(connection))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, connection: ForwardedConnection) -> None:
        """Connect a counterpart to the server's socket, under a name that gRPC reports."""
        try:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError as error:
            self._log.warning("connection refused", detail=error.strerror or str(error))
            connection.abort()
            return
        try:
            end.setblocking(False)
            name = _bind_name(end, self._server_path)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(end, str(self._server_path))
            transport, _ = await loop.create_unix_connection(
                lambda: _ServerSide(connection), sock=end
            )
        except OSError as error:
            end.close()
            self._log.warning("connection refused", detail=error.strerror or str(error))
            connection.abort()
            return
        except asyncio.CancelledError:
            end.close()
            connection.abort()
            raise
        self._by_name[name] = connection
        connection.connected(transport, name)
        if connection.transport.is_closing():
            del self._by_name[name]


def _bind_name(end: socket.socket, server_path: Path) -> str:
    """Give a socket a name of its own; return it as gRPC writes it."""
    end.bind("")  # Linux chooses an abstract name
    name = end.getsockname()
    if isinstance(name, bytes) and name:
        return f"unix-abstract:{name[1:].decode()}"
    path = server_path.with_name(f"peer-{id(end)}-{time.monotonic_ns()}")
    end.bind(str(path))
    path.unlink()
    return f"unix:{path}"


class _Side(asyncio.Protocol):
    """One side of a connection; it is read as fast as the other side takes the bytes."""

    def __init__(self) -> None:
        self.connection: ForwardedConnection | None = None

    def _other(self) -> asyncio.Transport | None:
        raise NotImplementedError

    def pause_writing(self) -> None:
        other = self._other()
        if other is not None and not other.is_closing():
            other.pause_reading()

    def resume_writing(self) -> None:
        other = self._other()
        if other is not None and not other.is_closing():
            other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.connection is not None:
            self.connection.close()


class _ClientSide(_Side):
    def __init__(self, gate: ConnectionGate) -> None:
        super().__init__()
        self._gate = gate

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        transport.set_write_buffer_limits(_BUFFER_BYTES)
        client = client_network(transport.get_extra_info("peername"))
        self.connection = self._gate.add(transport, client)

    def data_received(self, data: bytes) -> None:
        if self.connection is not None:
            self.connection.data_received(data)

    def _other(self) -> asyncio.Transport | None:
        return self.connection.server_transport if self.connection else None


class _ServerSide(_Side):
    def __init__(self, connection: ForwardedConnection) -> None:
        super().__init__()
        self.connection = connection
        self._forward = connection.transport.write

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).set_write_buffer_limits(_BUFFER_BYTES)

    def data_received(self, data: bytes) -> None:
        self._forward(data)

    def _other(self) -> asyncio.Transport | None:
        return self.connection.transport if self.connection else None


def client_network(peer: tuple[object, ...] | None) -> str:
    """Return the IPv4 address of a peer, or the first 64 bits of its IPv6 address."""
    host = str(peer[0]).partition("%")[0] if peer else "0.0.0.0"  # noqa: S104
    address = ipaddress.ip_address(host)
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
