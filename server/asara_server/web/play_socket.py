"""The WebSocket `/ws/play`: a pipe to the referee, for bots and people in a browser.

Every binary message is a PlayRequest or a PlayResponse, as on a stream of `PlayService`, and is
forwarded unchanged. The referee checks all messages, so only limits that it cannot check itself are
enforced here. The status with which the referee ends a stream becomes the close code 4000 plus the
status number, with the reason for programs and the text for people.
"""

import asyncio
from typing import Final

import grpc
from starlette.websockets import WebSocket, WebSocketDisconnect

from asara.v1.play_pb2 import DESCRIPTOR
from asara_server.referee.stream_errors import REASON_KEY, ErrorKind, StreamError
from asara_server.web.responses import close, close_with_error, receive_bytes, receive_first
from asara_server.web.settings import WebSettings

METHOD: Final = f"/{DESCRIPTOR.services_by_name['PlayService'].full_name}/Play"

_LARGEST_RESPONSE: Final = 64 * 1024 * 1024
"""Maximum bytes of a response; a referee sends far less."""
_OPTIONS: Final = (
    # Every WebSocket has a separate connection, as every bot has.
    ("grpc.use_local_subchannel_pool", 1),
    # Messages that a browser does not read wait at the referee, which limits them.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 64 * 1024),
    ("grpc.max_receive_message_length", _LARGEST_RESPONSE),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
)

_EXPECTED: Final = "binary messages, each with a PlayRequest"

_Call = grpc.aio.StreamStreamCall[bytes, bytes]


class PlayPipe:
    """Connects WebSockets of bots and people to the referee; without one, it refuses everybody."""

    def __init__(self, settings: WebSettings) -> None:
        self._address = settings.play_address
        self._limits = settings.limits
        self._open = 0

    async def serve(self, socket: WebSocket) -> None:
        """Forward the messages of a WebSocket until one side ends."""
        await socket.accept()
        if self._address is None:
            await close(socket, grpc.StatusCode.NOT_FOUND, "", "no match is played at this server")
            return
        self._open += 1
        try:
            if self._open > self._limits.play_sockets:
                text = "too many people and bots play here; try again later"
                raise StreamError(ErrorKind.TOO_MANY_STREAMS, text)
            # A WebSocket that sends nothing does not use up a connection to the referee.
            kind, seconds = ErrorKind.HELLO_FIRST, self._limits.hello_s
            first = await receive_first(socket, seconds, _EXPECTED, kind, "Hello")
            async with grpc.aio.insecure_channel(self._address, options=_OPTIONS) as channel:
                call: _Call = channel.stream_stream(METHOD)()
                try:
                    await _forward(socket, call, first)
                finally:
                    call.cancel()
        except StreamError as error:
            await close_with_error(socket, error)
        except WebSocketDisconnect:
            pass
        finally:
            self._open -= 1


async def _forward(socket: WebSocket, call: _Call, first: bytes) -> None:
    """Forward in both directions until one side ends, then end the other side.

    Each direction waits for its receiver before it reads the next message. So a slow side slows
    down the other one, as on a stream without a pipe.
    """
    up = asyncio.create_task(_forward_requests(socket, call, first))
    down = asyncio.create_task(_forward_responses(socket, call))
    try:
        await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
        if not down.done() and _failed_write(up):
            await asyncio.wait((down,))
        if not down.done():
            up.result()
        elif not isinstance(down.exception(), WebSocketDisconnect):
            await _close_as_ended(socket, call)
    finally:
        for task in (up, down):
            task.cancel()
        await asyncio.gather(up, down, return_exceptions=True)


def _failed_write(up: "asyncio.Task[None]") -> bool:
    """Return True if the referee ended the stream while a request was being sent."""
    return up.done() and isinstance(up.exception(), grpc.RpcError | asyncio.InvalidStateError)


async def _forward_requests(socket: WebSocket, call: _Call, first: bytes) -> None:
    request = first
    while True:
        await call.write(request)
        request = await receive_bytes(socket, _EXPECTED)


async def _forward_responses(socket: WebSocket, call: _Call) -> None:
    while isinstance(response := await call.read(), bytes):  # otherwise the stream has ended
        await socket.send_bytes(response)


async def _close_as_ended(socket: WebSocket, call: _Call) -> None:
    """Close a WebSocket with the status with which its stream ended."""
    code = await call.code()
    reasons = [value for key, value in await call.trailing_metadata() or () if key == REASON_KEY]
    if code is grpc.StatusCode.OK:
        await close(socket, code, "", "")
    elif reasons:
        await close(socket, code, _text(reasons[0]), _text(await call.details()))
    else:
        # gRPC's own text contains paths of this machine.
        await close(socket, code, "", "the connection to the referee broke")


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""
