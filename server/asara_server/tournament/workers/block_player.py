"""Plays blocks on a worker, which is either a local process or a cluster worker."""

import asyncio
import atexit
import os
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from asara_server.event_loop import new_event_loop, seldom_collect
from asara_server.tournament.bots.bots_lock import others_have_bots
from asara_server.tournament.bots.leftovers import end_leftovers
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.run.costs import CostMeter, RunCosts
from asara_server.tournament.run.process_record import fact_now
from asara_server.tournament.schedule.match_settings import ReadableCopy
from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    WorkerContext,
    WorkerError,
    WorkerOutput,
)
from asara_server.tournament.workers.run_settings import RunSettings
from asara_server.tournament.workers.worker_run import WorkerRun

if TYPE_CHECKING:
    from asara_server.tournament.workers.metrics_reporter import MetricsReporter

T = TypeVar("T")

_CHECK_INTERVAL_S: Final = 1.0
"""Seconds between two checks whether a block is still wanted."""
_IDLE_S: Final = 60.0
"""Seconds without a block after which a run's bots are ended, because the runner may be gone."""


class LostWorkerError(Exception):
    """Raised if a worker has died, or was restarted and lacks the settings of the run."""


def begin_run(settings: RunSettings) -> None:
    """Store the settings of a run, before its first block or once it needs this worker again."""
    _loop_thread().begin(settings)


def use_files(run_id: str, copies: Mapping[tuple[str, Path], ReadableCopy]) -> None:
    """Use these copies instead of the runner's files, given by entry and path.

    Raises LostWorkerError without `begin_run`.
    """
    settings = require_run(run_id)
    played = settings.match_settings
    directories, readable = {**played.build_directories}, {**played.readable_copies}
    for (name, path), copy in copies.items():
        if path == played.directory(played.entry(name)):
            directories[name] = copy.path
        else:
            readable[path] = copy
    _loop_thread().settings[run_id] = replace(
        settings,
        paths=tuple(one for one in settings.paths if one not in copies),
        match_settings=replace(played, build_directories=directories, readable_copies=readable),
    )


def report_metrics(connection: Connection) -> None:
    """From now on, report the metrics of all referees in this process through a pipe."""
    # Loads prometheus_client, which takes 20 ms and is seldom needed.
    from asara_server.tournament.workers.metrics_reporter import MetricsReporter

    _loop_thread().reporter = MetricsReporter(connection)


def require_run(run_id: str) -> RunSettings:
    """Return the settings of a run; raises LostWorkerError without `begin_run`."""
    settings = _loop_thread().settings.get(run_id)
    if settings is None:
        raise LostWorkerError
    return settings


def play_block(job: BlockJob, worker: WorkerContext | None = None) -> BlockResult:
    """Play a block in this process, from any thread.

    `worker` describes the worker; the default is a process of `process_workers`. Raises
    LostWorkerError without `begin_run`, WorkerError if the block cannot be played here,
    and JournalError.
    """
    worker = worker or WorkerContext(f"worker process {os.getpid()}")
    settings = require_run(job.run_id)
    if settings.reserved is not None:
        reserved = settings.reserved.with_hidden(worker.private_paths)
        settings = replace(settings, reserved=reserved)
    if missing := settings.missing(job.playing):
        raise WorkerError("\n".join(f"{worker.name}: {line}" for line in missing))
    try:
        return _loop_thread().play(settings, job, worker)
    except MachineError as error:
        raise WorkerError(f"{worker.name}: {error}") from None


def stop_blocks(run_id: str, finish_s: float | None) -> None:
    """Stop the blocks of a run that this process is playing, and any that it receives later.

    Open decisions get `finish_s` seconds to be answered. Finished matches are returned. If
    `finish_s` is None, the run has ended: blocks are cancelled, and bots ended.
    """
    _loop_thread().stop(run_id, finish_s)


async def end_bots(run_id: str) -> WorkerOutput:
    """End the bots of a run, which may continue with new bots, and of all its earlier sessions."""
    return await asyncio.wrap_future(_loop_thread().end_bots(run_id))


def end_bots_here(run_id: str) -> WorkerOutput:
    """Like `end_bots`, but for a thread without an event loop."""
    return asyncio.run(end_bots(run_id))


def end_leftover_bots(settings: RunSettings, processes: Sequence[str] = ()) -> WorkerOutput:
    """End the bots of a run's dead workers on this machine. No other worker may be playing.

    `processes` are the bots' processes that are known by name.
    """
    sandbox = settings.sandbox()
    cgroups = sandbox.cgroup_parents if sandbox is not None else ()
    survivors = tuple(end_leftovers(processes, cgroups))
    cleared = () if survivors else (fact_now("cleared"),)
    others = (fact_now("others"),) if others_have_bots() else ()
    return WorkerOutput(processes=(*cleared, *others), survivors=survivors)


async def end_run(run_id: str) -> WorkerOutput:
    """End the bots of a run permanently."""
    _loop_thread().settings.pop(run_id, None)
    return await end_bots(run_id)


def abandon_blocks(timeout_s: float) -> None:
    """End all runs of this process; returns when all bots have ended, or after the timeout."""
    _loop_thread().abandon(timeout_s)


class _LoopThread:
    """A thread whose event loop plays all blocks of this process.

    gRPC supports only one event loop in a process. The sandbox ends programs together with the
    thread that started them, so the thread must be long-lived.
    """

    def __init__(self) -> None:
        _keep_descriptors()
        seldom_collect()
        self.settings: dict[str, RunSettings] = {}
        self.reporter: MetricsReporter | None = None
        self._loop = new_event_loop()
        self._meter = CostMeter()
        self._runs: list[WorkerRun] = []
        """All open runs."""
        self._ends: defaultdict[str, list[WorkerOutput]] = defaultdict(list)
        """What closed runs left, by manifest, until `end_bots` returns it."""
        self._opening = asyncio.Lock()
        self._stopped_runs: set[str] = set()
        self._thread = Thread(target=self._loop.run_forever, name="asara", daemon=True)
        self._thread.start()
        atexit.register(self._close)

    def begin(self, settings: RunSettings) -> None:
        self.settings[settings.run_id] = settings
        self._stopped_runs.discard(settings.run_id)

    def play(self, settings: RunSettings, job: BlockJob, worker: WorkerContext) -> BlockResult:
        """Play a block; the calling thread waits until the block is over."""
        future = self._submit(self._play(settings, job, worker))
        while not wait([future], _CHECK_INTERVAL_S).done:
            if not worker.is_wanted():
                self.stop(job.run_id, None)
        return future.result()

    def stop(self, run_id: str, finish_s: float | None) -> None:
        self._loop.call_soon_threadsafe(self._stop, run_id, finish_s)

    def end_bots(self, run_id: str) -> Future[WorkerOutput]:
        return self._submit(self._end(_manifest_of(run_id)))

    def abandon(self, timeout_s: float) -> None:
        wait([self._submit(self._abandon())], timeout_s)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _play(
        self, settings: RunSettings, job: BlockJob, worker: WorkerContext
    ) -> BlockResult:
        run = await self._open_run(settings, job)
        if job.run_id in self._stopped_runs:
            run.stop(0.0)
        try:
            return await run.play(job, worker.name)
        finally:
            self._loop.call_later(_IDLE_S, self._end_idle, run, run.blocks_played)

    async def _open_run(self, settings: RunSettings, job: BlockJob) -> WorkerRun:
        """Return the run of a block, opening the run if necessary.

        If a lost block comes back, it is played by new processes.
        """
        async with self._opening:
            for run in reversed(self._open_runs(job.run_id)):
                if run.closing is None and not run.has_begun(job):
                    return run
            run = WorkerRun(settings, self._meter, self.reporter)
            await run.open()
            self._runs.append(run)
            return run

    def _stop(self, run_id: str, finish_s: float | None) -> None:
        self._stopped_runs.add(run_id)
        for run in self._open_runs(run_id):
            if finish_s is None:
                self._submit(self._close_run(run))
            else:
                run.stop(finish_s)

    async def _end(self, manifest: str) -> WorkerOutput:
        mine = [run for run in self._runs if _manifest_of(run.run_id) == manifest]
        await asyncio.gather(*map(self._close_run, mine))
        ends = self._ends.pop(manifest, [])
        return WorkerOutput(
            tuple(log for end in ends for log in end.bot_logs),
            tuple(row for end in ends for row in end.processes),
            tuple(pid for end in ends for pid in end.survivors),
            sum((end.costs for end in ends), RunCosts()),
        )

    async def _close_run(self, run: WorkerRun) -> None:
        """Close a run; concurrent callers wait for the same end."""
        if run.closing is None:
            run.closing = asyncio.create_task(self._close_now(run))
        await asyncio.shield(run.closing)

    async def _close_now(self, run: WorkerRun) -> None:
        try:
            self._ends[_manifest_of(run.run_id)].append(await run.close())
        finally:
            self._runs.remove(run)

    def _end_idle(self, run: WorkerRun, blocks_played: int) -> None:
        """End an open run that has played no block in the meantime."""
        if not run.busy and run.blocks_played == blocks_played:
            self._submit(self._close_run(run))

    def _open_runs(self, run_id: str) -> list[WorkerRun]:
        return [run for run in self._runs if run.run_id == run_id]

    async def _abandon(self) -> None:
        await asyncio.gather(*map(self._close_run, self._runs), return_exceptions=True)

    def _close(self) -> None:
        """Leave the loop before Python exits, because no thread may then be inside it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CHECK_INTERVAL_S)


def _manifest_of(run_id: str) -> str:
    return run_id.partition("-")[0]


_lock = Lock()
_loop_threads: list[_LoopThread] = []
"""At most one thread; several threads of a cluster worker may request it concurrently."""


def _loop_thread() -> _LoopThread:
    with _lock:
        if not _loop_threads:
            _loop_threads.append(_LoopThread())
        return _loop_threads[0]


def _keep_descriptors() -> None:
    """Keep bots from inheriting the pipes between this process and the runner.

    uvloop does not close inheritable descriptors, and everything arriving through these pipes is
    trusted.
    """
    for path in Path("/dev/fd").iterdir():
        if int(path.name) > 2:
            with suppress(OSError):  # the descriptor used for this listing is closed by now
                os.set_inheritable(int(path.name), False)
