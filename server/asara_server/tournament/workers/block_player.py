"""Plays deal blocks on a worker, whether it is a process of this machine or one of a cluster.

Each block has a referee that only its own bots can reach, and no journal: a block that a worker
does not return is played again, with the same deals.
"""

import asyncio
import atexit
import os
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread

from asara_server.event_loop import new_event_loop, seldom_collect
from asara_server.logs import Fact, gather
from asara_server.referee.referee import Referee
from asara_server.replay.file import replay_records
from asara_server.tournament.execution.local_referee import local_referee
from asara_server.tournament.execution.match_runner import MatchRunner
from asara_server.tournament.run.cost_meter import CostMeter
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    PlayedAttempt,
    WorkerContext,
)
from asara_server.tournament.workers.requirements import edition, shared_sandbox

_CHECK_INTERVAL_S = 1.0
"""Seconds between two checks whether a block is still wanted."""


class UnfitWorkerError(Exception):
    """A worker does not meet the requirements; the text names it, and says why and what to do."""


def play_block(job: BlockJob, worker: WorkerContext | None = None) -> BlockResult:
    """Play a block in this process, in any thread; all its bots have ended on return.

    `worker` describes the worker; by default the process is one of `process_workers`. Raises
    UnfitWorkerError if the block cannot be played here.
    """
    worker = worker or WorkerContext(f"worker process {os.getpid()}")
    config = job.requirements.sandbox_config
    if config is not None:
        config = config._replace(hidden=(*config.hidden, *worker.private_paths))
    if missing := job.requirements.missing():
        raise UnfitWorkerError("\n".join(f"{worker.name}: {line}" for line in missing))
    sandbox = None if config is None else shared_sandbox(config)
    return _loop_thread().play(job, worker, sandbox)


def stop_blocks(run_id: str, finish_s: float) -> None:
    """Stop the blocks of a run that this process plays, and those that it is still to get.

    Open decisions have `finish_s` seconds to be answered. Matches that are over are returned.
    """
    _loop_thread().stop(run_id, finish_s)


def abandon_blocks(timeout_s: float) -> None:
    """End all blocks of this process; returns when no bot is left, or after the timeout."""
    _loop_thread().abandon(timeout_s)


@dataclass(eq=False)
class _RunningBlock:
    """A block that is being played."""

    job: BlockJob
    meter: CostMeter
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    finish_s: float = 0.0
    """Seconds for open decisions, once `stopping` is set."""

    def stop(self, finish_s: float) -> None:
        self.finish_s = finish_s
        self.stopping.set()

    async def play(self, worker: WorkerContext, sandbox: Sandbox | None) -> BlockResult:
        job = self.job
        log_lines: list[Fact] = []
        log = gather(log_lines, job.log_level)
        referee = Referee(log=log.bind(part="referee"))
        attempts: list[PlayedAttempt] = []
        unfinished: list[str] = []
        with TemporaryDirectory(prefix="asara-block-") as folder:
            async with local_referee(
                job.match_settings,
                referee,
                edition=edition(),
                secret_of=lambda name, _block: job.secrets[name],
                sandbox=sandbox,
                logs=Path(folder),
                out=job.out,
                suspended=job.suspended,
                meter=self.meter,
                log=log.bind(part="runner"),
            ) as local:
                stopper = asyncio.create_task(self._stop_when_told(referee))
                try:
                    await self._play_matches(local.matches, attempts)
                    if self.stopping.is_set():
                        unfinished = await stopper
                finally:
                    stopper.cancel()
                    await asyncio.gather(stopper, return_exceptions=True)
            bot_logs = _read_logs(Path(folder))
        return BlockResult(
            worker.name,
            tuple(attempts),
            tuple(unfinished),
            bot_logs,
            tuple(log_lines),
            self.meter.take(),
        )

    async def _play_matches(self, matches: MatchRunner, attempts: list[PlayedAttempt]) -> None:
        for match, first_attempt in self.job.matches:
            if self.stopping.is_set():
                return
            async for played in matches.play(match, first_attempt):
                records = None
                if played.replay is not None:
                    self.meter.count_match(played.replay)
                    records = replay_records(played.replay)
                attempts.append(PlayedAttempt(played.result, records, played.processor_times))
                if match.kind == "duplicate":
                    break  # the runner stores that another deal is played before that begins

    async def _stop_when_told(self, referee: Referee) -> list[str]:
        await self.stopping.wait()
        return await referee.stop(finish_s=self.finish_s)


class _LoopThread:
    """A thread whose event loop plays all blocks of this process.

    gRPC supports one loop in a process. The sandbox ends programs with the thread that started
    them, so it has to be a thread that lasts.
    """

    def __init__(self) -> None:
        _keep_descriptors()
        seldom_collect()
        self._loop = new_event_loop()
        self._meter = CostMeter()
        self._tasks: dict[_RunningBlock, asyncio.Task[BlockResult]] = {}
        self._stopped_runs: set[str] = set()
        self._thread = Thread(target=self._loop.run_forever, name="asara", daemon=True)
        self._thread.start()
        atexit.register(self._close)

    def play(self, job: BlockJob, worker: WorkerContext, sandbox: Sandbox | None) -> BlockResult:
        """Play a block; blocks the calling thread until it is over."""
        block = _RunningBlock(job, self._meter)
        future = asyncio.run_coroutine_threadsafe(self._play(block, worker, sandbox), self._loop)
        while not wait([future], _CHECK_INTERVAL_S).done:
            if not worker.is_wanted():
                self._loop.call_soon_threadsafe(block.stop, 0.0)
        return future.result()

    def stop(self, run_id: str, finish_s: float) -> None:
        self._loop.call_soon_threadsafe(self._stop, run_id, finish_s)

    def abandon(self, timeout_s: float) -> None:
        wait([asyncio.run_coroutine_threadsafe(self._abandon(), self._loop)], timeout_s)

    async def _play(
        self, block: _RunningBlock, worker: WorkerContext, sandbox: Sandbox | None
    ) -> BlockResult:
        if block.job.run_id in self._stopped_runs:
            block.stop(0.0)
        task = asyncio.create_task(block.play(worker, sandbox))
        self._tasks[block] = task
        try:
            return await task
        finally:
            del self._tasks[block]

    def _stop(self, run_id: str, finish_s: float) -> None:
        self._stopped_runs.add(run_id)
        for block in self._tasks:
            if block.job.run_id == run_id:
                block.stop(finish_s)

    async def _abandon(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _close(self) -> None:
        """Leave the loop before Python ends, which no thread may be in then."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CHECK_INTERVAL_S)


_lock = Lock()
_loop_threads: list[_LoopThread] = []
"""At most one. Several threads of a cluster's worker may ask for it at once."""


def _loop_thread() -> _LoopThread:
    with _lock:
        if not _loop_threads:
            _loop_threads.append(_LoopThread())
        return _loop_threads[0]


def _keep_descriptors() -> None:
    """Keep bots from inheriting the pipes between this process and the runner.

    uvloop closes no descriptor that may be inherited, and whatever comes by these pipes is trusted.
    """
    for path in Path("/dev/fd").iterdir():
        if int(path.name) > 2:
            with suppress(OSError):  # the descriptor of this listing is closed by now
                os.set_inheritable(int(path.name), False)


def _read_logs(folder: Path) -> tuple[tuple[str, bytes], ...]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple((path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)
