"""Errors with which the referee ends a stream or a call."""

from enum import Enum
from typing import Any, Final, TypeAlias

import grpc

REASON_KEY: Final = "asara-reason"
"""Key of the trailing metadata that holds the machine-readable reason."""

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class ErrorKind(Enum):
    """The kinds of errors, each with its gRPC status code and a machine-readable reason."""

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

    def __init__(self, code: grpc.StatusCode, reason: str) -> None:
        self.code = code
        self.reason = reason


VIOLATIONS: Final = frozenset(
    {
        ErrorKind.SECOND_HELLO,
        ErrorKind.NONCE,
        ErrorKind.EMPTY_REQUEST,
        ErrorKind.UNREADABLE_REQUEST,
        ErrorKind.REQUEST_TOO_LARGE,
        ErrorKind.REQUEST_RATE,
        ErrorKind.RESPONSES_UNREAD,
    }
)
"""Violations of the protocol, for which a bot forfeits the matches that it is playing."""


class StreamError(Exception):
    """Raised to end a stream or a call; its text is sent to the peer and contains no secret."""

    def __init__(self, kind: ErrorKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def end_call(context: Context, error: StreamError) -> None:
    """Give a call the status of an error; the caller then returns, which ends the call.

    `context.abort` would raise an exception whose traceback and frames refer to each other. Because
    of this cycle, the request would stay in memory until the next garbage collection, which is rare
    here.
    """
    kind = error.kind
    context.set_code(kind.code)
    context.set_details(error.detail)
    context.set_trailing_metadata(((REASON_KEY, kind.reason),))
