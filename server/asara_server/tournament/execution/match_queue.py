"""The queue of matches that wait to be played."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Self

from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.run.progress import PendingMatch
from asara_server.tournament.schedule.schedule import ScheduledMatch


class MatchQueue:
    """Pending matches, in their order, for all tasks that iterate over the queue.

    A match is passed over while one of its bots is awaited or busy; a task waits if no other match
    is left. The iteration ends when the queue is empty or closed.
    """

    def __init__(self, pending: Iterable[PendingMatch], remote_bots: RemoteBots) -> None:
        self._pending = deque(pending)
        self._remote_bots = remote_bots

    def __len__(self) -> int:
        return len(self._pending)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PendingMatch:
        while self._pending:
            unavailable = self._remote_bots.unavailable_entries()
            for index, pending in enumerate(self._pending):
                if unavailable.isdisjoint(pending.match.entries):
                    del self._pending[index]
                    self._remote_bots.begin_match(pending.match.entries)
                    return pending
            await self._remote_bots.wait_for_change()
        raise StopAsyncIteration

    def upcoming(self) -> Iterator[PendingMatch]:
        """Yield the matches that wait and whose bots elsewhere, if any, could begin one now.

        They are in the order in which they would be played if nothing changed.
        """
        unavailable = self._remote_bots.unavailable_entries()
        for pending in self._pending:
            if unavailable.isdisjoint(pending.match.entries):
                yield pending

    def finish_match(self, match: ScheduledMatch) -> None:
        """Free the bots of a match that came from the queue and is over."""
        self._remote_bots.finish_match(match.entries)

    def restrict(self, wanted: Callable[[ScheduledMatch], bool]) -> None:
        """Drop all matches that are left but those that are wanted."""
        self._pending = deque(one for one in self._pending if wanted(one.match))
        self._remote_bots.notify_change()

    def close(self) -> None:
        """Drop all matches that are left, and end all iterations."""
        self._pending.clear()
        self._remote_bots.notify_change()
