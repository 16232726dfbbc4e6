"""A crew of processes on this machine.

Each worker is a process pool of its own with one process: so the death of one costs its own block
and nobody else's. Beside the blocks, each has a pipe for orders. It ends with the runner, however
the runner ends: then the pipe ends too, and the worker ends its bots and itself.
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
from types import FrameType, TracebackType
from typing import Final, Self

from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    abandon_blocks,
    play_block,
    stop_blocks,
)

_LAST_S: Final = 10.0
"""Seconds that a worker has to end its bots when there is no runner any more."""

_HELD: Final = frozenset({signal.SIGINT, signal.SIGTERM})
"""Signals to the whole group, as of Ctrl-C, which are the runner's to act upon."""


class _Worker:
    """A process, once it has something to do."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # threads of gRPC do not survive a fork
        self._theirs, self._orders = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            1, mp_context=context, initializer=_begin, initargs=(self._theirs,)
        )

    def submit(self, task: BlockJob) -> "Future[BlockResult]":
        """May raise BrokenProcessPool."""
        with _held_back():
            return self._pool.submit(play_block, task)

    def stop(self, run: str, finish_s: float) -> None:
        with suppress(OSError):  # it has died; the pool tells
            self._orders.send((run, finish_s))

    def dismiss(self) -> None:
        """Nothing is wanted of it any more; `join` waits for its end."""
        self._orders.close()

    def join(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._theirs.close()


class ProcessWorkers:
    """The crew. A context: no process is left in the end."""

    tries = 3

    def __init__(self, number: int) -> None:
        self._number = number
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []

    async def slots(self) -> int:
        return self._number

    def submit(self, task: BlockJob) -> "Future[BlockResult]":
        while True:
            worker = self._idle.pop() if self._idle else self._new()
            try:
                future = worker.submit(task)
            except BrokenProcessPool:  # it died while it had nothing to do
                self._discard(worker)
                continue
            # Called in another thread, and before anybody who waits for the block hears of it.
            future.add_done_callback(partial(self._release, worker))
            return future

    def loss(self, error: BaseException) -> str:
        return "its worker process died" if isinstance(error, BrokenProcessPool) else ""

    async def stop(self, run: str, finish_s: float) -> None:
        for worker in self._workers.copy():
            worker.stop(run, finish_s)

    def _new(self) -> _Worker:
        worker = _Worker()
        self._workers.add(worker)
        return worker

    def _release(self, worker: _Worker, future: "Future[BlockResult]") -> None:
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            self._discard(worker)
        else:
            self._idle.append(worker)

    def _discard(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        worker.dismiss()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        workers = list(self._workers)  # those that end while busy are discarded meanwhile
        for worker in workers:
            worker.dismiss()
        for worker in workers:
            worker.join()


@contextmanager
def _held_back() -> Iterator[None]:
    """A process that is started within does not get these signals before it says what they do."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(orders: Connection) -> None:
    """What a worker does first."""
    for number in _HELD:
        signal.signal(number, _ignore)  # not SIG_IGN, which bots would inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
    Thread(target=_obey, args=[orders], name="orders", daemon=True).start()


def _ignore(number: int, frame: FrameType | None) -> None:
    """The runner acts upon it."""


def _obey(orders: Connection) -> None:
    """Stop what the runner says. Where it has gone, end: the pool would wait for ever."""
    with suppress(EOFError, OSError):
        while True:
            stop_blocks(*orders.recv())
    abandon_blocks(_LAST_S)
    os._exit(0)
