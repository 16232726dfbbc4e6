"""Limits on what bots may do, and the limiter of request rates."""

from dataclasses import dataclass, field
from typing import Final

from asara.v1.play_pb2 import Limits as LimitsMessage
from asara_server.match.spec import MatchLimits

MOST_RECONNECTIONS: Final = 500
"""How often a bot may open a new stream in one match; the next time, it forfeits. The number of a
replay's records is limited, and every new stream adds records."""


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """The limits that the referee enforces; `message` returns the limits that bots are told."""

    request_bytes: int = 64 * 1024
    """Maximum size of a request."""
    requests_per_second: int = 1_000
    """Requests that answer no open decision, averaged over `rate_window_s`."""
    matches: int = 1_024
    """Maximum concurrent matches on one stream."""
    match_limits: MatchLimits = field(default_factory=MatchLimits)
    late_reply_s: float = 1.0
    """Seconds for which a match's replay stays open after a timeout, to record a late reply."""
    responses_unread: int = 1_024
    """Queued responses; a bot may exceed this for `unread_patience_s`."""
    unread_patience_s: float = 1.0
    unread_bytes: int = 64 * 1024 * 1024
    """Total size of queued responses; no bot may exceed this."""
    rate_window_s: float = 5.0
    hello_s: float = 10.0
    """Seconds from the opening of a stream until its Hello must arrive."""
    streams_without_hello: int = 256
    """Open streams without a Hello, per address. If another one is opened, the oldest ends."""
    streams_opened: int = 50
    """Streams that one bot may open within `stream_window_s`."""
    stream_window_s: float = 10.0
    streams_per_connection: int = 8
    """Concurrent streams on one connection; gRPC delays further streams."""
    bot_connections: int = 8
    """Concurrent connections at the address of one bot; further ones are closed immediately."""
    socket_connections: int = 256
    """Concurrent connections at a Unix socket that several bots may use."""
    unknown_connections: int = 128
    """Connections to a public address whose clients have presented no valid token."""
    unknown_bytes: int = 128 * 1024
    """Bytes that a client may send on a connection before it has presented a valid token."""
    unknown_streams: int = 8
    """Streams that a client may open on a connection without presenting a valid token."""
    handshakes_per_second: int = 100
    """Connections per second that begin to be served at a public address."""
    transport_bytes: int = 1024 * 1024
    """Size of a message above which gRPC itself breaks the stream, at the address of one bot. This
    does not count as a protocol violation. At public addresses, gRPC's limit is `request_bytes`."""

    def new_stream_limiter(self) -> "RateLimiter":
        """Return a limiter for the streams that one bot opens."""
        return RateLimiter(self.streams_opened / self.stream_window_s, self.stream_window_s)

    def message(self, matches: int) -> LimitsMessage:
        """Return the limits to send in Welcome; `matches` is the number that the bot may play."""
        return LimitsMessage(
            request_bytes=self.request_bytes,
            requests_per_second=self.requests_per_second,
            matches=matches,
            actions_per_reply=self.match_limits.actions_per_reply,
            rejections_forgiven=self.match_limits.rejections_forgiven,
            responses_unread=self.responses_unread,
        )


class RateLimiter:
    """Limits the rate of requests, averaged over a window (a leaky bucket)."""

    __slots__ = ("_capacity", "_level", "_per_second", "_updated_s")

    def __init__(self, per_second: float, window_s: float) -> None:
        self._per_second = per_second
        self._capacity = per_second * window_s
        self._level = 0.0
        self._updated_s = 0.0

    def allow(self, now_s: float, requests: int = 1) -> bool:
        """Count requests that arrived now; return False if they exceed the allowed rate."""
        leaked = (now_s - self._updated_s) * self._per_second
        self._updated_s = now_s
        self._level = max(self._level - leaked, 0.0) + requests
        return self._level <= self._capacity
