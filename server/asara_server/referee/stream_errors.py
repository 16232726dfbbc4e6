"""How the referee ends a stream or a call, and why."""

from enum import Enum
from typing import Any, Final, TypeAlias

import grpc

REASON_KEY: Final = "asara-reason"
"""Key of the trailing metadata that holds the reason."""


Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class Ending(Enum):
    """Why the referee ends a stream or a call: status code, and reason for programs."""

    UNKNOWN_TOKEN = (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")
    REPLACED = (grpc.StatusCode.ABORTED, "replaced")
    PROTOCOL_VERSION = (grpc.StatusCode.FAILED_PRECONDITION, "protocol-version")
    HELLO_FIRST = (grpc.StatusCode.INVALID_ARGUMENT, "hello-first")
    SECOND_HELLO = (grpc.StatusCode.INVALID_ARGUMENT, "second-hello")
    NONCE = (grpc.StatusCode.INVALID_ARGUMENT, "nonce")
    EMPTY_REQUEST = (grpc.StatusCode.INVALID_ARGUMENT, "empty-request")
    UNREADABLE_REQUEST = (grpc.StatusCode.INVALID_ARGUMENT, "unreadable-request")
    REQUEST_TOO_LARGE = (grpc.StatusCode.RESOURCE_EXHAUSTED, "request-too-large")
    REQUEST_RATE = (grpc.StatusCode.RESOURCE_EXHAUSTED, "request-rate")
    RESPONSES_UNREAD = (grpc.StatusCode.RESOURCE_EXHAUSTED, "responses-unread")
    TOO_MANY_STREAMS = (grpc.StatusCode.RESOURCE_EXHAUSTED, "too-many-streams")
    MATCH = (grpc.StatusCode.NOT_FOUND, "match")
    REFEREE = (grpc.StatusCode.INTERNAL, "referee")
    STOPPING = (grpc.StatusCode.UNAVAILABLE, "stopping")


#: What costs a bot the matches that it is playing.
VIOLATIONS: Final = frozenset(
    {
        Ending.SECOND_HELLO,
        Ending.NONCE,
        Ending.EMPTY_REQUEST,
        Ending.UNREADABLE_REQUEST,
        Ending.REQUEST_TOO_LARGE,
        Ending.REQUEST_RATE,
        Ending.RESPONSES_UNREAD,
    }
)


class StreamError(Exception):
    """The referee ends a stream or call; the text is for its author and names no secret."""

    def __init__(self, ending: Ending, detail: str) -> None:
        super().__init__(detail)
        self.ending = ending
        self.detail = detail


async def end_call(context: Context, ended: StreamError) -> None:
    """End a call with its status; raises what gRPC wants to see raised."""
    code, reason = ended.ending.value
    await context.abort(code, ended.detail, ((REASON_KEY, reason),))
