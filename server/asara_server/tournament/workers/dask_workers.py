"""Workers of a Dask cluster, which may be on other machines.

The scheduler itself gives a block whose worker died to another worker, a limited number of times
(`distributed.scheduler.allowed-failures`, 3); a block that no worker survives is reported as lost.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from asara_server.tournament.sandbox.spec import SandboxConfig
from asara_server.tournament.workers.backend import WorkerError
from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    BotsEnd,
    RunSettings,
    WorkerContext,
)
from asara_server.tournament.workers.block_player import (
    UnpreparedWorkerError,
    begin_run,
    end_bots,
    end_leftover_bots,
    end_run,
    play_block,
    require_run,
    stop_blocks,
)
from asara_server.tournament.workers.dask_files import FileSender, ask_workers, first_line
from asara_server.tournament.workers.requirements import WorkerRequirements

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

NOTHING_PRIVATE: Final = SandboxConfig((), ())
_CONNECT_S: Final = 5.0
_FIRST_WORKER_S: Final = 10.0
_CALL_S: Final = 60.0
"""Seconds that a call of the scheduler may take; a scheduler that has gone is noticed at once."""
_COUNT_INTERVAL_S: Final = 1.0
"""Seconds between two counts of the workers."""


@contextmanager
def dask_workers(
    address: str, requirements: WorkerRequirements, private: SandboxConfig = NOTHING_PRIVATE
) -> "Iterator[DaskWorkers]":
    """Connect to the scheduler at this address, and yield its workers.

    Workers without a shared file system get entries' files, and none of `private.hidden` (see
    `Sandbox`). Raises WorkerError if there is no scheduler or no worker, or if a worker does not
    meet the requirements.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError:
        raise WorkerError(
            "--executor dask needs the package distributed: pip install 'asara[cluster]'"
        ) from None
    _redirect_log()
    try:
        resolve_address(address)  # a client that fails to do so prints a traceback later
        client = Client(address, timeout=_CONNECT_S, set_as_default=False, name="asara")
    except (OSError, ValueError, ImportError) as error:
        raise WorkerError(
            f"--scheduler {address}: no Dask scheduler answers there ({first_line(error)}); "
            "`dask scheduler` starts one and prints its address"
        ) from None
    try:
        _check_workers(client, address, requirements)
        workers = DaskWorkers(client, address, private)
        with closing(workers):
            yield workers
    finally:
        _close(client)


class DaskWorkers:
    """A `WorkerBackend` of a Dask cluster, connected by `dask_workers`."""

    cores = 0
    max_submissions = 1
    """The scheduler tries other workers itself before a block is lost."""
    sharing = 1
    name = "dask"
    shares_directory = False

    def __init__(self, client: "Client", address: str, private: SandboxConfig) -> None:
        self._private = private
        self._files: FileSender | None = None
        self._client = client
        self._address = address
        self._executor = client.get_executor(pure=False)
        self._slots = 0
        self._counted_s = -math.inf
        self._settings: RunSettings | None = None
        self._prepared: set[str] = set()
        """Addresses of the workers that have the settings of the run."""

    def begin_run(self, settings: RunSettings) -> None:
        self._settings = settings
        self.close()
        self._files = FileSender(self._client, settings, self._private)
        self._count_again()

    def close(self) -> None:
        """Remove the packed files of entries."""
        if self._files is not None:
            self._files.close()
            self._files = None

    async def slots(self) -> int:
        """Return the number of threads of all workers that have the settings of the run.

        Workers that have joined receive them.
        """
        if time.monotonic() - self._counted_s >= _COUNT_INTERVAL_S:
            self._counted_s = time.monotonic()
            threads: dict[str, int] = await self._call(self._client.nthreads)
            await self._prepare([worker for worker in threads if worker not in self._prepared])
            self._slots = sum(threads[worker] for worker in threads.keys() & self._prepared)
        return self._slots

    def _count_again(self) -> None:
        """Make the next `slots` count the workers and prepare each of them again."""
        self._counted_s = -math.inf
        self._prepared = set()

    async def _prepare(self, workers: list[str]) -> None:
        """Send the settings of the run to these workers; raises WorkerError."""
        if not workers or self._settings is None:
            return
        begin = partial(begin_run, self._settings)
        ready = set(await self._call(partial(ask_workers, self._client, begin, workers)))
        if self._files is not None:
            ready = await self._call(partial(self._files.send, sorted(ready)), timeout_s=None)
        self._prepared |= ready

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        future: Future[BlockResult] = self._executor.submit(play_dask_block, job)
        return future

    def loss_reason(self, error: BaseException) -> str:
        from distributed.scheduler import KilledWorker

        if isinstance(error, asyncio.CancelledError):  # as of all when the scheduler has gone
            raise _scheduler_gone(self._address)
        if isinstance(error, UnpreparedWorkerError):
            self._count_again()
        if isinstance(error, BegunElsewhereError):
            return str(error)
        if isinstance(error, KilledWorker):
            return f"{error.allowed_failures + 1} workers died while they played it"
        return ""

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        def call() -> None:
            self._client.run(stop_blocks, run_id, finish_s, on_error="ignore")

        await self._call(call)

    async def end_bots(self, run_id: str) -> Sequence[BotsEnd]:
        return await self._run_on_all(end_bots, run_id)

    async def end_leftovers(self, sandbox: SandboxConfig | None) -> Sequence[BotsEnd]:
        return await self._run_on_all(end_leftover_bots, sandbox)

    async def end_run(self, run_id: str) -> Sequence[BotsEnd]:
        try:
            return await self._run_on_all(end_run, run_id)
        except WorkerError:  # no worker can be reached; their bots end when the worker is idle
            return ()

    async def _run_on_all(
        self, function: Callable[..., BotsEnd | Awaitable[BotsEnd]], *arguments: object
    ) -> list[BotsEnd]:
        def call() -> dict[str, Any]:
            answers: dict[str, Any] = self._client.run(function, *arguments, on_error="ignore")
            return answers

        return [end for end in (await self._call(call)).values() if isinstance(end, BotsEnd)]

    async def _call(self, function: Callable[[], T], timeout_s: float | None = _CALL_S) -> T:
        """Call a function that waits for the scheduler; raises WorkerError if that has gone."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(function), timeout_s)
        except OSError:  # the base of time-outs and broken connections
            raise _scheduler_gone(self._address) from None


def _scheduler_gone(address: str) -> WorkerError:
    return WorkerError(
        f"the scheduler at {address} has gone; restart it and its workers, then use --resume"
    )


def _redirect_log() -> None:
    """Send Dask's log, which it writes to the terminal since its import, to our own."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True


def _close(client: "Client") -> None:
    """Close a client without Dask's complaints about a scheduler that has gone."""
    logging.disable()
    try:
        client.close()
    finally:
        logging.disable(logging.NOTSET)


def _check_workers(client: "Client", address: str, requirements: WorkerRequirements) -> None:
    """Raise WorkerError, with all that the workers lack, unless each meets the requirements."""
    no_files: frozenset[str] = frozenset()  # they are sent later, if need be
    answers: dict[str, list[str]] = {}
    until_s = time.monotonic() + _FIRST_WORKER_S
    try:
        while not answers:  # those that were there have died
            if (left_s := until_s - time.monotonic()) <= 0:
                raise TimeoutError
            client.wait_for_workers(1, timeout=left_s)
            answers = ask_workers(client, partial(requirements.missing, no_files), None)
    except TimeoutError:
        raise WorkerError(
            f"--scheduler {address}: it has no workers; start some with "
            f"`dask worker {address} --nthreads 1`, one for each core that is to play"
        ) from None
    except OSError:
        raise _scheduler_gone(address) from None
    if lines := [
        f"worker {worker}: {line}" for worker, lines in sorted(answers.items()) for line in lines
    ]:
        raise WorkerError("\n".join(lines))


class BegunElsewhereError(Exception):
    """Another worker had begun a block that may be played once only."""


def play_dask_block(job: BlockJob) -> BlockResult:
    """Play a block on the Dask worker whose task this thread runs.

    If a worker dies, the scheduler gives its task to another one. Raises BegunElsewhereError if the
    block may not be played again, and UnpreparedWorkerError.
    """
    require_run(job.run_id)
    if job.once:
        from distributed import get_client

        client, begun = get_client(), ["asara", job.run_id, job.submission]
        if client.get_metadata(begun, default=False):
            raise BegunElsewhereError("the worker that played it died")
        client.set_metadata(begun, True)
    return play_block(job, dask_context())


def dask_context() -> WorkerContext | None:
    """Return the Dask worker whose task this thread runs; None if it runs none."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None
    key = worker.get_current_task()

    def is_wanted() -> bool:
        """False if the task was cancelled, as all are when the runner dies.

        Dask does not end the thread of such a task.
        """
        state = worker.state.tasks.get(key)
        return state is not None and state.state != "cancelled"

    return WorkerContext(
        f"worker {worker.address}", (Path(worker.local_directory).resolve(),), is_wanted
    )
