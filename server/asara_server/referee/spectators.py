"""The public side of running matches, for watchers.

A watcher receives the events of a match turn by turn. Whenever it asks, the answer shows the match
as it was when the last turn ended, and comes immediately: neither content nor time depends on what
has happened in the turn in progress. A slow watcher delays no match: it receives the remaining
events later.
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable

from asara.v1.watch_pb2 import ListMatchesResponse, MatchSummary
from asara_codec.messages import (
    match_summary,
    watch_ended_bytes,
    watch_started_bytes,
    watch_update_bytes,
)
from asara_server.match.match import Match
from asara_server.referee.hosted import HostedMatch


def is_public(hosted: HostedMatch) -> bool:
    """Return True if a match is running and may be watched.

    A match with a shared deal may not: its events would reveal the deal of other matches.
    """
    return hosted.match is not None and not hosted.spec.shared_deal


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
    hosted: HostedMatch, after: int, flush: Callable[[], None]
) -> AsyncIterator[bytes]:
    """Yield the messages for a watcher, with the events after number `after`, to the match's end.

    `flush` is called before each look at the match.
    """
    match = hosted.match
    assert match is not None
    feed = match.feed
    spec = hosted.spec
    flush()
    yield watch_started_bytes(
        match_id=spec.match_id,
        entries=spec.entries,
        rules=spec.rules,
        sequence=feed.turn_ends[-1],
        public=feed.public,
        deal_commitment=feed.commitment,
        nonces=feed.nonces,
    )
    sent = max(after, 0)
    while True:
        flush()
        finished = match.finished
        for end in feed.turn_ends[bisect_right(feed.turn_ends, sent) :]:
            yield watch_update_bytes(
                match_id=spec.match_id, events=feed.event_parts[sent:end], sequence=end
            )
            sent = end
        if finished:
            break
        if match.finished or bisect_right(feed.turn_ends, sent) < len(feed.turn_ends):
            continue  # more happened while the watcher received these
        await hosted.updated()
    yield watch_ended_bytes(
        results=match.results, deal_secret=b"" if match.void else spec.secret, void=match.void
    )
