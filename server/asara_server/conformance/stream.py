"""The referee's side of one stream: receives requests, sends bytes, and decides how it ends."""

import asyncio
import time
from collections import deque
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from asara.v1.play_pb2 import PlayRequest
from asara_server.conformance.failure import CaseFailed

Context = grpc.aio.ServicerContext[bytes, bytes]


class Stream:
    """A stream that the program has opened.

    - `opened_at`, `ended_at`: times on the monotonic clock
    - `closed`: set once the stream is over, whichever side ended it
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._requests: deque[PlayRequest] = deque()
        self._arrived = asyncio.Event()
        self._ended = asyncio.Event()
        self._unreadable = False
        self.closed = asyncio.Event()
        self.opened_at = time.monotonic()
        self.ended_at: float | None = None

    async def serve(self) -> None:
        """Read requests until the stream ends; gRPC cancels this when the program breaks it."""
        reading = asyncio.create_task(self._read())
        try:
            await self._ended.wait()
        finally:
            reading.cancel()
            self.ended_at = self.ended_at or time.monotonic()
            self.closed.set()
            self._arrived.set()

    async def send(self, message: bytes) -> None:
        """Send a serialized PlayResponse; raise CaseFailed if the program has disconnected."""
        if self.closed.is_set():
            raise CaseFailed("an open stream", "the program closed it", closed=True)
        try:
            await self._context.write(message)
        except Exception:  # noqa: BLE001 - gRPC has private classes for a stream that broke
            raise CaseFailed("an open stream", "the program closed it", closed=True) from None

    async def request(self, kind: str, expected: str, seconds: float) -> Any:
        """Return the next request; raise CaseFailed if it is of another kind or late."""
        request = await self._next(expected, seconds)
        found = request.WhichOneof("request")
        if found != kind:
            raise CaseFailed(expected, described(request))
        return getattr(request, kind)

    async def silent(self, seconds: float) -> None:
        """Wait this many seconds; raise CaseFailed if a request arrives or the stream ends."""
        try:
            request = await self._next("", seconds)
        except TimeoutError:
            return
        raise CaseFailed(f"no request for {seconds:g} s", described(request))

    def check_empty(self) -> None:
        """Raise CaseFailed if a request has arrived that no step has taken."""
        if self._requests:
            raise CaseFailed("no further request", described(self._requests[0]))

    def end(self, status: grpc.StatusCode, reason: str, detail: str) -> None:
        """End the stream with a status."""
        if status is not grpc.StatusCode.OK:
            self._context.set_code(status)
            self._context.set_details(detail)
        if reason:
            self._context.set_trailing_metadata((("asara-reason", reason),))
        self.ended_at = time.monotonic()
        self._ended.set()

    async def _next(self, expected: str, seconds: float) -> PlayRequest:
        """Return the next request; raise TimeoutError if none is expected and none arrives."""
        try:
            async with asyncio.timeout(seconds):
                while not self._requests:
                    self._arrived.clear()
                    if self._unreadable:
                        raise CaseFailed(expected or "no request", "bytes that are no PlayRequest")
                    if self.closed.is_set():
                        closed = "the program closed the stream"
                        raise CaseFailed(expected or "an open stream", closed, closed=True)
                    await self._arrived.wait()
        except TimeoutError:
            if not expected:
                raise
            raise CaseFailed(expected, f"nothing for {seconds:g} s") from None
        return self._requests.popleft()

    async def _read(self) -> None:
        while True:
            data: Any = await self._context.read()
            if data is grpc.aio.EOF:
                return
            try:
                self._requests.append(PlayRequest.FromString(data))
            except DecodeError:
                self._unreadable = True
            self._arrived.set()


def described(request: PlayRequest) -> str:
    """Return a description of a request, in words."""
    match request.WhichOneof("request"):
        case "hello":
            return "a Hello"
        case "reply":
            reply = request.reply
            return f"a Reply to decision {reply.decision_id} of {reply.match_id!r}"
        case "nonce":
            return f"a Nonce for {request.nonce.match_id!r}"
    return "an empty request"
