"""Plays blocks on a worker, which is either a local process or a cluster worker.

A run on a worker has one referee for all its blocks, and the bots that play there. Processes with a
lifetime of "run" are kept from block to block, and end when the worker closes the run. A worker
that shares the run directory keeps a journal of its block.
"""

import asyncio
import atexit
import os
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Sequence, Set
from concurrent.futures import Future, wait
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from asara_server.event_loop import new_event_loop, seldom_collect
from asara_server.journal.journal import Fact as JournalFact
from asara_server.journal.journal import Journal, JournalError
from asara_server.logs import Fact, gather
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.living_bots import end_leftovers, others_have_bots
from asara_server.tournament.bots.pool import BotWatch
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.execution.match_runner import (
    ExecutionContext,
    MatchRunner,
    match_runner,
)
from asara_server.tournament.run.costs import CostMeter, RunCosts
from asara_server.tournament.run.directory import block_journal
from asara_server.tournament.run.run_record import fact_now
from asara_server.tournament.standings.match_result import PlayedAttempt
from asara_server.tournament.workers.worker_executor import (
    BlockJob,
    BlockResult,
    BotLog,
    RunSettings,
    WorkerContext,
    WorkerError,
    WorkerOutput,
)

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


def play_block(job: BlockJob, worker: WorkerContext | None = None) -> BlockResult:
    """Play a block in this process, from any thread.

    `worker` describes the worker; the default is a process of `process_workers`. Raises
    LostWorkerError without `begin_run`, WorkerError if the block cannot be played here,
    and JournalError.
    """
    worker = worker or WorkerContext(f"worker process {os.getpid()}")
    settings = _loop_thread().settings.get(job.run_id)
    if settings is None:
        raise LostWorkerError
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


class WorkerRun:
    """A run on this worker: `open` it, `play` blocks, and `close` it at the end.

    All methods belong to one event loop. Without a journal, several blocks can be played
    concurrently.
    """

    def __init__(self, settings: RunSettings, meter: CostMeter) -> None:
        self.run_id = settings.run_id
        self.blocks_played = 0
        """Number of finished blocks."""
        self.closing: asyncio.Task[None] | None = None
        """The task that closes the run; None while the run can play blocks."""
        self._blocks: set[asyncio.Task[BlockResult]] = set()
        self._settings = settings
        self._meter = meter
        self._log_lines: list[Fact] = []
        self._log = gather(self._log_lines, settings.log_level)
        self._processes: list[JournalFact] = []
        self._secrets: dict[str, bytes] = {}
        self._begun: set[str] = set()
        self._stopper: asyncio.Task[dict[str, str]] | None = None
        self._stack = AsyncExitStack()
        self._outputs = BotOutputs(settings.directory)
        self._journal: Journal | None = None
        """The open journal of a block, if there is one."""
        self._referee: Referee
        self._runner: MatchRunner

    async def open(self) -> None:
        """Open the run before its first block."""
        self._referee = Referee(log=self._log.bind(part="referee"))
        context = ExecutionContext(
            self._settings.match_settings,
            secret_of=lambda name, _block: self._secrets[name],
            sandbox=self._settings.sandbox(),
        )
        watch = BotWatch(meter=self._meter, record=self._record, log=self._log.bind(part="runner"))
        self._runner = await self._stack.enter_async_context(
            match_runner(context, self._referee, self._outputs.folder, watch=watch)
        )

    def _record(self, line: JournalFact) -> None:
        """Keep a line of the process record, also in the journal of the block if one is open."""
        self._processes.append(line)
        if self._journal is not None:
            with suppress(JournalError):  # raised by the next commit
                self._journal.note(line)

    @property
    def busy(self) -> bool:
        """True if blocks are being played."""
        return bool(self._blocks)

    async def close(self) -> WorkerOutput:
        """Cancel all blocks, and end all processes."""
        for block in self._blocks:
            block.cancel()
        try:
            await asyncio.gather(*self._blocks, return_exceptions=True)
            await self._stack.aclose()
            return self._output(None, set())._replace(survivors=self._runner.pool.survivors)
        finally:
            self._outputs.close()

    def _output(self, matches: Set[str] | None, still_open: Set[Path]) -> WorkerOutput:
        """Return what is new, with the output of these matches (see `BotOutputs.take`)."""
        return WorkerOutput(
            self._outputs.take(matches, still_open),
            _taken(self._processes),
            costs=self._meter.take(),
        )

    def has_begun(self, job: BlockJob) -> bool:
        """Return True if processes of this run may already have met a deal of this block."""
        return not self._begun.isdisjoint(job.block.attempt_names)

    def stop(self, finish_s: float) -> None:
        """Begin no further match; open decisions get `finish_s` seconds to be answered."""
        if self._stopper is None:
            self._stopper = asyncio.create_task(self._referee.stop(finish_s=finish_s))

    async def play(self, job: BlockJob, worker: str) -> BlockResult:
        """Play a block; a stopped run returns only the finished matches.

        Raises JournalError.
        """
        block = asyncio.create_task(self._play(job, worker))
        self._blocks.add(block)
        try:
            return await block
        finally:
            self._blocks.discard(block)
            self.blocks_played += 1

    async def _play(self, job: BlockJob, worker: str) -> BlockResult:
        pool = self._runner.pool
        await pool.exclude(job.out, job.suspended)
        self._begun.update(job.block.attempt_names)
        self._secrets |= job.secrets
        attempts: list[PlayedAttempt] = []
        try:
            with self._open_journal(job) as journal:
                await self._play_matches(job, attempts, journal)
                cut = {} if self._stopper is None else await self._stopper
        finally:
            for name in job.secrets:
                self._secrets.pop(name, None)
        return BlockResult(
            worker,
            tuple(attempts),
            tuple(line for name, line in cut.items() if name in job.secrets),
            self._output(set(job.secrets), pool.open_logs()),
            _taken(self._log_lines),
        )

    async def _play_matches(
        self,
        job: BlockJob,
        attempts: list[PlayedAttempt],
        journal: Journal | None,
    ) -> None:
        for attempt in job.block.attempts:
            if self._stopper is not None:
                return
            async for played, _ in self._runner.play(attempt, once=job.once):
                attempts.append(played)
                if journal is not None:
                    result, records = played
                    journal.end(result.played_as, result.to_json(), records)

    @contextmanager
    def _open_journal(self, job: BlockJob) -> Iterator[Journal | None]:
        """Yield the open journal of a block, which the referee writes; None without a journal."""
        if self._settings.directory is None:
            yield None
            return
        with Journal(block_journal(self._settings.directory, job.block.name)) as journal:
            for name, records in job.begun.items():
                journal.adopt(name, records)
            self._referee.use_journal(journal)
            self._journal = journal
            try:
                yield journal
                self._referee.flush()
            finally:
                self._journal = None


class BotOutputs:
    """The output of a run's bots, returned to the runner in parts.

    If the worker shares the run directory, output is written there, and nothing is returned.
    """

    def __init__(self, directory: Path | None) -> None:
        self._temporary: TemporaryDirectory[str] | None = None
        if directory is None:
            self._temporary = TemporaryDirectory(prefix="asara-run-")
            self.folder = Path(self._temporary.name)
        else:
            self.folder = directory / "logs"
        self._taken: dict[Path, int] = {}
        """Bytes already returned of each file that may still grow."""

    def take(self, matches: Set[str] | None, still_open: Set[Path]) -> tuple[BotLog, ...]:
        """Return new output of these matches, or of all matches, and of matches taken earlier.

        Files that are not `still_open` are complete and removed.
        """
        if self._temporary is None:
            return ()
        found = []
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            if not (matches is None or path.parent.name in matches or path in self._taken):
                continue
            offset = self._taken.get(path, 0)
            with path.open("rb") as file:
                file.seek(offset)
                content = file.read()
            if content or not offset:
                found.append(BotLog(path.relative_to(self.folder).as_posix(), offset, content))
            if path.with_suffix(".log") in still_open:
                self._taken[path] = offset + len(content)
            else:
                self._taken.pop(path, None)
                path.unlink()
        return tuple(found)

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()


def _taken(lines: list[T]) -> tuple[T, ...]:
    taken = tuple(lines)
    lines.clear()
    return taken


class _LoopThread:
    """A thread whose event loop plays all blocks of this process.

    gRPC supports only one event loop in a process. The sandbox ends programs together with the
    thread that started them, so the thread must be long-lived.
    """

    def __init__(self) -> None:
        _keep_descriptors()
        seldom_collect()
        self.settings: dict[str, RunSettings] = {}
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
            run = WorkerRun(settings, self._meter)
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
