"""Blocks as units of work: what the runner sends to a worker, and what the worker returns.

A worker gets only the secrets of the deals that it plays, and nothing from which other secrets
could be derived. It returns unsigned replays, because only the runner has the key.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from asara_server.eventlog.journal import Fact as JournalFact
from asara_server.logs import Fact
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import PendingBlock
from asara_server.tournament.standings.match_result import PlayedAttempt
from asara_server.tournament.workers.run_settings import RunSettings
from asara_server.user_error import UserError


@dataclass(frozen=True, slots=True)
class BlockJob:
    """A block to be played; if the block shares a deal, it has a single match."""

    run_id: str
    block: PendingBlock
    secrets: Mapping[str, bytes]
    """Secrets of all attempts that may be made, by attempt name."""
    out: Mapping[str, str]
    """Entries that forfeit because they could not be built or started, with the reasons."""
    suspended: Mapping[str, str]
    """Entries that forfeit because they forfeited too often, with the reasons."""
    begun: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    """Records of the matches that have begun, by match name. A worker that has a journal continues
    these matches."""

    @property
    def playing(self) -> frozenset[str]:
        """Entries whose processes will be started."""
        entries = {name for match, _ in self.block.attempts for name in match.entries}
        return frozenset(entries - self.out.keys() - self.suspended.keys())

    @property
    def once(self) -> bool:
        """True if its match may begin only once in this leg, because others share the deal."""
        return bool(self.block.attempts[0].match.shared_deal)


class BotLog(NamedTuple):
    """Part of a bot's log file."""

    path: str
    """Path relative to the folder of logs."""
    offset: int
    """Number of bytes of the file that the worker returned earlier."""
    content: bytes


class WorkerOutput(NamedTuple):
    """What a worker returns besides attempts, each thing once."""

    bot_logs: tuple[BotLog, ...] = ()
    processes: tuple[JournalFact, ...] = ()
    """Lines of the process record."""
    survivors: tuple[int, ...] = ()
    """Bot processes that the kernel did not let end."""
    costs: RunCosts = RunCosts()
    """Costs of the worker, without wall time."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The outcome of a block played by a worker."""

    worker: str
    """Name of the worker."""
    attempts: tuple[PlayedAttempt, ...]
    """Attempts in the order in which they ended."""
    unfinished: tuple[str, ...]
    """One line for each match that was stopped before its end, with its progress."""
    output: WorkerOutput = field(default_factory=WorkerOutput)
    log_lines: tuple[Fact, ...] = ()
    """Lines logged by the referee and the runner's code on the worker."""


class WorkerContext(NamedTuple):
    """Describes the worker on which a block is played."""

    name: str
    private_paths: tuple[Path, ...] = ()
    """Paths that no bot on this worker may see."""
    is_wanted: Callable[[], bool] = lambda: True
    """Returns False once the runner no longer waits for the block."""


class WorkerError(UserError):
    """Raised if the workers cannot be used; the text gives the reason and the remedy."""

    status = 1


class WorkerBackend(Protocol):
    """A set of workers that play blocks. All methods belong to one event loop."""

    name: str
    """Name of the backend in `run.json`."""
    cores: int
    """Number of cores on this machine that the workers may use; 0 if they are on other machines."""

    shares_directory: bool
    """True if workers can write to the run directory. They then keep journals there."""

    @property
    def sharing(self) -> int:
        """Number of workers among which the limit on idle processes is divided."""

    def begin_run(self, settings: RunSettings) -> None:
        """Have every worker call `begin_run` before its first block of this run."""

    async def take_in(self) -> bool:
        """Accept newly joined workers; return True if there are any. May raise WorkerError.

        No block of a leg may be in play, because bots of earlier workers may still live on their
        machine.
        """

    async def slots(self) -> int:
        """Return the number of blocks that can be played at present. May raise WorkerError."""

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        """Have a worker play a block with `play_block`."""

    def loss_reason(self, error: BaseException) -> str:
        """Return why a worker lost a block that ended with this error; "" if the block was not
        lost.

        Raises WorkerError if no other worker can help.
        """

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        """Have every worker call `stop_blocks`."""

    async def end_bots(self, run_id: str, living: Sequence[str]) -> Sequence[WorkerOutput]:
        """End all bots of the run on these workers' machines, and return what is left.

        This includes bots of workers that have died, and bots of earlier sessions of the run.
        `living` are the processes on this machine for which no end is recorded. No worker may be
        playing a block. Raises WorkerError if bots may still be alive.
        """

    async def end_run(self, run_id: str) -> Sequence[WorkerOutput]:
        """Have every worker call `end_run`, and return the workers' results."""
