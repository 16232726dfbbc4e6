"""The queue of matches that wait to be played."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable
from typing import Final, Self

from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.schedule.legs import PendingMatch
from asara_server.tournament.schedule.schedule import ScheduledMatch

_AHEAD: Final = 64
"""Matches among which one is looked for whose entries play no other."""


class MatchQueue:
    """Pending matches, in their order, for all tasks that iterate over the queue.

    A match is passed over while one of its bots is awaited or busy; a task waits if no other match
    is left. A match whose entries play no other comes before those for which an entry that is
    playing would need another process. The iteration ends when the queue is empty or the run is
    stopping.
    """

    def __init__(
        self, pending: Iterable[PendingMatch], remote_bots: RemoteBots, stopping: asyncio.Event
    ) -> None:
        self._pending = deque(pending)
        self._stopping = stopping
        self._remote_bots = remote_bots
        self._playing: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._pending)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PendingMatch:
        while self._pending and not self._stopping.is_set():
            index = self._next()
            if index is not None:
                pending = self._pending[index]
                del self._pending[index]
                self._playing.update(pending.match.entries)
                self._remote_bots.begin_match(pending.match.entries)
                return pending
            await self._remote_bots.wait_for_change()
        raise StopAsyncIteration

    def _next(self) -> int | None:
        """Return the index of the match to play next, or None if none can be played yet."""
        unavailable = self._remote_bots.unavailable_entries()
        first = None
        for index, (match, _) in enumerate(self._pending):
            if first is not None and index >= _AHEAD:
                break
            if unavailable.isdisjoint(match.entries):
                if not any(self._playing[entry] for entry in match.entries):
                    return index
                first = index if first is None else first
        return first

    def finish_match(self, match: ScheduledMatch) -> None:
        """Free the bots of a match that came from the queue and is over."""
        self._playing.subtract(match.entries)
        self._remote_bots.finish_match(match.entries)
