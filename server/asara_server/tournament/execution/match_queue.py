"""The queue of matches that wait to be played."""

from collections import deque
from collections.abc import Iterable
from typing import Self

from asara_server.tournament.execution.remote_lobby import RemoteLobby
from asara_server.tournament.schedule.schedule import ScheduledMatch


class MatchQueue:
    """The matches that wait to be played. All who ask for one wait until one can begin."""

    def __init__(self, waiting: Iterable[tuple[ScheduledMatch, int]], lobby: RemoteLobby) -> None:
        """Matches in their order, each with what belongs to it."""
        self._waiting = deque(waiting)
        self._lobby = lobby

    def __len__(self) -> int:
        return len(self._waiting)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[ScheduledMatch, int]:
        while self._waiting:
            closed = self._lobby.closed()
            for place, (match, attempt) in enumerate(self._waiting):
                if closed.isdisjoint(match.entries):
                    del self._waiting[place]
                    self._lobby.take(match.entries)
                    return match, attempt
            await self._lobby.change()
        raise StopAsyncIteration

    def over(self, match: ScheduledMatch) -> None:
        """A match that was given out is over."""
        self._lobby.give_back(match.entries)

    def close(self) -> None:
        """Give out no further match."""
        self._waiting.clear()
        self._lobby.wake()
