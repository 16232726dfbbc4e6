"""A proxy between the program and the referee: it counts, delays and breaks connections."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Final

_READ: Final = 1 << 16
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME_HEADER: Final = 9
_PING: Final = 6
_ACK: Final = 1
_NOTICED_S: Final = 0.3
"""Seconds by which the end of a connection may overlap with the next connection."""
_ROUNDS: Final = 10
"""Rounds of the event loop to wait until the end of a connection is noticed."""


class PingCounter:
    """Counts the pings in the bytes of an HTTP/2 client, without the answers to pings."""

    def __init__(self) -> None:
        self.times: list[float] = []
        """Times of the pings, in seconds on the monotonic clock."""
        self._skip = len(_PREFACE)
        self._header = b""

    def feed(self, data: bytes) -> None:
        """Process the next bytes."""
        while data:
            if self._skip:
                skipped = min(self._skip, len(data))
                self._skip -= skipped
                data = data[skipped:]
                continue
            missing = _FRAME_HEADER - len(self._header)
            self._header += data[:missing]
            data = data[missing:]
            if len(self._header) == _FRAME_HEADER:
                self._skip = int.from_bytes(self._header[:3], "big")
                if self._header[3] == _PING and not self._header[4] & _ACK:
                    self.times.append(time.monotonic())
                self._header = b""


class Connection:
    """A connection from the program, forwarded to the referee."""

    def __init__(self, program: asyncio.StreamWriter) -> None:
        self.program = program
        self.referee: asyncio.StreamWriter | None = None
        self.lost = False
        """True if all further bytes are dropped, in both directions."""
        self.closed = asyncio.Event()
        """Set once the program has closed its side."""
        self.pings = PingCounter()

    def abort(self) -> None:
        """Break the connection immediately."""
        for writer in (self.program, self.referee):
            if writer is not None:
                writer.transport.abort()
        self.closed.set()


class Proxy:
    """Listens at its own address, and forwards connections to a Unix socket.

    - `connections`: all connections so far, in order
    - `overlapped`: True if a connection was opened while an earlier one was still open
    """

    def __init__(self, target: Path, socket: Path | None) -> None:
        """Forward to `target`; listen at `socket` or, if it is None, on a TCP port."""
        self._target = target
        self._socket = socket
        self._port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections: list[Connection] = []
        self.overlapped = False

    @property
    def port(self) -> int:
        """The TCP port; 0 if the proxy listens at a Unix socket."""
        return self._port

    async def listen(self) -> None:
        """Listen at any free port the first time, and later at the same port again."""
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._serve, self._socket)
            return
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self._port, reuse_address=True
        )
        self._port = self._server.sockets[0].getsockname()[1]

    def stop_listening(self) -> None:
        """Refuse further connections."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)

    def break_connections(self) -> None:
        """Break all connections immediately."""
        for connection in self.connections:
            connection.abort()

    def lose_connections(self) -> None:
        """Drop all further bytes of the open connections without closing them."""
        for connection in self.connections:
            connection.lost = True

    def pings_since(self, began: float) -> int:
        """Return how many pings the program has sent since `began` on the monotonic clock."""
        return sum(at >= began for one in self.connections for at in one.pings.times)

    async def close(self) -> None:
        self.stop_listening()
        self.break_connections()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(writer)
        earlier = [one for one in self.connections if not one.lost]
        self.connections.append(connection)
        try:
            if earlier and not earlier[-1].closed.is_set():
                # A connection that was closed just before this one may be noticed just after it.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(earlier[-1].closed.wait(), _NOTICED_S)
                for _ in range(_ROUNDS):  # if this process was busy, the end is only read now
                    await asyncio.sleep(0)
                self.overlapped |= not earlier[-1].closed.is_set()
            await self._forward_both(connection, reader)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            connection.abort()
            self._tasks.discard(task)

    async def _forward_both(self, connection: Connection, reader: asyncio.StreamReader) -> None:
        from_referee, connection.referee = await asyncio.open_unix_connection(self._target)
        back = asyncio.create_task(_forward_back(connection, from_referee))
        try:
            while data := await reader.read(_READ):
                connection.pings.feed(data)
                if not connection.lost:
                    connection.referee.write(data)
                    await connection.referee.drain()
        finally:
            connection.closed.set()
            back.cancel()


async def _forward_back(connection: Connection, from_referee: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):  # a referee that leaves bytes unread breaks its connection
        while data := await from_referee.read(_READ):
            if not connection.lost:
                connection.program.write(data)
                await connection.program.drain()
    if not connection.lost:
        connection.program.close()
