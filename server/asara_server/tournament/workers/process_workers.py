"""Workers that are processes of this machine.

Each worker is a process pool with one process, so that its death loses one block only. Requests to
stop come through a pipe. When the runner ends, in whatever way, the pipe is closed, and the worker
ends its bots and itself.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from threading import Thread
from types import FrameType
from typing import Final

from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.workers.block_job import BlockJob, BlockResult
from asara_server.tournament.workers.block_player import abandon_blocks, play_block, stop_blocks

_ABANDON_S: Final = 10.0
"""Seconds that a worker has to end its bots when the runner has ended."""

_RUNNER_SIGNALS: Final = frozenset({signal.SIGINT, signal.SIGTERM})
"""Signals that a whole process group receives, as from Ctrl-C; only the runner acts on them."""


@contextmanager
def process_workers(number: int) -> "Iterator[ProcessWorkers]":
    """Yield the workers; all their processes have ended on exit."""
    workers = ProcessWorkers(number)
    try:
        yield workers
    finally:
        workers.close()


class ProcessWorkers:
    """A `WorkerBackend` of worker processes, which are started when they are needed."""

    max_submissions = 3

    def __init__(self, number: int) -> None:
        self.cores = usable_cores()
        self._number = number
        self._workers: set[_WorkerProcess] = set()
        self._idle: list[_WorkerProcess] = []

    async def slots(self) -> int:
        return self._number

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        while True:
            worker = self._idle.pop() if self._idle else self._add_worker()
            try:
                future = worker.submit(job)
            except BrokenProcessPool:  # it died while it was idle
                self._discard(worker)
                continue
            # Called in another thread, and before those who wait for the future learn of its end.
            future.add_done_callback(partial(self._release, worker))
            return future

    def loss_reason(self, error: BaseException) -> str:
        return "its worker process died" if isinstance(error, BrokenProcessPool) else ""

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        for worker in self._workers.copy():
            worker.stop_blocks(run_id, finish_s)

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
        self._workers.discard(worker)
        worker.close_pipe()


class _WorkerProcess:
    """One worker, whose process is started with its first block."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # threads of gRPC do not survive a fork
        self._receiver, self._sender = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            1, mp_context=context, initializer=_initialize, initargs=(self._receiver,)
        )

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        """May raise BrokenProcessPool."""
        with _blocked_signals():
            return self._pool.submit(play_block, job)

    def stop_blocks(self, run_id: str, finish_s: float) -> None:
        with suppress(OSError):  # it has died, which its pool reports
            self._sender.send((run_id, finish_s))

    def close_pipe(self) -> None:
        """Have the process end; `join` waits for it."""
        self._sender.close()

    def join(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._receiver.close()


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block these signals in processes started meanwhile, until they have set their handlers."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _RUNNER_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _initialize(receiver: Connection) -> None:
    """Prepare a worker process, before its first block."""
    for number in _RUNNER_SIGNALS:
        signal.signal(number, _ignore)  # bots would inherit SIG_IGN
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _RUNNER_SIGNALS)
    Thread(target=_serve_stop_requests, args=[receiver], name="stop requests", daemon=True).start()


def _ignore(number: int, frame: FrameType | None) -> None:
    """Leave the signal to the runner."""


def _serve_stop_requests(receiver: Connection) -> None:
    """Stop blocks on request; end the process when the runner has ended: its pool would not."""
    with suppress(EOFError, OSError):
        while True:
            stop_blocks(*receiver.recv())
    abandon_blocks(_ABANDON_S)
    os._exit(0)
