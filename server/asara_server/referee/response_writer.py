"""The responses of one stream: a queue, and a task that writes while the queue is not empty."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

import grpc

from asara_server.match.spec import SECOND_US
from asara_server.referee.limits import LimitSettings


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
