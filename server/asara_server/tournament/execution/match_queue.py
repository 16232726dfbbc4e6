"""The queue of matches that wait to be played."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Self

from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.schedule.legs import PendingMatch
from asara_server.tournament.schedule.schedule import ScheduledMatch


class MatchQueue:
    """Pending matches, in their order, for all tasks that iterate over the queue.

    A match is passed over while one of its bots is awaited or busy; a task waits if no other match
    is left. The iteration ends when the queue is empty or the run is stopping.
    """

    def __init__(
        self, pending: Iterable[PendingMatch], remote_bots: RemoteBots, stopping: asyncio.Event
    ) -> None:
        self._pending = deque(pending)
        self._stopping = stopping
        self._remote_bots = remote_bots

    def __len__(self) -> int:
        return len(self._pending)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PendingMatch:
        while self._pending and not self._stopping.is_set():
            unavailable = self._remote_bots.unavailable_entries()
            for index, pending in enumerate(self._pending):
                if unavailable.isdisjoint(pending.match.entries):
                    del self._pending[index]
                    self._remote_bots.begin_match(pending.match.entries)
                    return pending
            await self._remote_bots.wait_for_change()
        raise StopAsyncIteration

    def finish_match(self, match: ScheduledMatch) -> None:
        """Free the bots of a match that came from the queue and is over."""
        self._remote_bots.finish_match(match.entries)
