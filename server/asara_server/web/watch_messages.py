"""The public side of a match, for viewers.

A viewer receives the events of a match turn by turn, so no message depends on the turn in progress.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from asara_codec.messages import watch_ended_bytes, watch_started_bytes, watch_update_bytes
from asara_server.match.match import Match

_MOST_ENCODED: Final = 8


class WatchMessages:
    """The messages to the viewers of a match.

    They are encoded once for all viewers who have received the same events so far.
    """

    def __init__(self, match: Match) -> None:
        self._match = match
        self._started: tuple[int, bytes] = (-1, b"")
        self._updates: dict[tuple[int, int], bytes] = {}

    def started(self) -> bytes:
        """Return the first message: the match as it was when the last turn ended."""
        spec, feed = self._match.spec, self._match.feed
        sequence = feed.turn_ends[-1]
        if self._started[0] != sequence:
            encoded = watch_started_bytes(
                match_id=spec.match_id,
                entries=spec.entries,
                rules=spec.rules,
                sequence=sequence,
                public=feed.public,
                deal_commitment=spec.commitment,
                nonces=spec.nonces,
            )
            self._started = sequence, encoded
        return self._started[1]

    def update(self, after: int, end: int) -> bytes:
        """Return the events after number `after` up to number `end`, where a turn ended."""
        if (after, end) not in self._updates:
            if len(self._updates) >= _MOST_ENCODED:
                self._updates.clear()
            match = self._match
            self._updates[after, end] = watch_update_bytes(
                match_id=match.spec.match_id, events=match.feed.event_parts[after:end], sequence=end
            )
        return self._updates[after, end]

    def ended(self) -> bytes:
        """Return the last message; it does not contain the secret of a shared deal."""
        match = self._match
        hidden = match.void or match.spec.shared_deal
        secret = b"" if hidden else match.spec.secret
        return watch_ended_bytes(results=match.results, deal_secret=secret, void=match.void)


async def follow(
    match: Match,
    messages: WatchMessages,
    after: int,
    updated: Callable[[], Awaitable[object]],
) -> AsyncIterator[bytes]:
    """Yield the messages for one viewer, with the events after number `after`, until the match
    ends.

    The first message comes immediately. Each later one has all turns that have ended since the
    message before it. `updated` waits until there may be news.
    """
    yield messages.started()
    ends = match.feed.turn_ends
    sent = max(after, 0)
    while True:
        finished = match.finished
        if (end := ends[-1]) > sent:
            yield messages.update(sent, end)
            sent = end
        if finished:
            break
        if not match.finished and ends[-1] <= sent:
            await updated()
    yield messages.ended()
