"""One stream to the referee, using grpc.aio or blocking gRPC: a request in, a response out."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import signal
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import grpc

from asara.v1.play_pb2 import PlayRequest

if TYPE_CHECKING:
    from queue import SimpleQueue

_PLAY = "/asara.v1.PlayService/Play"

_KEEPALIVE_MS = 20_000
_LARGEST_RESPONSE = 64 * 2**20  # bytes

_CHANNEL_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),  # each attempt really connects; we time the pauses
    ("grpc.enable_http_proxy", 0),  # http_proxy is often set although the referee is local
    ("grpc.max_receive_message_length", _LARGEST_RESPONSE),
)
# A connection that is lost silently, as between machines, is detected within 40 s. On a Unix socket
# none is lost silently, and a referee that is stopped for a while keeps its bots.
_KEEPALIVE_OPTIONS = (
    ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.ping_timeout_ms", _KEEPALIVE_MS),
)

_WRITE_ERRORS = (grpc.aio.InternalError, grpc.RpcError, asyncio.InvalidStateError)


class Stream(Protocol):
    """A stream; leaving its context closes the connection."""

    def __enter__(self) -> Stream: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None: ...

    def exchange(self, request: PlayRequest | None) -> bytes | None:
        """Send a request, if given, and return the next response as received.

        Returns None if the referee has ended the stream. Raises grpc.RpcError if the stream broke.
        """


def open_stream(address: str, credentials: grpc.ChannelCredentials | None) -> Stream:
    """Open a stream on a new connection.

    grpc.aio takes a third less processor time per decision, because no message passes between
    Python threads. It needs a thread without a running event loop. If several threads have loops,
    grpc.aio wakes all of them whenever one receives something, so only the main thread uses
    grpc.aio.
    """
    if threading.current_thread() is threading.main_thread() and not _loop_runs():
        return _LoopStream(address, credentials)
    return BlockingStream(address, credentials)


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_idle_loops: list[asyncio.AbstractEventLoop] = []
"""Loops without a stream. They stay open, because grpc.aio may still report a channel's closing."""


def _take_loop() -> asyncio.AbstractEventLoop:
    if _idle_loops:
        return _idle_loops.pop()
    loop = asyncio.SelectorEventLoop()  # on Windows, gRPC would miss the end of the usual kind
    atexit.register(loop.close)
    return loop


class _LoopStream:
    """A grpc.aio stream whose event loop runs only while the client waits for a response.

    The author's code therefore runs outside this loop and may use its own event loops.
    """

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None) -> None:
        self._loop = _take_loop()
        self._request: PlayRequest | None = None
        self._response = b""
        self._closed = False
        self._waiting = self._interrupted = False
        self._task = self._loop.create_task(self._exchange_all(address, credentials))
        self._task.add_done_callback(self._stop)
        # gRPC's code may swallow an interrupt that is raised inside it.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._closed = True
        tasks = asyncio.all_tasks(self._loop)  # tasks of this stream and of gRPC
        for task in tasks:
            task.cancel()
        ended = asyncio.gather(self._task, *tasks, return_exceptions=True)  # asyncio prints nothing
        self._loop.run_until_complete(ended)
        _idle_loops.append(self._loop)
        if signal.getsignal(signal.SIGINT) == self._interrupt:  # ours, not the author's
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._interrupted and kind is None:
            raise KeyboardInterrupt

    def exchange(self, request: PlayRequest | None) -> bytes | None:
        self._request = request
        self._waiting = True
        self._loop.run_forever()
        self._waiting = False
        if self._interrupted:
            raise KeyboardInterrupt
        if not self._task.done():
            return self._response
        try:
            self._task.result()
        except grpc.RpcError as error:
            error.__traceback__ = None  # whose frames keep the call, which keeps the connection
            raise
        return None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._waiting and not self._closed:  # the author's code may catch it
            signal.default_int_handler(number, frame)
        self._interrupted = True
        if not self._closed:
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self, _task: asyncio.Task[None] | None = None) -> None:
        if not self._closed:  # a callback that is still due would stop the closing
            self._loop.stop()

    async def _exchange_all(
        self, address: str, credentials: grpc.ChannelCredentials | None
    ) -> None:
        options = _options(address)
        if credentials is None:
            connection = grpc.aio.insecure_channel(address, options=options)
        else:
            connection = grpc.aio.secure_channel(address, credentials, options=options)
        async with connection as channel:
            # without a deserializer: the digest needs the bytes as received
            play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(_PLAY)
            call: Any = play()
            await call.wait_for_connection()
            # `call.write` replaces the status of a call that has ended by an error of its own, and
            # what the referee sent before, such as the result, could not be read any more.
            inner = getattr(call, "_cython_call", None)
            send = getattr(inner, "send_serialized_message", call.write)
            while True:
                if self._request is not None:
                    message = self._request.SerializeToString()
                    with contextlib.suppress(*_WRITE_ERRORS):  # `read` returns the status
                        await send(message)
                response = await call.read()
                if response is grpc.aio.EOF:
                    return
                self._response = response
                self._loop.stop()
                await asyncio.sleep(0)  # the loop stops here


class BlockingStream:
    """A blocking gRPC stream."""

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None) -> None:
        from queue import SimpleQueue

        options = _options(address)
        if credentials is None:
            self._channel = grpc.insecure_channel(address, options=options)
        else:
            self._channel = grpc.secure_channel(address, credentials, options=options)
        play: grpc.StreamStreamMultiCallable[PlayRequest, bytes] = self._channel.stream_stream(
            _PLAY, request_serializer=PlayRequest.SerializeToString
        )
        self._requests: SimpleQueue[PlayRequest | None] = SimpleQueue()
        self._responses = play(iter(self._requests.get, None))

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._requests.put(None)  # ends gRPC's sending thread
        # A call that is left to the interpreter's end takes a lock there, which a thread that has
        # been stopped may hold: the process would hang.
        del self._responses
        self._channel.close()

    def send(self, request: PlayRequest) -> None:
        self._requests.put(request)

    def exchange(self, request: PlayRequest | None) -> bytes | None:
        if request is not None:
            self.send(request)
        try:
            return next(self._responses, None)
        except grpc.RpcError as error:
            error.__traceback__ = None  # whose frames keep the call, which is the error
            raise


def _options(address: str) -> tuple[tuple[str, int], ...]:
    remote = not address.startswith("unix:")
    return (*_CHANNEL_OPTIONS, *(_KEEPALIVE_OPTIONS if remote else ()))
