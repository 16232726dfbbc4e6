"""The public side of a match, for viewers.

A viewer receives the events of a match turn by turn, so no message depends on the turn in progress.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from stat import S_ISREG
from typing import Final

from asara_codec.messages import watch_ended_bytes, watch_started_bytes, watch_update_bytes
from asara_server.eventlog.replay import ReplayError
from asara_server.eventlog.resimulate import resimulated
from asara_server.logs import logger
from asara_server.match.match import Match
from asara_server.referee.stream_errors import ErrorKind, StreamError
from asara_server.replay.file import read_replay
from asara_server.web.run_catalogue import Source, SourceKind

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
    updated: Callable[[], Awaitable[None]],
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


_MOST_KEPT: Final = 16
_LONGEST_NAME: Final = 128


class FinishedMatches:
    """The matches whose replays are published; recently watched ones are cached."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, int, int], Match] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def messages(
        self, source: Source, match_id: str, after: int
    ) -> AsyncIterator[bytes] | None:
        """Return the messages for a watcher, with the events after number `after`.

        Return None if the match has no published replay. Raises StreamError if the replay is
        damaged.
        """
        path = replay_path(source, match_id)
        if path is None:
            return None
        async with self._one_at_a_time:  # simulations take processor time from others
            match = await asyncio.to_thread(self._match, path)
        return None if match is None else follow(match, WatchMessages(match), after, _no_news)

    def _match(self, path: Path) -> Match | None:
        try:
            about = path.lstat()
        except (OSError, ValueError):
            return None
        if not S_ISREG(about.st_mode):  # a link may lead anywhere
            return None
        key = path, about.st_mtime_ns, about.st_size
        match = self._kept.get(key)
        if match is None:
            match = self._kept[key] = _simulated(path)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return match


def replay_path(source: Source, match_id: str) -> Path | None:
    """Return where the replay of a match is once published; None if the match name is invalid."""
    if not match_id.isprintable() or "/" in match_id or match_id.startswith("."):
        return None
    if not 0 < len(match_id.encode(errors="replace")) <= _LONGEST_NAME:
        return None
    folder = source.directory
    return (folder / "replays" if source.kind is SourceKind.RUN else folder) / f"{match_id}.asara"


def _simulated(path: Path) -> Match:
    try:
        *_, (match, _) = resimulated(read_replay(path))
    except ReplayError as error:
        logger("web").warning("replay cannot be shown", detail=str(error))
        raise StreamError(
            ErrorKind.MATCH, "the replay of this match is damaged: see `asara replay verify`"
        ) from None
    return match


async def _no_news() -> None:
    """Wait for news of a match that is over, which nobody does."""
