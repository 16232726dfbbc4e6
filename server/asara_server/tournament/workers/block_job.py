"""Blocks as units of work: what the runner sends to a worker, and what it receives.

A worker gets the secrets of the deals that it plays, and nothing from which others derive. It
returns replays without a signature: only the runner has the key.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from asara_server.eventlog.journal import OpenMatch
from asara_server.logs import Fact
from asara_server.tournament.bots.match_settings import MatchSettings
from asara_server.tournament.run.block_journals import PlayedAttempt
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.schedule.legs import PendingMatch
from asara_server.tournament.standings.match_result import attempt_name
from asara_server.tournament.workers.requirements import WorkerRequirements


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of all blocks of a run, which each worker receives once."""

    run_id: str
    """The hash of the manifest, and a random part for each time that the run is played or resumed.
    """
    requirements: WorkerRequirements
    match_settings: MatchSettings
    log_level: int
    """Lowest level, as in `logging`, of the log lines to be returned."""
    directory: Path | None = None
    """Run directory, if the worker is to keep a journal of its block and the output of bots there.

    Such a worker plays one block at a time.
    """


@dataclass(frozen=True, slots=True)
class BlockJob:
    """Matches of a block that are still to be played: of one that shares a deal, only one."""

    run_id: str
    matches: tuple[PendingMatch, ...]
    secrets: Mapping[str, bytes]
    """Secrets of all attempts that may be made, by the name of the attempt."""
    out: Mapping[str, str]
    """Entries that could not be built or started and forfeit, and why."""
    suspended: Mapping[str, str]
    """Entries that forfeited too often and forfeit, and why."""
    begun: tuple[OpenMatch, ...] = ()
    """Matches that have begun, which a worker with a journal continues."""

    @property
    def block(self) -> str:
        return self.matches[0].match.deal_block

    @property
    def attempts(self) -> tuple[str, ...]:
        """Names of the attempts with which the worker begins."""
        return tuple(attempt_name(match.match_id, attempt) for match, attempt in self.matches)

    @property
    def playing(self) -> frozenset[str]:
        """Entries of which processes are started."""
        entries = {name for match, _ in self.matches for name in match.entries}
        return frozenset(entries - self.out.keys() - self.suspended.keys())

    @property
    def once(self) -> bool:
        """True if its match may begin once only in this leg, because others share its deal."""
        return bool(self.matches[0].match.shared_deal)


class BotLog(NamedTuple):
    """A part of a file in the folder of logs."""

    path: str
    """Relative to the folder."""
    offset: int
    """Number of bytes of the file that the worker returned before."""
    content: bytes


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The outcome of a block that a worker played."""

    worker: str
    """Name of the worker."""
    attempts: tuple[PlayedAttempt, ...]
    """Attempts in the order in which they ended."""
    unfinished: tuple[str, ...]
    """A line for each match that was stopped before its end: how far it was."""
    bot_logs: tuple[BotLog, ...]
    log_lines: tuple[Fact, ...]
    """Lines that the referee and the runner logged on the worker."""
    processes: tuple[Fact, ...]
    """Lines for `processes.jsonl`, if the worker could not write them there."""
    costs: RunCosts
    """Costs of the worker since it returned its last block, without wall time."""


class WorkerContext(NamedTuple):
    """The worker on which a block is played."""

    name: str
    private_paths: tuple[Path, ...] = ()
    """Paths that no bot may see on this worker."""
    is_wanted: Callable[[], bool] = lambda: True
    """Returns False once the runner does not wait for the block any more."""


class BotsEnd(NamedTuple):
    """What is left on a worker when all bots of a run have ended there."""

    bot_logs: tuple[BotLog, ...] = ()
    """The rest of their output."""
    processes: tuple[Fact, ...] = ()
    """Lines for `processes.jsonl`, as in `BlockResult`."""
    survivors: tuple[int, ...] = ()
    """Processes of bots that the kernel did not let end."""


class WorkerError(Exception):
    """The workers cannot be used; the text says why and what to do."""


class WorkerBackend(Protocol):
    """Workers that play blocks. All methods belong to one event loop."""

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
