"""The responses of one stream: a queue, and one write at a time.

gRPC's `write` is a coroutine that hands the message over in its first step and then awaits a
future. A task would need two more turns of the event loop for it. Here the first step is taken at
once, and the future's callback takes the next.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

import grpc

from asara_server.match.spec import SECOND_US
from asara_server.referee.limits import LimitSettings

_BROKEN: Final = (grpc.aio.BaseError, asyncio.CancelledError)


class ResponseWriter:
    """Writes responses in order. It never waits: what the bot does not read stays in the queue."""

    def __init__(
        self,
        write: Callable[[bytes], Coroutine[Any, Any, None]],
        limits: LimitSettings,
        now_us: Callable[[], int],
    ) -> None:
        """`write` is gRPC's; `now_us` reads the clock of the referee."""
        self._write = write
        self._now_us = now_us
        self._most_bytes = limits.unread_bytes
        self._most_responses = limits.responses_unread
        self._patience_us = round(limits.unread_patience_s * SECOND_US)
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0  # those of the message that is being written included
        self._began_us = 0
        # The write in progress, the size of its message, and the future that it awaits.
        self._writing: Coroutine[Any, Any, None] | None = None
        self._size = 0
        self._awaited: asyncio.Future[None] | None = None
        self._broken = False
        self._drained: asyncio.Future[None] | None = None

    def add(self, message: bytes) -> None:
        """Queue a response; it is written as soon as the stream takes it."""
        if self._broken:
            return
        self._queue.append(message)
        self._queued_bytes += len(message)
        if self._writing is None:
            self._write_next()

    def overfull(self) -> str:
        """Return how much waits if the bot does not read, or ""; a burst is no fault of the bot."""
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
        """Forget the responses that are not being written."""
        self._queue.clear()
        self._queued_bytes = 0 if self._writing is None else self._size

    def drained(self) -> "asyncio.Future[None]":
        """Return a future that is done once all responses are written, or the stream is broken."""
        self._drained = asyncio.get_running_loop().create_future()
        if self._writing is None:
            self._drained.set_result(None)
        return self._drained

    def cancel(self) -> None:
        """Write nothing more: the call is over."""
        self._broken = True
        self._queue.clear()
        if self._awaited is not None:
            self._awaited.cancel()

    def _write_next(self) -> None:
        """Write until gRPC takes time for a response."""
        while self._queue and self._writing is None:
            message = self._queue.popleft()
            self._size = len(message)
            self._began_us = self._now_us()
            self._writing = self._write(message)
            self._step()
        if self._writing is None and self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def _step(self) -> None:
        """Take the next step of the write in progress."""
        assert self._writing is not None
        try:
            self._awaited = self._writing.send(None)
            self._awaited.add_done_callback(self._resume)
            return
        except StopIteration:
            pass
        except _BROKEN:  # the stream is over; its reader notices it too
            self._broken = True
            self._queue.clear()
        self._writing = self._awaited = None
        self._queued_bytes -= self._size

    def _resume(self, _: "asyncio.Future[None]") -> None:
        self._step()
        self._write_next()
