"""Plays the matches of a run with a referee in the runner's own process."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from asara_server.match.spec import SECOND_US
from asara_server.network.open_files import files_needed, require_open_files
from asara_server.referee.hosted import Wait
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.living_bots import end_recorded
from asara_server.tournament.bots.output.output_log import OutputTap
from asara_server.tournament.bots.pool import BotWatch, Departure
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.execution.match_runner import (
    FINISH_S,
    ExecutionContext,
    Executor,
    MatchRunner,
    match_runner,
)
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.run.costs import CostMeter
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.machine_limits import warn_of_shared_limits
from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch

_AHEAD: Final = 64
"""Number of queued matches searched for one whose entries are all idle."""


class MatchQueue:
    """The pending matches in order, shared by all tasks that iterate over the queue.

    A match is skipped while one of its bots is busy or not connected; a task waits if no other
    match is left. Matches whose entries are all idle come before matches for which a playing entry
    would need another process. The iteration ends when the queue is empty or the run is stopping.
    """

    def __init__(
        self, pending: Iterable[Attempt], remote_bots: RemoteBots, stopping: asyncio.Event
    ) -> None:
        self._pending = deque(pending)
        self._stopping = stopping
        self._remote_bots = remote_bots
        self._playing: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._pending)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Attempt:
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
        """Return the index of the next playable match, or None if no match can be played yet."""
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
        """Free the bots of a finished match that came from the queue."""
        self._playing.subtract(match.entries)
        self._remote_bots.finish_match(match.entries)


_SURVIVORS_END_S: Final = 1.0
"""Seconds given, after each further leg, to processes left over from earlier legs."""


class LocalExecutor(Executor):
    """Plays as many concurrent matches as the tournament sets, with remote bots if there are
    any.
    """

    name = "local"

    def __init__(
        self,
        on_referee: Callable[[Referee], None] = lambda referee: None,
        on_listening: Callable[[str], None] = lambda address: None,
        show_output: Callable[[str], OutputTap] | None = None,
        *,
        strangers: bool = False,
        on_departure: Callable[[Departure], None] | None = None,
    ) -> None:
        """`on_referee` is called with the referee before the first match.

        `on_listening` is called with the address to which remote bots connect. `show_output` is
        called with the entry of every process, and returns a tap for the output. With `strangers`,
        the bots may belong to other people: the log then warns of kernel limits that one bot could
        use to stop all bots. `on_departure` is the same as in `BotWatch`.
        """
        self._on_departure = on_departure
        self._on_referee = on_referee
        self._on_listening = on_listening
        self._show_output = show_output
        self._strangers = strangers
        self.bot_seeds: Mapping[str, int] = {}
        """Seeds of the bots, by entry, from the run's beginning; empty if bots draw their own."""
        self._referee: Referee | None = None
        self._remote_bots: RemoteBots | None = None

    @property
    def awaited(self) -> Sequence[str]:
        return () if self._remote_bots is None else self._remote_bots.awaited_entries()

    @property
    def waits(self) -> Sequence[Wait]:
        return () if self._referee is None else self._referee.waits()

    @property
    def stalled_s(self) -> float:
        return 0.0 if self._referee is None else self._referee.clock.stood_us / SECOND_US

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Raises ServeError if remote bots cannot be served, and OpenFilesError."""
        meter = self.meter = CostMeter(cores=usable_cores())
        try:
            await self._play(progress, context, meter)
        finally:
            meter.stop()

    async def _play(
        self, progress: RunProgress, context: ExecutionContext, meter: CostMeter
    ) -> None:
        self.bot_seeds = context.match_settings.bot_seeds
        referee = self._referee = Referee(journal=progress.directory.journal)
        processes = _most_processes(progress, context)
        _require_open_files(referee.limits, processes, context)
        if context.sandbox is not None and self._strangers:
            limits, ceilings = context.match_settings.limits, context.sandbox.tools.ceilings
            warn_of_shared_limits(processes, limits, ceilings)
        self._on_referee(referee)
        entries, report = context.match_settings.entries, progress.directory.write_remote
        bots = RemoteBots(referee, entries, context.remote, report)
        async with (
            bots.serve(self._on_listening),
            match_runner(
                context,
                referee,
                progress.directory.logs,
                watch=BotWatch(
                    self._show_output, self._on_departure, meter, progress.directory.processes.take
                ),
            ) as runner,
        ):
            await runner.pool.exclude(progress.out, progress.suspended)
            bots.start_waiting(runner.pool)
            self._remote_bots = bots
            stopper = asyncio.create_task(_stop_when_told(progress, referee, bots))
            try:
                await _LocalRun(progress, context, runner, bots).play()
                if progress.stopping.is_set():
                    await stopper
            finally:
                stopper.cancel()
                await asyncio.gather(stopper, return_exceptions=True)
                progress.exclude(runner.pool.out)


def _most_processes(progress: RunProgress, context: ExecutionContext) -> int:
    """Return the maximum number of bots that run at the same time."""
    settings = context.match_settings
    seats = max((len(match.entries) for match in progress.schedule), default=0)
    kept = sum(policy == "run" for policy in settings.processes.values())
    idle = min(settings.limits.idle_processes, context.concurrency * kept)
    return context.concurrency * seats + idle


def _require_open_files(limits: LimitSettings, processes: int, context: ExecutionContext) -> None:
    """Raise OpenFilesError if the run's bots could exhaust this process's file descriptors."""
    remote = sum(entry.remote for entry in context.match_settings.entries)
    needed = files_needed(
        limits, processes=processes, remote_bots=remote if context.remote else None
    )
    require_open_files(needed, "lower jobs or limits.idle_processes")


@dataclass(frozen=True, slots=True)
class _LocalRun:
    """A run that is being played in this process."""

    progress: RunProgress
    context: ExecutionContext
    runner: MatchRunner
    bots: RemoteBots

    async def play(self) -> None:
        """Play all pending matches, and end every bot process after each leg."""
        progress = self.progress
        if not progress.legs:
            looks = None
            while looks != progress.looks_left:
                looks = progress.looks_left
                await self._play_together(progress.pending_attempts())
            return
        while leg := progress.next_leg(self.context.concurrency):
            await self._play_together(leg)
            survivors = await self.runner.pool.end_all()
            if progress.survived:
                sandbox = self.context.sandbox
                cgroups = sandbox.cgroup_parents if sandbox is not None else ()
                left = await end_recorded(progress.directory.processes, cgroups, _SURVIVORS_END_S)
                survivors = tuple(left)  # it also lists processes of the last leg
            progress.end_shared_deals(survivors)

    async def _play_together(self, pending: Iterable[Attempt]) -> None:
        """Play these matches, as many concurrently as allowed."""
        queue = MatchQueue(pending, self.bots, self.progress.stopping)
        players = [
            asyncio.create_task(self._play_matches(queue))
            for _ in range(min(self.context.concurrency, len(queue)))
        ]
        try:
            await asyncio.gather(*players)
        finally:
            for player in players:
                player.cancel()
            await asyncio.gather(*players, return_exceptions=True)

    async def _play_matches(self, queue: MatchQueue) -> None:
        """Play matches one after another until the queue is empty."""
        progress, pool = self.progress, self.runner.pool
        async for attempt in queue:
            if not progress.begin_block(attempt.match.deal_block):
                return
            played = None
            async for played, _ in self.runner.play(attempt, once=progress.legs):
                progress.exclude(pool.out)
                progress.record_result(played)
                await pool.exclude(progress.out, progress.suspended)
            queue.finish_match(attempt.match)
            if played is None:
                return


async def _stop_when_told(progress: RunProgress, referee: Referee, bots: RemoteBots) -> None:
    await progress.stopping.wait()
    bots.notify_change()
    progress.unfinished += (await referee.stop(finish_s=FINISH_S)).values()
