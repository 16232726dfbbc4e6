"""The interface between `WorkerExecutor` and its workers."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    BotsEnd,
    RunSettings,
)


class WorkerError(Exception):
    """The workers cannot be used; the text says why and what to do."""


class WorkerBackend(Protocol):
    """Workers that play deal blocks. All methods belong to one event loop."""

    name: str
    """Name in `run.json`."""
    cores: int
    """Number of cores of this machine that they may use; 0 if they are on other machines."""

    shares_directory: bool
    """True if workers can write to the run directory: then they keep journals there."""

    @property
    def sharing(self) -> int:
        """Number of workers that share the idle processes which the limits allow."""

    def begin_run(self, settings: RunSettings) -> None:
        """Have every worker call `begin_run` before it gets a block of this run."""

    async def take_in(self) -> bool:
        """Let workers play that have joined; return True if there are any. May raise WorkerError.

        No block of a leg is being played: what earlier workers left on their machine may live.
        """

    async def slots(self) -> int:
        """Return the number of blocks that can be played at once now. May raise WorkerError."""

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        """Have a worker play a block with `play_block`."""

    def loss_reason(self, error: BaseException) -> str:
        """Return why a worker lost a block that ended with this error; "" if none lost it.

        Raises WorkerError if no other worker can help.
        """

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        """Have every worker call `stop_blocks`."""

    async def end_bots(self, run_id: str) -> Sequence[BotsEnd]:
        """End all bots of the run on the machines of these workers, and return what is left.

        Bots of workers that have died are ended, too, and those of an earlier part of the run. No
        worker plays a block. Raises WorkerError if bots may live on.
        """

    async def end_run(self, run_id: str) -> Sequence[BotsEnd]:
        """Have every worker call `end_run`, and return what they returned."""
