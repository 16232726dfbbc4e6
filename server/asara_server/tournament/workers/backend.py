"""The interface between an executor and its workers."""

from concurrent.futures import Future
from typing import Protocol

from asara_server.tournament.workers.block_job import BlockJob, BlockResult


class WorkerError(Exception):
    """The workers cannot be worked with; the text says why and what to do."""


class WorkerBackend(Protocol):
    """Workers. All methods belong to one event loop."""

    tries: int
    """How many times a block is submitted, if the crew loses it each time."""

    async def slots(self) -> int:
        """Blocks that can be played at once now. May raise CrewError."""

    def submit(self, task: BlockJob) -> "Future[BlockResult]":
        """Have a block played by `play_block`."""

    def loss(self, error: BaseException) -> str:
        """How a block was lost that ended with this error; empty where it was not the worker.

        Raises CrewError where no other worker can help.
        """

    async def stop(self, run: str, finish_s: float) -> None:
        """Have `stop_blocks` called wherever blocks are played."""
