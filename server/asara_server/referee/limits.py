"""What the referee tolerates, and how it ends a stream or a call that it does not."""

from dataclasses import dataclass

from asara.v1.play_pb2 import Limits as LimitsMessage
from asara_server.match.spec import MatchLimits


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

    @property
    def match_limits(self) -> MatchLimits:
        """The limits on which the course of a match depends."""
        return MatchLimits(self.actions_per_reply, self.rejections_forgiven)

    def message(self, matches: int) -> LimitsMessage:
        """Return the limits as a bot is sent them, with the number of matches that it may play."""
        return LimitsMessage(
            request_bytes=self.request_bytes,
            requests_per_second=self.requests_per_second,
            matches=matches,
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
