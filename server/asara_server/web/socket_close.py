"""How a WebSocket ends: the status of a gRPC call, as a close code with a reason."""

from typing import Final

import grpc
from starlette.websockets import WebSocket

from asara_server.referee.stream_errors import StreamError

_CLOSE: Final = 4000
"""Close code of status OK; the number of another status is added."""
_REASON_BYTES: Final = 123
"""Bytes that a close frame leaves for its reason."""


async def close(socket: WebSocket, code: grpc.StatusCode, reason: str, detail: str) -> None:
    """Close a WebSocket with a status, `asara-reason` for programs and a text for people."""
    number: int = code.value[0]
    text = ": ".join(filter(None, (reason, detail)))
    cut = text.encode()[:_REASON_BYTES].decode(errors="ignore")
    await socket.close(_CLOSE + number, cut)


async def close_with_error(socket: WebSocket, error: StreamError) -> None:
    """Close a WebSocket with the status that a gRPC call would end with."""
    await close(socket, error.kind.code, error.kind.reason, error.detail)
