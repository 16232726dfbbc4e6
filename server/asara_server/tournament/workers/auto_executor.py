"""Plays with one referee in the runner's own process, or with workers if that referee is too slow.

Every run begins with the local referee, which costs a short run nothing. It is measured once, for a
second, after as many matches as are played at once are over, so that processes which are kept have
started. A referee does its work in one thread. With a processor time r for each decision and an
answer time b of the bots it keeps up while concurrency × r / (r + b) is well below 1; in play that
is the share of a core that it uses. Above `_BUSY` the bots wait for it: then the deal blocks that
have begun are finished, and workers play the others.

The choice changes no result. It is made anew whenever a run is resumed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from asara_server.referee.waits import Wait
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.execution.executor import ExecutionContext, Executor
from asara_server.tournament.execution.local_executor import LocalExecutor, kept_processes
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.workers.process_workers import ProcessWorkers
from asara_server.tournament.workers.worker_executor import WorkerExecutor

_BUSY: Final = 0.9
"""Share of a core that the referee uses if bots wait for it."""
_WINDOW_S: Final = 1.0
_CHECK_INTERVAL_S: Final = 0.1
_WORTH_S: Final = 20.0
"""Estimated seconds that a run must still take; starting workers and their bots takes some."""
_LEAST_WORKERS: Final = 2
_LEAST_CORES: Final = 3
"""With fewer, the bots of one referee already use what it leaves."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The play of the local referee over a window of time."""

    busy: float
    """Share of a core that the runner's process used."""
    left_s: float
    """Estimated seconds until the run is over."""

    @property
    def needs_workers(self) -> bool:
        return self.busy >= _BUSY and self.left_s >= _WORTH_S

    @property
    def reason(self) -> str:
        """Why workers or the local referee play, in words."""
        used = f"the referee uses {self.busy:.0%} of a core"
        if self.needs_workers:
            return f"{used}, so bots wait for it"
        if self.busy >= _BUSY:
            return f"{used}, but the run takes only about {self.left_s:.0f} s more"
        return f"{used} and keeps up with the bots"


class AutoExecutor:
    """An `Executor` that begins with `local`, and may go on with worker processes."""

    def __init__(
        self,
        local: LocalExecutor,
        backend: ProcessWorkers,
        *,
        only_local: str = "",
        notify: Callable[[str], None] = lambda line: None,
        cores: int | None = None,
        measure: Callable[[RunProgress, int], Awaitable[Measurement]] | None = None,
    ) -> None:
        """`backend` has no workers yet. `only_local` says why workers cannot play, or is "".

        `notify` is called with the choice. By default `cores` are those of this machine, and
        `measure` is `measured`.
        """
        self._local = local
        self._backend = backend
        self._workers = WorkerExecutor(backend)
        self._only_local = only_local
        self._notify = notify
        self._cores = usable_cores() if cores is None else cores
        self._measure = measure or measured
        self._playing: Executor = local

    @property
    def name(self) -> str:
        return self._playing.name

    @property
    def awaited(self) -> Sequence[str]:
        return self._playing.awaited

    @property
    def waits(self) -> Sequence[Wait]:
        return self._playing.waits

    @property
    def stalled_s(self) -> float | None:
        return self._local.stalled_s if self._playing is self._local else None

    @property
    def costs(self) -> RunCosts:
        return self._local.costs + self._workers.costs

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        why = self._only_local or self._too_few(progress, context)
        if why:
            self._stay_local(why, context)
            await self._local.play(progress, context)
            return
        context.report_choice(self._local.name, "a run begins with one referee")
        choosing = asyncio.create_task(self._choose_by_measurement(progress, context))
        try:
            await self._local.play(progress, context)
        finally:
            choosing.cancel()
            await asyncio.gather(choosing, return_exceptions=True)
        if self._playing is self._workers and not progress.stopping.is_set():
            await self._workers.play(progress, context)

    def _too_few(self, progress: RunProgress, context: ExecutionContext) -> str:
        """Return why workers would be no quicker for this machine or run, or "" if they may be."""
        if self._cores < _LEAST_CORES:
            return f"with {self._cores} cores, workers would take processor time from bots"
        if context.concurrency == 1:
            return "one match is played at a time"
        if len(progress.pending_blocks()) <= context.concurrency:
            return "no more deal blocks are left than matches are played at once"
        return ""

    async def _choose_by_measurement(
        self, progress: RunProgress, context: ExecutionContext
    ) -> None:
        found = await self._measure(progress, context.concurrency)
        most = _most_workers(progress, context)
        if not found.needs_workers:
            self._stay_local(found.reason, context)
        elif most < _LEAST_WORKERS:
            limit = context.match_settings.limits.idle_processes
            self._stay_local(
                f"{found.reason}, but workers could not keep enough processes of bots for their "
                f"next matches (limits.idle_processes = {limit})",
                context,
            )
        else:
            self._backend.number = min(most, context.concurrency)
            context.report_choice(self._workers.name, found.reason)
            self._notify(
                f"{self._backend.number} worker processes play the other deal blocks: "
                f"{found.reason}."
            )
            self._playing = self._workers
            self._local.hand_over()

    def _stay_local(self, why: str, context: ExecutionContext) -> None:
        context.report_choice(self._local.name, why)
        self._notify(f"One referee plays all matches: {why}.")


def _most_workers(progress: RunProgress, context: ExecutionContext) -> int:
    """Return the number of workers that can keep the processes of all entries.

    Others would start them for most matches, which costs far more than a referee.
    """
    settings = context.match_settings
    kept = kept_processes(progress, settings)
    return settings.limits.idle_processes // kept if kept else context.concurrency


async def measured(progress: RunProgress, concurrency: int) -> Measurement:
    """Measure the referee of this process for a second, once so many matches are over."""
    await _wait_for_results(progress, len(progress.results) + concurrency)
    began_s, cpu_s, over = time.monotonic(), time.process_time(), len(progress.results)
    await asyncio.sleep(_WINDOW_S)
    await _wait_for_results(progress, over + 1)
    seconds = time.monotonic() - began_s
    per_match_s = seconds / (len(progress.results) - over)
    left = len(progress.pending_matches())
    return Measurement((time.process_time() - cpu_s) / seconds, left * per_match_s)


async def _wait_for_results(progress: RunProgress, number: int) -> None:
    while True:
        if len(progress.results) >= number:
            return
        await asyncio.sleep(_CHECK_INTERVAL_S)
