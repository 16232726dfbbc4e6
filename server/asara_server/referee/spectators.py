"""The public side of running matches, for watchers.

A watcher receives the events of a match turn by turn. Whenever it asks, the answer shows the match
as it was when the last turn ended, and comes immediately: neither content nor time depends on what
has happened in the turn in progress. A slow watcher delays no match: it receives the remaining
events later.
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Protocol

from asara.v1.watch_pb2 import ListMatchesResponse, MatchSummary
from asara_codec.messages import (
    match_summary,
    watch_ended_bytes,
    watch_started_bytes,
    watch_update_bytes,
)
from asara_server.match.match import Match
from asara_server.match.spec import MatchSpec
from asara_server.referee.hosted import HostedMatch


class Watchable(Protocol):
    """A match that has begun, and a wait for the moment at which it may have news."""

    @property
    def match(self) -> Match | None: ...

    def updated(self) -> Awaitable[None]: ...


class WatchMessages:
    """The messages to the watchers of a match."""

    def __init__(self, match: Match) -> None:
        self._match = match

    def started(self) -> bytes:
        """Return the first message: the match as it was when the last turn ended."""
        spec, feed = self._match.spec, self._match.feed
        return watch_started_bytes(
            match_id=spec.match_id,
            entries=spec.entries,
            rules=spec.rules,
            sequence=feed.turn_ends[-1],
            public=feed.public,
            deal_commitment=feed.commitment,
            nonces=feed.nonces,
        )

    def update(self, after: int, end: int) -> bytes:
        """Return the events after number `after` up to `end`, at which a turn ended."""
        match = self._match
        return watch_update_bytes(
            match_id=match.spec.match_id, events=match.feed.event_parts[after:end], sequence=end
        )

    def ended(self) -> bytes:
        """Return the last message; the secret of a deal that other matches have stays secret."""
        match = self._match
        hidden = match.void or match.spec.shared_deal
        secret = b"" if hidden else match.spec.secret
        return watch_ended_bytes(results=match.results, deal_secret=secret, void=match.void)


def is_public(hosted: HostedMatch) -> bool:
    """Return True if a match is running and may be watched."""
    return hosted.match is not None and has_own_deal(hosted.spec)


def has_own_deal(spec: MatchSpec) -> bool:
    """Return True if the events of a match reveal the deal of no other match."""
    return not spec.shared_deal


def list_matches(running: Iterable[HostedMatch]) -> ListMatchesResponse:
    """Return the matches that may be watched."""
    return ListMatchesResponse(
        matches=[_summary(h, h.match) for h in running if h.match and is_public(h)]
    )


def _summary(hosted: HostedMatch, match: Match) -> MatchSummary:
    return match_summary(
        match_id=hosted.spec.match_id,
        entries=hosted.spec.entries,
        rules=hosted.spec.rules,
        sequence=match.feed.turn_ends[-1],
    )


async def follow(
    watched: Watchable,
    after: int,
    flush: Callable[[], None],
    *,
    messages: WatchMessages | None = None,
    merge: bool = False,
) -> AsyncIterator[bytes]:
    """Yield the messages for a watcher, with the events after number `after`, to the match's end.

    `flush` is called before each look at the match. Every turn is a message, or with `merge` all
    turns that have ended since the last message are one.
    """
    match = watched.match
    assert match is not None
    messages = messages or WatchMessages(match)
    ends = match.feed.turn_ends
    flush()
    yield messages.started()
    sent = max(after, 0)
    while True:
        flush()
        finished = match.finished
        new = ends[bisect_right(ends, sent) :]
        for end in new[-1:] if merge else new:
            yield messages.update(sent, end)
            sent = end
        if finished:
            break
        if match.finished or bisect_right(ends, sent) < len(ends):
            continue  # more happened while the watcher received these
        await watched.updated()
    yield messages.ended()
