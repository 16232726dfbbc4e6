"""What the referee tolerates, and how it ends a stream or a call that it does not."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

import grpc

from asara_server.translate.terms import Limits

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


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What the referee tolerates; bots are told the first six in Welcome."""

    request_bytes: int = 64 * 1024
    requests_per_second: int = 1_000
    """Requests that answer no open decision; averaged over `rate_window_s`."""
    matches: int = 1_024
    """At once on one stream."""
    actions_per_reply: int = 64
    rejections_forgiven: int = 3
    """In one match."""
    responses_unread: int = 1_024
    """While the stream has not taken one for `unread_patience_s`."""
    unread_patience_s: float = 1.0
    unread_bytes: int = 64 * 1024 * 1024
    """In any case."""
    rate_window_s: float = 5.0
    hello_s: float = 10.0
    """From the opening of a stream to its Hello."""
    streams_without_hello: int = 256
    watchers: int = 256
    transport_bytes: int = 8 * 1024 * 1024
    """gRPC itself breaks the stream of a larger request; to the referee the bot has gone then."""

    def told(self) -> Limits:
        """What bots are told."""
        return Limits(
            request_bytes=self.request_bytes,
            requests_per_second=self.requests_per_second,
            matches=self.matches,
            actions_per_reply=self.actions_per_reply,
            rejections_forgiven=self.rejections_forgiven,
            responses_unread=self.responses_unread,
        )


class RateMeter:
    """Counts requests against so many per second, averaged over a window: a leaking bucket."""

    __slots__ = ("_full", "_level", "_per_second", "_since")

    def __init__(self, per_second: float, window_s: float) -> None:
        self._per_second = per_second
        self._full = per_second * window_s
        self._level = 0.0
        self._since = 0.0

    def exceeded(self, now_s: float, requests: int = 1) -> bool:
        """Count requests that came now; says whether they are more than allowed."""
        leaked = (now_s - self._since) * self._per_second
        self._since = now_s
        self._level = max(self._level - leaked, 0.0) + requests
        return self._level > self._full
