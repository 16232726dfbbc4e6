"""Following a match: what everybody may know, turn by turn. A slow watcher holds nobody up."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable

from asara.v1.watch_pb2 import ListMatchesResponse, MatchSummary
from asara_codec.messages import (
    match_summary,
    watch_ended_bytes,
    watch_started_bytes,
    watch_update_bytes,
)
from asara_game.view import public_view
from asara_server.match.match import Match
from asara_server.referee.hosted import HostedMatch


def list_matches(tables: list[HostedMatch]) -> ListMatchesResponse:
    """The matches that run now and may be watched.

    A mirrored one may not: what happens in it tells how the deal goes on in the others.
    """
    shown = [table for table in tables if not table.spec.mirrored]
    return ListMatchesResponse(matches=[_summary(t, t.match) for t in shown if t.match])


def _summary(table: HostedMatch, match: Match) -> MatchSummary:
    return match_summary(
        match_id=table.spec.match_id,
        entries=table.spec.entries,
        rules=table.spec.rules,
        sequence=match.feed.turn_ends[-1],
    )


async def follow(
    table: HostedMatch, after: int, settle: Callable[[], None]
) -> AsyncIterator[bytes]:
    """Messages to a watcher, to the end of the match: events behind number `after`, by turns.

    The first message comes as soon as no turn is half done. `settle` is called before each look.
    """
    match = table.match
    assert match is not None
    feed = match.feed
    spec = table.spec
    settle()
    while not (feed.between_turns or match.finished):
        await _news(table)
        settle()
    yield watch_started_bytes(
        match_id=spec.match_id,
        entries=spec.entries,
        rules=spec.rules,
        sequence=feed.turn_ends[-1],
        public=public_view(match.state),
        deal_commitment=feed.commitment,
        nonces=feed.nonces,
    )
    sent = max(after, 0)
    while True:
        settle()
        finished = match.finished
        ends = feed.turn_ends[bisect_right(feed.turn_ends, sent) :]
        if finished and not match.void and max(sent, *ends, 0) < len(feed.events):
            ends.append(len(feed.events))
        for end in ends:
            yield watch_update_bytes(
                match_id=spec.match_id, events=feed.event_parts[sent:end], sequence=end
            )
            sent = end
        if finished:
            break
        if match.finished or bisect_right(feed.turn_ends, sent) < len(feed.turn_ends):
            continue  # more happened while the watcher was slow
        await _news(table)
    yield watch_ended_bytes(
        results=match.results, deal_secret=b"" if match.void else spec.secret, void=match.void
    )


async def _news(table: HostedMatch) -> None:
    waiter = asyncio.get_running_loop().create_future()
    table.watchers.append(waiter)
    await waiter
