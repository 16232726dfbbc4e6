"""One stream of a bot: requests are read and handled here, and responses are queued and written.

One coroutine reads the stream and handles each request immediately. A `ResponseWriter` writes. The
address of the stream provides a token check, and facts about the connection.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import grpc
from google.protobuf.message import DecodeError

from asara.v1.play_pb2 import Hello, PlayRequest
from asara_codec.decode import PlainReply, reply_from_bytes
from asara_server.match.spec import SECOND_US
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stall_clock import StallClock
from asara_server.referee.stream_errors import (
    VIOLATIONS,
    Context,
    ErrorKind,
    StreamError,
    end_call,
)

PROTOCOL_VERSION: Final = 1

_CLOSE_S: Final = 1.0
"""Seconds within which a stream must take its last response."""


class Authenticator(Protocol):
    """Checks the tokens presented at one address, and keeps track of who is connected there.

    A bot registered with an authenticator can connect at that address only.
    """

    def authenticate(self, token: str) -> str | None:
        """Return the key under which the bot is registered; None if the token is invalid."""

    def connections_changed(self) -> None:
        """Handle the connection or disconnection of one of this authenticator's bots."""


class BotSocket:
    """The referee's end of a bot's connection, and what the system reports about it.

    gRPC reads the sockets in its own threads and does not report when. The event loop receives each
    request slightly later. An address whose connections are not known uses this class itself.
    """

    def admit(self) -> None:
        """Note that the bot of a stream on this connection has presented a valid token."""

    def release(self) -> None:
        """Note that an admitted stream has ended."""

    def unread_bytes(self) -> int | None:
        """Return the number of bytes that have arrived but were not read; None if unknown."""
        return None

    def last_arrival_us(self) -> int | None:
        """Return when the last bytes arrived, by the system's monotonic clock; None if unknown.

        All requests received before this call had arrived by then.
        """
        return None


class SessionHandler(Protocol):
    """Reacts to what happens on a stream. None of the methods waits."""

    def on_hello(self, session: "Session", hello: Hello) -> None:
        """Admit the bot, which speaks this version of the protocol; raise StreamError to refuse."""

    def on_reply(self, session: "Session", reply: PlainReply) -> None:
        """Handle a reply; raise StreamError for a violation."""

    def on_request(self, session: "Session", request: PlayRequest) -> None:
        """Handle a request other than Hello or a reply; raise StreamError for a violation."""

    def on_violation(self, session: "Session", error: StreamError) -> None:
        """Handle a violation of the protocol or a limit; `on_closed` is called afterwards."""

    def on_failure(self, session: "Session", error: Exception) -> None:
        """Handle a failure of the referee during a request; `on_closed` is called afterwards."""

    def on_closed(self, session: "Session") -> None:
        """Handle the end of the stream, whatever its cause."""


class Session:
    """One stream, from its opening to its end."""

    def __init__(
        self,
        context: Context,
        handler: SessionHandler,
        limits: LimitSettings,
        clock: StallClock,
        authenticator: Authenticator | None = None,
        socket: BotSocket | None = None,
    ) -> None:
        """`authenticator` belongs to the address at which the stream was opened; `socket` is the
        bot's connection, if known.
        """
        self.authenticator = authenticator
        self.socket = socket or BotSocket()
        self.before_send: Callable[[], None] | None = None
        """Called before every response, if not None."""
        self.closed = False
        """True once no more requests are handled and no more responses are queued."""
        self.request_bytes = 0
        """Size of the request that is being handled."""
        self._context = context
        self._handler = handler
        self._limits = limits
        self._clock = clock
        self._responses = ResponseWriter(context.write, limits, clock.now_us)
        self._reader: asyncio.Task[Any] | None = None
        self._error: StreamError | None = None

    # For the referee

    def send(self, message: bytes) -> None:
        """Queue a response, which is written as soon as the stream takes it."""
        if self.closed:
            return
        if self.before_send is not None:
            self.before_send()
        self._responses.add(message)
        detail = self._responses.overfull()
        if detail:
            self.abort(StreamError(ErrorKind.RESPONSES_UNREAD, detail))

    def abort(self, error: StreamError) -> None:
        """End the stream with the status of an error; drop queued responses."""
        if not self.closed:
            self._error = error
            self._responses.drop()
            self._stop_reading()

    def close(self, goodbye: bytes) -> None:
        """Send a last response and end the stream with status OK."""
        if not self.closed:
            if self.before_send is not None:
                self.before_send()
            self._responses.add(goodbye)
            self._stop_reading()

    def _stop_reading(self) -> None:
        """Make the reading task end; this may be called from any task."""
        self.closed = True
        reader = self._reader
        if reader is not None and reader is not asyncio.current_task():
            reader.cancel()

    # The stream

    async def run(self) -> None:
        """Serve the stream to its end, and set the status of the call."""
        self._reader = asyncio.current_task()
        try:
            with self._clock.held():
                await self._serve()
            await self._end_call()
        finally:
            self._responses.cancel()

    async def _serve(self) -> None:
        try:
            await self._read_requests()
        except asyncio.CancelledError:
            if not self.closed:  # the bot has disconnected
                raise
            assert self._reader is not None
            self._reader.uncancel()  # `_stop_reading` cancelled it
        except StreamError as error:
            self._error = self._error or error
        except grpc.aio.BaseError:
            pass  # the server has stopped
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this stream only
            self._handler.on_failure(self, error)
            self._error = StreamError(ErrorKind.REFEREE, "the referee failed; see its log")
        finally:
            self.closed = True
            if self._error is not None and self._error.kind in VIOLATIONS:
                self._handler.on_violation(self, self._error)
            self._handler.on_closed(self)

    async def _end_call(self) -> None:
        """Write the queued responses, or give the call the status of the error."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                if self._error is not None:
                    end_call(self._context, self._error)
                else:
                    await self._responses.drained()
        except (TimeoutError, grpc.aio.BaseError):
            pass  # the bot does not read, or has disconnected

    async def _read_requests(self) -> None:
        await self._send_headers()
        await self._read_hello()
        read = self._context.read
        while not self.closed:
            data = await read()
            if not isinstance(data, bytes):
                return
            self._handle(data)

    async def _send_headers(self) -> None:
        # Otherwise gRPC sends the headers with the first response. A status that is set while the
        # response is being written would send them again. gRPC refuses that, and the stream would
        # never end.
        with contextlib.suppress(grpc.aio.BaseError):  # disconnected; the next read reports it
            await self._context.send_initial_metadata(())

    async def _read_hello(self) -> None:
        limit_s = self._limits.hello_s
        detail = f"no Hello within {limit_s:g} s after the stream was opened"
        late = StreamError(ErrorKind.HELLO_FIRST, detail)
        timer = self._clock.call_later(limit_s, self.abort, late)
        try:
            data = await self._context.read()
        finally:
            timer.cancel()
        if not isinstance(data, bytes):
            raise StreamError(ErrorKind.HELLO_FIRST, "the stream ended before Hello")
        request = self._parse(data)
        if request.WhichOneof("request") != "hello":
            raise StreamError(ErrorKind.HELLO_FIRST, "the first request of a stream must be Hello")
        hello = request.hello
        if hello.protocol_version != PROTOCOL_VERSION:
            raise StreamError(
                ErrorKind.PROTOCOL_VERSION,
                f"Hello names protocol version {hello.protocol_version}; "
                f"this referee speaks version {PROTOCOL_VERSION}",
            )
        self._handler.on_hello(self, hello)

    def _handle(self, data: bytes) -> None:
        self.request_bytes = len(data)
        reply = reply_from_bytes(data) if len(data) <= self._limits.request_bytes else None
        if reply is not None:
            self._handler.on_reply(self, reply)
        else:
            self._handler.on_request(self, self._parse(data))

    def _parse(self, data: bytes) -> PlayRequest:
        if len(data) > self._limits.request_bytes:
            raise StreamError(
                ErrorKind.REQUEST_TOO_LARGE,
                f"a request of {len(data)} bytes; {self._limits.request_bytes} are allowed",
            )
        try:
            return PlayRequest.FromString(data)
        except DecodeError:
            raise StreamError(
                ErrorKind.UNREADABLE_REQUEST, "a request is not a serialized asara.v1.PlayRequest"
            ) from None


class ResponseWriter:
    """Writes responses in order. It never waits: responses that a bot does not read stay queued."""

    def __init__(
        self,
        write: Callable[[bytes], Awaitable[None]],
        limits: LimitSettings,
        now_us: Callable[[], int],
    ) -> None:
        """`write` is gRPC's write method; `now_us` reads the referee's clock."""
        self._write = write
        self._now_us = now_us
        self._loop = asyncio.get_running_loop()  # to look it up again takes a system call
        self._most_bytes = limits.unread_bytes
        self._most_responses = limits.responses_unread
        self._patience_us = round(limits.unread_patience_s * SECOND_US)
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0  # including the message being written
        self._began_us = 0
        self._size = 0  # of the message being written
        self._writing: asyncio.Task[None] | None = None
        self._broken = False
        self._drained: asyncio.Future[None] | None = None

    def add(self, message: bytes) -> None:
        """Queue a response, which is written as soon as the stream takes it."""
        if self._broken:
            return
        self._queue.append(message)
        self._queued_bytes += len(message)
        if self._writing is None:
            self._began_us = self._now_us()
            self._writing = self._loop.create_task(self._write_queue())

    def overfull(self) -> str:
        """Return how much is queued if the bot does not read, or ""; short bursts are allowed."""
        if self._writing is None:
            return ""
        if self._queued_bytes <= self._most_bytes:
            if len(self._queue) <= self._most_responses:
                return ""
            if self._now_us() - self._began_us <= self._patience_us:
                return ""
        return (
            f"{len(self._queue)} responses ({self._queued_bytes} bytes) wait unread; "
            f"{self._most_responses} ({self._most_bytes} bytes) may"
        )

    def drop(self) -> None:
        """Drop all queued responses except the one being written."""
        self._queue.clear()
        self._queued_bytes = self._size

    def drained(self) -> "asyncio.Future[None]":
        """Return a future that is done once all responses are written, or the stream is broken."""
        self._drained = self._loop.create_future()
        if self._writing is None:
            self._drained.set_result(None)
        return self._drained

    def cancel(self) -> None:
        """Write nothing more: the call is over."""
        self._broken = True
        self._queue.clear()
        if self._writing is not None:
            self._writing.cancel()

    async def _write_queue(self) -> None:
        try:
            while self._queue:
                message = self._queue.popleft()
                self._size = len(message)
                self._began_us = self._now_us()
                await self._write(message)
                self._queued_bytes -= self._size
        except grpc.aio.BaseError:  # the stream is over; its reader notices it too
            self._broken = True
            self._queue.clear()
        finally:
            self._size = 0
            self._writing = None
            if self._drained is not None and not self._drained.done():
                self._drained.set_result(None)
