"""Workers of a Dask cluster, which may be on other machines.

Each block is given to exactly one worker. If that worker dies, the block is lost; the scheduler
must not repeat it without being told to.
"""

import asyncio
import logging
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from asara.installing import install_command
from asara_server.tournament.workers.block_player import (
    LostWorkerError,
    begin_run,
    end_bots,
    end_leftover_bots,
    end_run,
    play_block,
    stop_blocks,
)
from asara_server.tournament.workers.worker_executor import (
    BlockJob,
    BlockResult,
    RunSettings,
    WorkerContext,
    WorkerError,
    WorkerOutput,
)

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

_CONNECT_S: Final = 5.0
_FIRST_WORKER_S: Final = 10.0
_CALL_S: Final = 60.0
"""Maximum seconds for a call to the scheduler; a scheduler that is gone is noticed immediately."""
_COUNT_INTERVAL_S: Final = 1.0
"""Seconds between two counts of the workers."""


@contextmanager
def dask_workers(address: str, required: RunSettings) -> "Iterator[DaskWorkers]":
    """Connect to the scheduler at this address, and yield its workers.

    Raises WorkerError if there is no scheduler or no worker, or if a worker does not meet what is
    `required`.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError:
        raise WorkerError(
            f"--dask needs the package distributed: run {install_command('cluster')}"
        ) from None
    _redirect_log()
    try:
        resolve_address(address)  # a client that fails to do so prints a traceback later
        client = Client(address, timeout=_CONNECT_S, set_as_default=False, name="asara")
    except (OSError, ValueError, ImportError) as error:
        raise WorkerError(
            f"--dask {address}: no Dask scheduler answers there ({_first_line(error)}); "
            "`dask scheduler` starts one and prints its address"
        ) from None
    try:
        _check_workers(client, address, required)
        yield DaskWorkers(client, address)
    finally:
        _close(client)


class DaskWorkers:
    """A `WorkerBackend` of a Dask cluster, connected by `dask_workers`."""

    cores = 0
    sharing = 1
    name = "dask"
    shares_directory = False

    def __init__(self, client: "Client", address: str) -> None:
        self._client = client
        self._address = address
        self._executor = client.get_executor(pure=False)
        self._counted_s = -math.inf
        self._threads: Mapping[str, int] = {}
        """Number of threads of each worker, by address."""
        self._settings: RunSettings | None = None
        self._prepared: set[str] = set()
        """Addresses of the workers that have the run's settings."""
        self._jobs: dict[Future[BlockResult], _Job] = {}

    def begin_run(self, settings: RunSettings) -> None:
        self._settings = settings
        self._counted_s = -math.inf
        self._prepared = set()

    async def take_in(self) -> bool:
        """Send the run's settings to workers that have joined."""
        await self._count()
        joined = sorted(self._threads.keys() - self._prepared)
        if not joined:
            return False
        assert self._settings is not None
        begin = partial(begin_run, self._settings)
        ready = await self._call(partial(_ask_workers, self._client, begin, joined))
        self._prepared |= ready.keys()
        return bool(ready)

    async def slots(self) -> int:
        """Return the total number of threads of all workers that have the run's settings."""
        await self._count()
        return sum(self._threads[worker] for worker in self._prepared)

    async def _count(self) -> None:
        """Check which workers exist; blocks of workers that are gone are lost."""
        if time.monotonic() - self._counted_s < _COUNT_INTERVAL_S:
            return
        self._counted_s = time.monotonic()
        self._threads = await self._call(self._client.nthreads)
        self._prepared &= self._threads.keys()
        for future, job in list(self._jobs.items()):
            if job.worker not in self._prepared:
                with suppress(InvalidStateError):  # it was returned meanwhile
                    future.set_exception(LostWorkerError())

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        playing = Counter(job.worker for job in self._jobs.values())
        worker = max(self._prepared, key=lambda one: (self._threads[one] - playing[one], one))
        task = self._executor.submit(
            play_dask_block, job, workers=[worker], allow_other_workers=False
        )
        future: Future[BlockResult] = Future()
        self._jobs[future] = _Job(worker, task)
        task.add_done_callback(partial(_pass_on, future))
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: "Future[BlockResult]") -> None:
        if job := self._jobs.pop(future, None):
            job.task.cancel()  # so that nobody plays it if its worker comes back

    def loss_reason(self, error: BaseException) -> str:
        from distributed.scheduler import KilledWorker

        if isinstance(error, asyncio.CancelledError):  # like all blocks when the scheduler is gone
            raise _scheduler_gone(self._address)
        lost = (LostWorkerError, KilledWorker)
        return "its worker died" if isinstance(error, lost) else ""

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        def call() -> None:
            self._client.run(stop_blocks, run_id, finish_s, on_error="ignore")

        await self._call(call)

    async def end_bots(self, run_id: str, living: Sequence[str]) -> Sequence[WorkerOutput]:
        assert self._settings is not None
        ends = await self._run_on_all(end_bots, run_id)
        left = await self._run_on_all(end_leftover_bots, self._settings)
        return [*ends, *left]

    async def end_run(self, run_id: str) -> Sequence[WorkerOutput]:
        try:
            return await self._run_on_all(end_run, run_id)
        except WorkerError:  # no worker can be reached; their bots end when the worker is idle
            return ()

    async def _run_on_all(
        self, function: Callable[..., WorkerOutput | Awaitable[WorkerOutput]], *arguments: object
    ) -> list[WorkerOutput]:
        """Call a function on all workers of the run; a worker that dies is no longer used."""
        if not self._prepared:
            return []
        call = partial(function, *arguments)
        workers = sorted(self._prepared)
        answers = await self._call(partial(_ask_workers, self._client, call, workers))
        self._prepared &= answers.keys()
        return list(answers.values())

    async def _call(self, function: Callable[[], T]) -> T:
        """Call a function that waits for the scheduler; raises WorkerError if it is gone."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(function), _CALL_S)
        except OSError:  # the base of timeouts and broken connections
            raise _scheduler_gone(self._address) from None


class _Job(NamedTuple):
    """A block that is being played."""

    worker: str
    task: "Future[BlockResult]"
    """The scheduler's task that plays the block."""


def _pass_on(future: "Future[BlockResult]", task: "Future[BlockResult]") -> None:
    with suppress(InvalidStateError):  # its worker was lost meanwhile
        if task.cancelled():
            future.cancel()
        elif error := task.exception():
            future.set_exception(error)
        else:
            future.set_result(task.result())


def _scheduler_gone(address: str) -> WorkerError:
    return WorkerError(
        f"the scheduler at {address} has gone; restart it and its workers, then use --resume"
    )


def _redirect_log() -> None:
    """Redirect Dask's log to our own; since its import, Dask logs to the terminal."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True


def _close(client: "Client") -> None:
    """Close a client without Dask's warnings about a scheduler that is gone."""
    logging.disable()
    try:
        client.close()
    finally:
        logging.disable(logging.NOTSET)


def _check_workers(client: "Client", address: str, required: RunSettings) -> None:
    """Raise WorkerError, listing everything that workers lack, unless all meet what is required."""
    answers: dict[str, list[str]] = {}
    until_s = time.monotonic() + _FIRST_WORKER_S
    try:
        while not answers:  # the workers that were there have died
            if (left_s := until_s - time.monotonic()) <= 0:
                raise TimeoutError
            client.wait_for_workers(1, timeout=left_s)
            answers = _ask_workers(client, required.missing, None)
    except TimeoutError:
        raise WorkerError(
            f"--dask {address}: it has no workers; start some with "
            f"`dask worker {address} --nthreads 1`, one for each core that is to play"
        ) from None
    except OSError:
        raise _scheduler_gone(address) from None
    if lines := [
        f"worker {worker}: {line}" for worker, lines in sorted(answers.items()) for line in lines
    ]:
        raise WorkerError("\n".join(lines))


def _ask_workers(client: "Client", function: Any, workers: list[str] | None) -> dict[str, Any]:
    """Call a function on these workers, or on all, and return the living workers' answers.

    A worker that dies during the call has no answer. Raises WorkerError if the function failed on a
    worker, and OSError if the scheduler is gone.
    """
    answers: dict[str, Any] = client.run(function, workers=workers, on_error="return")
    lines = [
        f"worker {worker}: {_what_failed(answer)}"
        for worker, answer in sorted(answers.items())
        if isinstance(answer, Exception) and not _has_died(answer)
    ]
    if lines:
        raise WorkerError("\n".join(lines))
    return {
        worker: answer for worker, answer in answers.items() if not isinstance(answer, Exception)
    }


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _what_failed(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: install the same version of asara there"
    return _first_line(error)


def _has_died(error: Exception) -> bool:
    """Return True for a connection error, which, unlike a file error, has no file name."""
    return isinstance(error, OSError) and not error.filename and error.errno is None


def play_dask_block(job: BlockJob) -> BlockResult:
    """Play a block on the Dask worker whose task runs in this thread.

    Raises LostWorkerError if the worker was restarted.
    """
    return play_block(job, dask_context())


def dask_context() -> WorkerContext | None:
    """Return the Dask worker whose task runs in this thread; None without a task."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None
    key = worker.get_current_task()

    def is_wanted() -> bool:
        """False if the task was cancelled. All tasks are cancelled when the runner dies.

        Dask does not stop the thread of a cancelled task.
        """
        state = worker.state.tasks.get(key)
        return state is not None and state.state != "cancelled"

    return WorkerContext(
        f"worker {worker.address}", (Path(worker.local_directory).resolve(),), is_wanted
    )
