"""Workers that are processes of this machine.

Each worker is a process pool with a single process, so that its death affects only one block. Stop
requests come through a pipe. When the runner ends for any reason, the pipe closes, and the worker
ends its bots and then itself.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from threading import Thread
from types import FrameType
from typing import Final

from asara_server.process_pool import SingleProcess
from asara_server.system import usable_cores
from asara_server.tournament.workers.block_player import (
    abandon_blocks,
    begin_run,
    end_bots_here,
    end_leftover_bots,
    play_block,
    stop_blocks,
)
from asara_server.tournament.workers.worker_executor import (
    BlockJob,
    BlockResult,
    RunSettings,
    WorkerOutput,
)

_ABANDON_S: Final = 10.0
"""Seconds given to a worker to end its bots after the runner has ended."""

_RUNNER_SIGNALS: Final = frozenset(
    {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
)
"""Signals sent to a whole process group, for example by Ctrl-C; only the runner acts on them."""


@contextmanager
def process_workers(number: int) -> "Iterator[ProcessWorkers]":
    """Yield the workers; all their processes have ended on exit."""
    workers = ProcessWorkers(number)
    try:
        yield workers
    finally:
        workers.close()


class ProcessWorkers:
    """A `WorkerBackend` of worker processes, each started when it is first needed."""

    name = "workers"
    shares_directory = True

    def __init__(self, number: int) -> None:
        self.cores = usable_cores()
        self.number = number
        """Number of workers; each plays one block at a time."""
        self._settings: RunSettings | None = None
        self._workers: set[_WorkerProcess] = set()
        self._idle: list[_WorkerProcess] = []
        self._died = True
        """True if bots may still be alive: bots of a worker that died since bots were last ended,
        or, initially, bots of an earlier session of the run.
        """

    @property
    def sharing(self) -> int:
        return self.number

    def begin_run(self, settings: RunSettings) -> None:
        self._settings = settings

    async def take_in(self) -> bool:
        return False

    async def slots(self) -> int:
        return self.number

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        while True:
            worker = self._idle.pop() if self._idle else self._add_worker()
            try:
                future = worker.submit(job, self._settings)
            except BrokenProcessPool:  # it died while it was idle
                self._discard(worker)
                continue
            # Called in another thread, before anyone waiting for the future learns of its end.
            future.add_done_callback(partial(self._release, worker))
            return future

    def loss_reason(self, error: BaseException) -> str:
        return "its worker process died" if isinstance(error, BrokenProcessPool) else ""

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        for worker in self._workers.copy():
            worker.stop_blocks(run_id, finish_s)

    async def end_bots(self, run_id: str, living: Sequence[str]) -> Sequence[WorkerOutput]:
        ends = [asyncio.wrap_future(worker.end_bots(run_id)) for worker in self._idle]
        answers = await asyncio.gather(*ends, return_exceptions=True)
        for worker, answer in zip(self._idle.copy(), answers, strict=True):
            if isinstance(answer, BrokenProcessPool):
                self._idle.remove(worker)
                self._discard(worker)
            elif isinstance(answer, BaseException):
                raise answer
        found = [answer for answer in answers if isinstance(answer, WorkerOutput)]
        survived = any(end.survivors for end in found)
        if self._died:
            found.append(await self._end_leftovers(living))
        self._died |= survived  # to end them after the next leg
        return found

    async def _end_leftovers(self, living: Sequence[str]) -> WorkerOutput:
        """End the bots of dead workers, which are listed in the record of the run."""
        assert self._settings is not None
        end = await asyncio.to_thread(end_leftover_bots, self._settings, living)
        self._died = bool(end.survivors)
        return end

    async def end_run(self, run_id: str) -> Sequence[WorkerOutput]:
        """Have all workers end the run, including busy ones."""
        workers = self._workers.copy()
        for worker in workers:
            worker.stop_blocks(run_id, None)
        ends = []
        for worker in workers:
            with suppress(BrokenProcessPool):
                ends.append(await asyncio.wrap_future(worker.end_bots(run_id)))
        return ends

    def close(self) -> None:
        """End all worker processes."""
        workers = list(self._workers)  # busy ones are discarded while they end
        for worker in workers:
            worker.close_pipe()
        for worker in workers:
            worker.join()

    def _add_worker(self) -> "_WorkerProcess":
        worker = _WorkerProcess()
        self._workers.add(worker)
        return worker

    def _release(self, worker: "_WorkerProcess", future: "Future[BlockResult]") -> None:
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            self._discard(worker)
        else:
            self._idle.append(worker)

    def _discard(self, worker: "_WorkerProcess") -> None:
        self._died = True
        self._workers.discard(worker)
        worker.close_pipe()


class _WorkerProcess:
    """One worker, whose process is started for its first block."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # threads of gRPC do not survive a fork
        self._receiver, self._sender = context.Pipe(duplex=False)
        self._run_id = ""
        self._pool = SingleProcess(context, _initialize, (self._receiver,))

    def submit(self, job: BlockJob, settings: RunSettings | None) -> "Future[BlockResult]":
        """Submit a block; before a run's first block, also submit the run's settings.

        May raise BrokenProcessPool.
        """
        with _blocked_signals():
            if settings is not None and self._run_id != settings.run_id:
                self._pool.submit(begin_run, settings)
                self._run_id = settings.run_id
            return self._pool.submit(play_block, job)

    def end_bots(self, run_id: str) -> "Future[WorkerOutput]":
        """Have an idle process end its bots; may raise BrokenProcessPool."""
        with _blocked_signals():
            return self._pool.submit(end_bots_here, run_id)

    def stop_blocks(self, run_id: str, finish_s: float | None) -> None:
        """Have even a busy process call `stop_blocks`."""
        with suppress(OSError):  # the process has died, which its pool reports
            self._sender.send((run_id, finish_s))

    def close_pipe(self) -> None:
        """Tell the process to end; `join` waits for the end."""
        self._sender.close()

    def join(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._receiver.close()


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block these signals in processes started meanwhile, until their handlers are set."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _RUNNER_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _initialize(receiver: Connection) -> None:
    """Prepare a worker process before its first block."""
    for number in _RUNNER_SIGNALS:
        signal.signal(number, _ignore)  # bots would inherit SIG_IGN
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _RUNNER_SIGNALS)
    Thread(target=_serve_stop_requests, args=[receiver], name="stop requests", daemon=True).start()


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore the signal, which the runner handles."""


def _serve_stop_requests(receiver: Connection) -> None:
    """Stop blocks on request, and end the process when the runner has ended."""
    try:
        while True:
            stop_blocks(*receiver.recv())
    except (EOFError, OSError):
        pass  # the pipe is closed
    finally:
        abandon_blocks(_ABANDON_S)
        os._exit(0)
