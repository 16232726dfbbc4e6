"""Divides work among several processes, and notices when one of them dies."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from itertools import islice
from multiprocessing.context import BaseContext
from typing import Any, Final, ParamSpec, TypeVar

from asara_server.event_loop import seldom_collect
from asara_server.user_error import UserError

_P = ParamSpec("_P")
_R = TypeVar("_R")
_J = TypeVar("_J")

_CHUNKS_AHEAD: Final = 3
"""How many chunks per process may be in work or waiting to be yielded in order."""


class SingleProcess(ProcessPoolExecutor):
    """Runs calls one after another in one process, which starts with the first call.

    If the process is killed while it sends a result, this executor breaks, as it should. An
    executor with several processes could wait forever instead. The other processes and the executor
    can still write to the same pipe, so the rest of the result might still come.
    """

    def __init__(
        self,
        context: BaseContext,
        initializer: Callable[..., object],
        arguments: tuple[object, ...] = (),
    ) -> None:
        super().__init__(1, context, initializer, arguments)

    def submit(
        self, function: Callable[_P, _R], /, *arguments: _P.args, **named: _P.kwargs
    ) -> "Future[_R]":
        """Submit a call. Raises BrokenProcessPool if the process has died."""
        future = super().submit(function, *arguments, **named)
        writer: Any = self._result_queue._writer  # type: ignore[attr-defined]
        writer.close()  # the process has its own copy by now
        return future


def map_in_processes(
    work: Callable[[_J], _R], jobs: Sequence[_J], processes: int, jobs_at_once: int
) -> Iterator[_R]:
    """Yield the result of each job, in job order. Raises UserError.

    Only a few chunks of jobs are copied in memory at a time, no matter how many jobs there are.
    """
    chunks: Iterator[Sequence[_J]] = (
        jobs[at : at + jobs_at_once] for at in range(0, len(jobs), jobs_at_once)
    )
    waiting: deque[tuple[SingleProcess, Future[list[_R]]]] = deque()
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pools = [
            stack.enter_context(SingleProcess(context, _begin_worker)) for _ in range(processes)
        ]
        try:
            with _interrupts_held():  # processes are started here
                for pool, chunk in zip(pools * _CHUNKS_AHEAD, chunks, strict=False):
                    waiting.append((pool, pool.submit(_work_through, work, chunk)))
            while waiting:
                pool, future = waiting.popleft()
                results = future.result()
                for chunk in islice(chunks, 1):
                    waiting.append((pool, pool.submit(_work_through, work, chunk)))
                yield from results
        except BaseException as error:
            for pool in pools:
                pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise UserError(
                    "a process was ended from outside, perhaps for lack of memory; repeat the "
                    "command with fewer, such as --jobs 1"
                ) from None
            raise


def _work_through(work: Callable[[_J], _R], jobs: Sequence[_J]) -> list[_R]:
    return list(map(work, jobs))


def _begin_worker() -> None:
    """Let an interrupt from the terminal end this process immediately and without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    seldom_collect()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold interrupts back; processes started meanwhile hold them back until `_begin_worker`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
