"""Starts the processes of matches to come while others play, so that no core waits for a start.

Starts that are ahead of their matches give way to others. One more begins only if the processes
that are starting leave enough processors (see `start_pace`) and memory to the bots that play. A
process is expected to take as much memory as the largest of its entry so far, or `memory_mb` before
one is known. When all that are starting have taken it, `memory_mb` must still be free.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from asara_server.tournament.bots.free_memory import free_memory
from asara_server.tournament.bots.memory_sampler import memory_peak
from asara_server.tournament.bots.pooled_bot import PooledBot
from asara_server.tournament.bots.process import BotProcess
from asara_server.tournament.bots.start_pace import StartPace
from asara_server.tournament.bots.start_plan import SeatNeed, StartPlan
from asara_server.tournament.config.tournament_file import usable_cores

_INTERVAL_S: Final = 0.02
"""Seconds between looks at processes that are starting."""

_MIB: Final = 1 << 20


class EarlyStarts:
    """Starts what a plan misses, one process after another."""

    def __init__(
        self,
        plan: Callable[[], StartPlan],
        start: Callable[[SeatNeed, StartPlan], None],
        bots: Callable[[], Iterable[PooledBot]],
        memory_mb: int,
    ) -> None:
        """`plan` returns what is missing, which `start` begins to start. `bots` returns all bots.

        `memory_mb` is the limit of the memory of a bot.
        """
        self.plan = plan
        self.given_up: set[str] = set()
        """Entries for which nothing is started ahead, because a bot did not wait for its match."""
        self._start = start
        self._bots = bots
        self._limit = memory_mb * _MIB
        self._peaks: dict[str, int] = {}
        self._pace = StartPace(usable_cores())
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look at what is missing now. Raises the error with which an earlier look failed."""
        if self._task is not None and self._task.done():
            self._task.result()
            self._task = None
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        """Start nothing more."""
        if self._task is not None:
            self._task.cancel()

    def record_memory(self, entry: str, process: BotProcess) -> None:
        """Note the memory of a process that has played."""
        self._peaks[entry] = max(self._peaks.get(entry, 0), _memory(process))

    async def _run(self) -> None:
        while True:
            plan = self.plan()
            waiting = [bot for bot in self._bots() if bot.waiting]
            if plan.missing and self._permits(waiting, plan.missing[0].entry):
                self._start(plan.missing[0], plan)
            elif not waiting:
                return
            else:
                await asyncio.sleep(_INTERVAL_S)

    def _permits(self, waiting: list[PooledBot], entry: str) -> bool:
        """Return True if a process of this entry may start beside those that wait."""
        matches = {bot.match_id for bot in waiting} - {""}
        if not self._pace.permits([bot.process for bot in waiting], len(matches)):
            return False
        free = free_memory()
        if free is None:
            return True
        expected = sum(self._expected(name) for name in (entry, *(bot.entry for bot in waiting)))
        return free - expected >= self._limit

    def _expected(self, entry: str) -> int:
        """Return the bytes that a process of this entry is expected to take."""
        if known := self._peaks.get(entry):
            return known
        running = [bot.process for bot in self._bots() if bot.entry == entry and not bot.waiting]
        return max((_memory(one) for one in running if one), default=0) or self._limit


def _memory(process: BotProcess) -> int:
    """Return the most bytes that a process has used; 0 if that is unknown."""
    return process.memory_peak() or (memory_peak(process.pid) if process.running else 0)
