"""Spreads the audit of replays over processes, and yields the verdicts in order."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Final, TypeVar

from asara_server.event_loop import seldom_collect
from asara_server.single_process import SingleProcess

_J = TypeVar("_J")
_V = TypeVar("_V")

_CHUNKS_AHEAD: Final = 3
"""Number of chunks for each process that wait for it, or for their turn to be yielded."""


class AuditError(ValueError):
    """The audit cannot begin or go on; the text says why."""


def map_in_processes(
    check: Callable[[_J], _V], jobs: Sequence[_J], processes: int, files_at_once: int
) -> Iterator[_V]:
    """Yield the verdict of each job, in their order. Raises AuditError.

    However many jobs there are, only a few chunks of them are in memory a second time.
    """
    chunks: Iterator[Sequence[_J]] = (
        jobs[at : at + files_at_once] for at in range(0, len(jobs), files_at_once)
    )
    waiting: deque[tuple[SingleProcess, Future[list[_V]]]] = deque()
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pools = [
            stack.enter_context(SingleProcess(context, _begin_worker)) for _ in range(processes)
        ]
        try:
            with _interrupts_held():  # processes are started here
                for pool, chunk in zip(pools * _CHUNKS_AHEAD, chunks, strict=False):
                    waiting.append((pool, pool.submit(_check_chunk, check, chunk)))
            while waiting:
                pool, future = waiting.popleft()
                verdicts = future.result()
                for chunk in islice(chunks, 1):
                    waiting.append((pool, pool.submit(_check_chunk, check, chunk)))
                yield from verdicts
        except BaseException as error:
            for pool in pools:
                pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise AuditError(
                    "a process of the audit was ended from outside, perhaps for lack of memory; "
                    "repeat it with fewer, such as --jobs 1"
                ) from None
            raise


def _check_chunk(check: Callable[[_J], _V], jobs: Sequence[_J]) -> list[_V]:
    return list(map(check, jobs))


def _begin_worker() -> None:
    """Let an interrupt from the terminal end this process at once and without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    seldom_collect()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold interrupts back, in processes that are started meanwhile until `_begin_worker`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
