"""A crew of Dask workers, which may be on other machines.

The scheduler gives a block whose worker died to another worker by itself, up to a number of times
(`distributed.scheduler.allowed-failures`, 3); a block that no worker survives comes back as lost.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from asara_server.tournament.workers.backend import WorkerError
from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    WorkerContext,
    WorkerRequirements,
    play_block,
    stop_blocks,
)

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

_CONNECT_S: Final = 5.0
_WORKERS_S: Final = 10.0
"""Seconds to wait for the first worker."""
_ANSWER_S: Final = 60.0
"""Seconds to wait for an answer in a run; that nothing listens any more is known at once."""
_COUNT_S: Final = 1.0
"""Between two questions how many workers there are."""


class DaskWorkers:
    """The crew. `dask_workers` makes one."""

    tries = 1
    """The scheduler has tried others before it gives a block back."""

    def __init__(self, client: "Client", address: str) -> None:
        self._client = client
        self._address = address
        self._executor = client.get_executor(pure=False)
        self._slots = 0
        self._counted = -_COUNT_S

    async def slots(self) -> int:
        """Threads of all workers."""
        if time.monotonic() - self._counted >= _COUNT_S:
            threads: dict[str, int] = await self._ask(self._client.nthreads)
            self._slots = sum(threads.values())
            self._counted = time.monotonic()
        return self._slots

    def submit(self, task: BlockJob) -> "Future[BlockResult]":
        future: Future[BlockResult] = self._executor.submit(play_dask_block, task)
        return future

    def loss(self, error: BaseException) -> str:
        from distributed.scheduler import KilledWorker

        if isinstance(error, asyncio.CancelledError):  # as all are when the scheduler has gone
            raise _gone(self._address)
        if isinstance(error, KilledWorker):
            return f"{error.allowed_failures + 1} workers died while they played it"
        return ""

    async def stop(self, run: str, finish_s: float) -> None:
        def call() -> None:
            self._client.run(stop_blocks, run, finish_s, on_error="ignore")

        await self._ask(call)

    async def _ask(self, question: Callable[[], T]) -> T:
        """What the client answers, which waits for the scheduler."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(question), _ANSWER_S)
        except OSError:  # of which time-outs and broken connections are kinds
            raise _gone(self._address) from None


def _gone(address: str) -> WorkerError:
    return WorkerError(
        f"the scheduler at {address} has gone; start it and workers again, then go on with --resume"
    )


@contextmanager
def dask_workers(address: str, needs: WorkerRequirements) -> Iterator[DaskWorkers]:
    """The workers of the scheduler at this address, each of which has what is needed.

    Raises CrewError where there is no scheduler, no worker, or one that does not fit.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError:
        raise WorkerError(
            "--executor dask needs the package distributed: pip install 'asara[cluster]'"
        ) from None
    _log_with_ours()
    try:
        resolve_address(address)  # a client that fails at it prints a traceback later on
        client = Client(address, timeout=_CONNECT_S, set_as_default=False, name="asara")
    except (OSError, ValueError, ImportError) as error:
        raise WorkerError(
            f"--scheduler {address}: no Dask scheduler answers there ({_first_line(error)}); "
            "`dask scheduler` starts one and says its address"
        ) from None
    try:
        _check_workers(client, address, needs)
        yield DaskWorkers(client, address)
    finally:
        _close(client)


def _log_with_ours() -> None:
    """Let our own log have what Dask has written to the terminal since it was imported."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True


def _close(client: "Client") -> None:
    """Without Dask's own words on what it could not finish, where the scheduler has gone."""
    logging.disable()
    try:
        client.close()
    finally:
        logging.disable(logging.NOTSET)


def _check_workers(client: "Client", address: str, needs: WorkerRequirements) -> None:
    """May raise CrewError, which tells of each worker what it lacks."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_S)
        found: dict[str, Any] = client.run(needs.missing, on_error="return")
    except TimeoutError:
        raise WorkerError(
            f"--scheduler {address}: it has no workers; start some with "
            f"`dask worker {address} --nthreads 1`, one for each core that is to play"
        ) from None
    except OSError:
        raise _gone(address) from None
    lines = [
        f"worker {worker}: {line}"
        for worker, answer in sorted(found.items())
        for line in _in_words(answer)
    ]
    if lines:
        raise WorkerError("\n".join(lines))


def _in_words(answer: list[str] | Exception) -> list[str]:
    if isinstance(answer, ModuleNotFoundError):
        return [f"{answer}: install the same version of asara there"]
    return [_first_line(answer)] if isinstance(answer, Exception) else answer


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def play_dask_block(task: BlockJob) -> BlockResult:
    """Play a block on the Dask worker whose task this thread runs."""
    return play_block(task, dask_context())


def dask_context() -> WorkerContext | None:
    """The Dask worker whose task this thread runs; None where it runs none."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None
    key = worker.get_current_task()

    def wanted() -> bool:
        """Dask does not end a thread whose task was cancelled, as all of a runner that died are."""
        state = worker.state.tasks.get(key)
        return state is not None and state.state != "cancelled"

    return WorkerContext(
        f"worker {worker.address}", (Path(worker.local_directory).resolve(),), wanted
    )
