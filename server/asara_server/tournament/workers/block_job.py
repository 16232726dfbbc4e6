"""The messages between the runner and a worker.

The runner and its workers must have the same version of asara and of the game, and the entries'
files at the same paths.

A block is the unit of work. A worker gets only the secrets of the deals that it plays, and nothing
from which other secrets could be derived. It returns unsigned replays, because only the runner has
the key.
"""

import logging
import platform
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from asara_game.edition import load_edition
from asara_server.eventlog.journal import Fact as JournalFact
from asara_server.logs import Fact
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import PendingBlock
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import reductions
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox, require_freezer
from asara_server.tournament.sandbox.spec import ReservedPaths
from asara_server.tournament.schedule.match_settings import MatchSettings
from asara_server.tournament.standings.match_result import PlayedAttempt
from asara_server.user_error import UserError


class Program(NamedTuple):
    """Versions that must be equal in the runner and in all workers."""

    asara: str
    python: str
    """Python's major and minor version."""
    edition_sha256: str

    @classmethod
    def here(cls) -> Self:
        """Return the versions of this process."""
        python = ".".join(platform.python_version_tuple()[:2])
        return cls(version("asara"), python, load_edition().sha256.hex())


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings for all blocks of a run; each worker receives them once."""

    match_settings: MatchSettings
    """Their limits are limits that the runner's machine can keep, and so must the worker's."""
    reserved: ReservedPaths | None
    """The paths reserved in the runner's sandbox; None without a sandbox."""
    run_id: str = ""
    """The hash of the manifest, plus a random part for each session of the run."""
    log_level: int = logging.INFO
    """Minimum level, as in `logging`, of the log lines that workers return."""
    directory: Path | None = None
    """The run directory, if the worker should write its block's journal and bots' output there.

    A worker with a run directory plays one block at a time.
    """
    program: Program = field(default_factory=Program.here)

    def sandbox(self) -> Sandbox | None:
        """Return this process's sandbox for the run; None without one. Raises SandboxError."""
        reserved = self.reserved
        return None if reserved is None else _sandbox(self.match_settings.limits, reserved)

    def missing(self, playing: Container[str] | None = None) -> list[str]:
        """Return a line for each requirement that this process does not meet.

        With `playing`, files are checked for these entries only.
        """
        settings = self.match_settings
        labels = ("asara", "Python", "the edition of the game")
        lines = [
            f"it has {label} {ours}, but the runner has {theirs}: install the same on both"
            for label, ours, theirs in zip(labels, Program.here(), self.program, strict=True)
            if ours != theirs
        ]
        lines += [
            f"entry {entry.name}: {path} does not exist there; entries must be on a file system "
            "that all machines share, at the same path"
            for entry in settings.entries
            if playing is None or entry.name in playing
            for path in (settings.directory(entry), *entry.readable)
            if not path.exists()
        ]
        ponder = settings.ponder
        try:
            if (sandbox := self.sandbox()) is not None:
                for one in reductions(settings.limits, sandbox.tools.ceilings, builds=False):
                    raise SandboxError(f"{one.text}; {one.remedy}")
                if not ponder:
                    require_freezer(sandbox)
        except SandboxError as error:
            key = "--sandbox bubblewrap" if ponder else "ponder = false"
            lines.append(f"{key}: {error}")
        return lines


@cache
def _sandbox(limits: Limits, reserved: ReservedPaths) -> Sandbox:
    """Return this process's only sandbox of this kind, tested when it is created."""
    return find_sandbox(limits, reserved)


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
