"""The public side of a match, for viewers.

A viewer receives the events of a match turn by turn: nothing depends on what has happened in the
turn in progress.
"""

from asara_codec.messages import watch_ended_bytes, watch_started_bytes, watch_update_bytes
from asara_server.match.match import Match


class WatchMessages:
    """The messages to the viewers of a match."""

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
