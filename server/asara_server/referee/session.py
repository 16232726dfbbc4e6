"""One stream of a bot: what it sends is read and counted here, what it is sent waits here.

A coroutine reads the stream and handles each request at once. What the request causes for its own
stream is written by the same coroutine; what other streams cause is written by a second task, which
sleeps while there is nothing to write. That costs least: most answers of the referee go to the
stream that just asked for them.
"""

import asyncio
import contextlib
from collections import deque
from typing import Any, Final, NamedTuple, Protocol

import grpc
from google.protobuf.message import DecodeError

from asara.v1.play_pb2 import Hello, PlayRequest
from asara_codec.decode import PlainReply, reply_from_bytes
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stream_errors import VIOLATIONS, Context, Ending, StreamError, end_call

PROTOCOL_VERSION: Final = 1

#: Seconds that a stream has to take the last words before it is given up.
_LAST_WORDS_S: Final = 1.0


class Greeting(NamedTuple):
    """A Hello, checked as far as one stream can."""

    token: str
    bot_name: str
    language: str
    max_matches: int
    live_updates: bool
    omit_public_view: bool
    last_events: dict[str, int]
    """By match, the last event received before a break."""


class Authenticator(Protocol):
    """An address where only the bots come in that were admitted for it."""

    def identify(self, token: str) -> str | None:
        """What the bot is known by that presents this token; None where there is none."""

    def changed(self) -> None:
        """A bot that this door is for has dialled in, or its stream is over."""


class Handler(Protocol):
    """What a session needs of the referee. Nothing here waits."""

    def dial_in(self, session: "Session", greeting: Greeting) -> None:
        """A bot said hello; raises StreamError where it may not come in."""

    def reply(self, session: "Session", reply: PlainReply) -> None:
        """Handle a reply; raises StreamError for a violation."""

    def take(self, session: "Session", request: PlayRequest) -> None:
        """Handle any other request after Hello; raises StreamError for a violation."""

    def violate(self, session: "Session", ended: StreamError) -> None:
        """The bot broke the protocol or a limit; `hang_up` follows."""

    def fail(self, session: "Session", error: Exception) -> None:
        """The referee failed in handling a request; `hang_up` follows."""

    def hang_up(self, session: "Session") -> None:
        """The stream is over, for whatever reason."""


class Session:
    """A stream from its first byte to its end."""

    def __init__(
        self,
        context: Context,
        handler: Handler,
        limits: LimitSettings,
        door: Authenticator | None = None,
    ) -> None:
        #: Where it came in; None for the referee's own addresses.
        self.door = door
        #: Set once nothing more is handled or sent.
        self.over = False
        #: Replies that answered no open decision.
        self.ignored = 0
        self._context = context
        self._handler = handler
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._outbox: deque[bytes] = deque()
        self._outbox_bytes = 0
        #: Whether one of the two tasks is writing, or about to.
        self._writing = False
        self._write_began_s = 0.0
        self._wake: asyncio.Future[None] | None = None
        self._written: asyncio.Future[None] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._reading = False
        self._ended: StreamError | None = None

    # For the referee

    def put(self, message: bytes) -> None:
        """Send a response as soon as the stream takes it; never waits."""
        if self.over:
            return
        self._outbox.append(message)
        self._outbox_bytes += len(message)
        if self._overfull():
            self._overflow()
        elif not self._writing:
            self._wake_writer()

    def end(self, ended: StreamError) -> None:
        """End the stream with a status; what waits unwritten is dropped."""
        if not self.over:
            self._ended = ended
            self._outbox.clear()
            self._interrupt()

    def say_goodbye(self, message: bytes) -> None:
        """Send a last response, and end the stream in good order."""
        if not self.over:
            self._outbox.append(message)
            self._interrupt()

    def _overfull(self) -> bool:
        """Whether the bot does not read; many responses at once are no fault of its own."""
        limits = self._limits
        if self._outbox_bytes > limits.unread_bytes:
            return True
        if len(self._outbox) <= limits.responses_unread or not self._writing:
            return False
        return self._loop.time() - self._write_began_s > limits.unread_patience_s

    def _overflow(self) -> None:
        limits = self._limits
        detail = (
            f"{len(self._outbox)} responses ({self._outbox_bytes} bytes) wait unread; "
            f"{limits.responses_unread} ({limits.unread_bytes} bytes) may"
        )
        self.end(StreamError(Ending.RESPONSES_UNREAD, detail))

    def _interrupt(self) -> None:
        """Bring the reading task to its end, from whichever task this is."""
        self.over = True
        task = self._task
        if task is None or task is asyncio.current_task():
            return
        if self._reading or self._ended is not None:
            task.cancel()
        else:  # it waits for the bot to take a response, and may go on to the last one
            self._loop.call_later(_LAST_WORDS_S, task.cancel)

    # The stream

    async def run(self) -> None:
        """Serve the stream to its end; raises what gRPC wants to see raised."""
        self._task = asyncio.current_task()
        writer = self._loop.create_task(self._write_for_others())
        try:
            await self._serve_to_the_end()
            await self._say_last_words()
        finally:
            writer.cancel()

    async def _serve_to_the_end(self) -> None:
        try:
            await self._serve()
        except asyncio.CancelledError:
            if not self.over:  # the bot has gone
                raise
            assert self._task is not None
            self._task.uncancel()  # it was the referee that ended the reading
        except StreamError as ended:
            self._ended = self._ended or ended
        except grpc.aio.BaseError:
            pass  # the stream broke while it was written
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this stream only
            self._handler.fail(self, error)
            self._ended = StreamError(Ending.REFEREE, "the referee failed; see its log")
        finally:
            self.over = True
            if self._ended is not None and self._ended.ending in VIOLATIONS:
                self._handler.violate(self, self._ended)
            self._handler.hang_up(self)

    async def _say_last_words(self) -> None:
        try:
            async with asyncio.timeout(_LAST_WORDS_S):
                if self._ended is not None:
                    await end_call(self._context, self._ended)
                elif self._outbox:
                    if self._writing:
                        self._written = self._loop.create_future()
                        await self._written
                    await self._flush()
        except grpc.aio.AbortError:
            raise
        except (TimeoutError, grpc.aio.BaseError):
            pass  # the bot does not read, or has gone

    async def _serve(self) -> None:
        await self._open()
        await self._greet()
        read = self._context.read
        while not self.over:
            self._reading = True
            data = await read()
            self._reading = False
            if not isinstance(data, bytes):
                return
            mine = not self._writing
            self._writing = True
            try:
                self._handle(data)
            finally:
                if mine:
                    self._writing = False
            if mine and self._outbox:
                await self._flush()

    async def _open(self) -> None:
        # gRPC would send these headers with the first response, and again with a status that comes
        # while that response is written: it refuses them twice, and the stream would never end.
        with contextlib.suppress(grpc.aio.BaseError):  # the bot has gone; reading tells
            await self._context.send_initial_metadata(())

    async def _greet(self) -> None:
        self._reading = True
        try:
            data = await asyncio.wait_for(self._context.read(), self._limits.hello_s)
        except TimeoutError:
            late = f"no Hello within {self._limits.hello_s:g} s after the stream was opened"
            raise StreamError(Ending.HELLO_FIRST, late) from None
        finally:
            self._reading = False
        if not isinstance(data, bytes):
            raise StreamError(Ending.HELLO_FIRST, "the stream ended before Hello")
        request = self._parse(data)
        if request.WhichOneof("request") != "hello":
            raise StreamError(Ending.HELLO_FIRST, "the first request of a stream must be Hello")
        self._handler.dial_in(self, _check_hello(request.hello))

    def _handle(self, data: bytes) -> None:
        reply = reply_from_bytes(data) if len(data) <= self._limits.request_bytes else None
        if reply is not None:
            self._handler.reply(self, reply)
        else:
            self._handler.take(self, self._parse(data))

    def _parse(self, data: bytes) -> PlayRequest:
        if len(data) > self._limits.request_bytes:
            raise StreamError(
                Ending.REQUEST_TOO_LARGE,
                f"a request of {len(data)} bytes; {self._limits.request_bytes} are allowed",
            )
        try:
            return PlayRequest.FromString(data)
        except DecodeError:
            raise StreamError(
                Ending.UNREADABLE_REQUEST, "a request is no serialized asara.v1.PlayRequest"
            ) from None

    # Writing: `_writing` says that a task has taken it on, so that there is only one at a time

    async def _flush(self) -> None:
        self._writing = True
        write = self._context.write
        now = self._loop.time
        outbox = self._outbox
        try:
            while outbox:
                message = outbox.popleft()
                self._write_began_s = now()
                await write(message)
                self._outbox_bytes -= len(message)
        finally:
            self._writing = False
            if self._written is not None and not self._written.done():
                self._written.set_result(None)

    async def _write_for_others(self) -> None:
        try:
            while True:
                if self._outbox and not self._writing:
                    await self._flush()
                else:
                    self._wake = self._loop.create_future()
                    await self._wake
        except grpc.aio.BaseError:
            pass  # the stream is over; the reading task hears of it too

    def _wake_writer(self) -> None:
        wake = self._wake
        if wake is not None and not wake.done():
            wake.set_result(None)


def _check_hello(hello: Hello) -> Greeting:
    if hello.protocol_version != PROTOCOL_VERSION:
        raise StreamError(
            Ending.PROTOCOL_VERSION,
            f"Hello says protocol version {hello.protocol_version}; "
            f"this referee speaks version {PROTOCOL_VERSION}",
        )
    return Greeting(
        token=hello.token,
        bot_name=hello.bot_name,
        language=hello.language,
        max_matches=max(hello.max_matches, 1),
        live_updates=hello.live_updates,
        omit_public_view=hello.omit_public_view,
        last_events={last.match_id: last.sequence for last in hello.last_events},
    )
