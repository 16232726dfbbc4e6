"""Responses to requests, and the messages and ends of WebSockets.

JSON and files have an ETag, and are compressed if the browser accepts it. A WebSocket ends with the
status of a gRPC call, sent as a close code with a reason.
"""

import asyncio
import gzip
import json
from hashlib import sha256
from typing import Any, Final

import grpc
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from asara_server.referee.stream_errors import ErrorKind, StreamError
from asara_server.text import plain, plain_value

_WORTH_COMPRESSING: Final = 1_024
"""Bytes below which a response is not compressed."""

JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"


class WebError(HTTPException):
    """Raised for a request that cannot be fulfilled; the browser gets the sentence and status."""

    def __str__(self) -> str:
        return self.detail


def error_response(status: int, sentence: str) -> Response:
    """Return `{"error": sentence}` with a status."""
    content = json.dumps({"error": plain(sentence, None)}, ensure_ascii=False)
    headers = {"Cache-Control": "no-store"}
    return Response(content.encode(), status, headers, media_type=JSON)


def json_response(request: Request, value: Any) -> Response:
    """Return a value as JSON. All its texts are made plain, because anybody may have written them.

    If the browser already has this content, the response has status 304 and no content.
    """
    shown = plain_value(value)
    content = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return tagged_response(request, content.encode(), JSON)


def tagged_response(
    request: Request, content: bytes, media_type: str, *, cache: str = "no-cache", status: int = 200
) -> Response:
    """Return content with its ETag; `cache` is the value of the Cache-Control header."""
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": cache, "Vary": "Accept-Encoding"}
    if status == 200 and _matches(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    if len(content) >= _WORTH_COMPRESSING and accepts(request, "gzip", "*"):
        content = gzip.compress(content, 5, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(content, status, headers, media_type=media_type)


def accepts(request: Request, *names: str) -> bool:
    """Return True if the browser accepts a coding; `names` are all that may stand for it."""
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        coding, *parameters = (piece.strip() for piece in part.split(";"))
        if coding in names:
            return not any(parameter in {"q=0", "q=0.0"} for parameter in parameters)
    return False


def _matches(header: str, tag: str) -> bool:
    tags = [one.strip().removeprefix("W/") for one in header.split(",")]
    return tag in tags or tags == ["*"]


_CLOSE: Final = 4000
"""Close code of status OK; for other statuses, the number of the status is added."""
_REASON_BYTES: Final = 123
"""Maximum bytes of the reason in a close frame."""


async def receive_bytes(socket: WebSocket, expected: str) -> bytes:
    """Return the next message; raises WebSocketDisconnect, and StreamError for a text."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    data = message.get("bytes")
    if data is None:
        raise StreamError(ErrorKind.UNREADABLE_REQUEST, f"send {expected}")
    return bytes(data)


async def receive_first(
    socket: WebSocket, seconds: float, expected: str, late: ErrorKind, name: str
) -> bytes:
    """Return the first message, as `receive_bytes` does; raises StreamError if it is late."""
    try:
        async with asyncio.timeout(seconds):
            return await receive_bytes(socket, expected)
    except TimeoutError:
        raise StreamError(late, f"send {name} within {seconds:g} s") from None


async def close(socket: WebSocket, code: grpc.StatusCode, reason: str, detail: str) -> None:
    """Close a WebSocket with a status, an `asara-reason` for programs and a text for people."""
    number: int = code.value[0]
    text = ": ".join(filter(None, (reason, detail)))
    cut = text.encode()[:_REASON_BYTES].decode(errors="ignore")
    await socket.close(_CLOSE + number, cut)


async def close_with_error(socket: WebSocket, error: StreamError) -> None:
    """Close a WebSocket with the status that a gRPC call would end with."""
    await close(socket, error.kind.code, error.kind.reason, error.detail)
