"""Plays the matches of a run on workers, each of which plays one block at a time.

One worker plays a block from its first match to its last. If the block shares a deal, a worker
plays one of its matches in each leg (see `schedule`). After a leg, all workers end their bots. If a
worker dies, another worker continues from the dead worker's journal, at the same decision. Workers
that do not share the run directory keep no journal. A lost block is then played again from the
start with the same deals, because all bots that knew these deals have ended. A match that shares a
deal therefore waits for the end of the leg. A block that every worker loses has no result.

The runner and its workers must have the same version of asara and of the game, and the entries'
files at the same paths. A worker gets only the secrets of the deals that it plays, and nothing from
which other secrets could be derived. It returns unsigned replays, because only the runner has the
key.
"""

import asyncio
import logging
import platform
import secrets
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from asara_game.edition import load_edition
from asara_server.journal.journal import Fact as JournalFact
from asara_server.logs import Fact, logger, repeat
from asara_server.tournament.bots.output import SUFFIX, moved_index
from asara_server.tournament.config.tournament_file import Limits, MatchSettings
from asara_server.tournament.execution.match_runner import FINISH_S, ExecutionContext, Executor
from asara_server.tournament.run.costs import CostMeter, RunCosts
from asara_server.tournament.run.directory import block_journal
from asara_server.tournament.run.progress import PendingBlock, RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import reductions
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox, require_freezer
from asara_server.tournament.sandbox.resources import ReservedPaths
from asara_server.tournament.schedule.schedule import MAX_ATTEMPTS
from asara_server.tournament.standings.match_result import MatchResult, PlayedAttempt, utc_now
from asara_server.user_error import UserError


def versions() -> dict[str, str]:
    """Return the versions that must be equal in the runner and in all workers."""
    return {
        "asara": version("asara"),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "the edition of the game": load_edition().sha256.hex(),
    }


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
    versions: Mapping[str, str] = field(default_factory=versions)
    """The runner's versions."""

    def sandbox(self) -> Sandbox | None:
        """Return this process's sandbox for the run; None without one. Raises SandboxError."""
        reserved = self.reserved
        return None if reserved is None else _sandbox(self.match_settings.limits, reserved)

    def missing(self, playing: Container[str] | None = None) -> list[str]:
        """Return a line for each requirement that this process does not meet.

        With `playing`, files are checked for these entries only.
        """
        settings = self.match_settings
        lines = [
            f"it has {label} {ours}, but the runner has {theirs}: install the same on both"
            for label, ours in versions().items()
            if ours != (theirs := self.versions[label])
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


_CHECK_INTERVAL_S = 1.0
"""Seconds between two counts of the workers."""
_RETURN_S = 10.0
"""Seconds given to workers, after the time for open decisions, to end bots and return blocks."""


class WorkerExecutor(Executor):
    """An `Executor` that uses the workers of a backend."""

    def __init__(self, backend: WorkerBackend) -> None:
        self.name = backend.name
        self._backend = backend

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        meter = self.meter = CostMeter(cores=self._backend.cores)
        try:
            await _BlockScheduler(self._backend, progress, context, meter).play()
        finally:
            meter.stop()


class _BlockScheduler:
    """Submits the pending blocks of one run to workers, and records the results."""

    def __init__(
        self,
        backend: WorkerBackend,
        progress: RunProgress,
        context: ExecutionContext,
        meter: CostMeter,
    ) -> None:
        self._backend = backend
        self._meter = meter
        self._progress = progress
        self._context = context
        manifest = progress.directory.info.manifest_sha256
        self._run_id = f"{manifest}-{secrets.token_hex(8)}"
        self._pending: deque[PendingBlock] = deque()
        self._running: dict[asyncio.Future[BlockResult], PendingBlock] = {}
        self._losses: Counter[str] = Counter()
        self._submissions = progress.submissions
        self._no_workers = False
        self._survivors: tuple[int, ...] = ()
        self._log_sizes: dict[str, int] = {}
        """Size of each log before a worker appended to it, in bytes, by path in the log folder."""
        self._logger = logger("runner")

    async def play(self) -> None:
        if self._backend.shares_directory:
            self._progress.directory.make_journals()
        self._backend.begin_run(self._run_settings())
        stopping = asyncio.create_task(self._progress.stopping.wait())
        try:
            while not stopping.done() and await self._begin_leg():
                while (self._running or self._pending) and not stopping.done():
                    await self._submit_blocks()
                    events: list[asyncio.Future[Any]] = [*self._running, stopping]
                    await asyncio.wait(
                        events, timeout=_CHECK_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED
                    )
                    self._record_blocks()
            if stopping.done():
                await self._stop()
        finally:
            stopping.cancel()
            if self._running:
                await self._backend.stop_blocks(self._run_id, 0.0)
                for future in self._running:
                    future.cancel()
            self._record_output(*await self._backend.end_run(self._run_id))
            self._progress.directory.remove_journals()

    async def _begin_leg(self) -> bool:
        """End all bots and queue the next blocks; return False at the end of the run."""
        progress = self._progress
        if not progress.legs:
            self._pending.extend(progress.pending_blocks())
        else:
            await self._backend.take_in()
            await self._end_bots()
            leg = progress.next_leg(await self._backend.slots() or self._context.concurrency)
            self._pending.extend(PendingBlock(one.match.deal_block, (one,)) for one in leg)
        return bool(self._pending)

    async def _end_bots(self) -> None:
        if self._backend.shares_directory:  # it also ends recorded processes of earlier legs
            self._survivors = ()
        living = tuple(self._progress.directory.processes.living)
        self._record_output(*await self._backend.end_bots(self._run_id, living))
        self._progress.end_shared_deals(self._survivors)

    async def _take_in_workers(self) -> None:
        """Accept workers that have joined; with legs, only while no other worker plays."""
        legs = self._progress.legs
        if not (legs and self._running) and await self._backend.take_in() and legs:
            await self._end_bots()

    def _record_output(self, *outputs: WorkerOutput) -> None:
        for one in outputs:
            self._write_logs(one.bot_logs)
            self._meter.add(one.costs)
            self._progress.directory.processes.take(*one.processes)
            self._survivors += one.survivors

    async def _submit_blocks(self) -> None:
        """Submit one block for each free slot."""
        await self._take_in_workers()
        slots = await self._backend.slots()
        if self._no_workers != (slots == 0):
            self._no_workers = slots == 0
            self._logger.warning("no workers left" if self._no_workers else "workers are back")
        while self._pending and len(self._running) < slots:
            block = self._pending.popleft()
            if self._progress.begin_block(block.name):
                if self._backend.shares_directory:
                    path = block_journal(self._progress.directory.path, block.name)
                    path.touch(mode=0o600)  # no match of the block has begun
                self._submissions.submit(block.attempt_names)
                future = asyncio.wrap_future(self._backend.submit(self._job(block)))
                self._running[future] = block

    def _run_settings(self) -> RunSettings:
        settings, sandbox = self._context.match_settings, self._context.sandbox
        directory = self._progress.directory
        idle = settings.limits.idle_processes // self._backend.sharing
        limits = settings.limits.model_copy(update={"idle_processes": idle})
        return RunSettings(
            replace(settings, limits=limits),
            None if sandbox is None else sandbox.reserved,
            run_id=self._run_id,
            log_level=self._logger.get_effective_level(),
            directory=directory.path.resolve() if self._backend.shares_directory else None,
        )

    def _job(self, block: PendingBlock) -> BlockJob:
        begun = self._progress.directory.journal.unfinished
        return BlockJob(
            run_id=self._run_id,
            block=block,
            secrets=self._secrets(block),
            out=dict(self._progress.out),
            suspended=dict(self._progress.suspended),
            begun={name: begun[name] for name in block.attempt_names if name in begun}
            if self._backend.shares_directory
            else {},
        )

    def _secrets(self, block: PendingBlock) -> dict[str, bytes]:
        """Return the secrets of all attempts that may be needed if the referee fails."""
        return {
            attempt.name: self._context.secret_of(attempt.name, attempt.match.shared_deal)
            for first in block.attempts
            for attempt in first.to_last()
        }

    def _record_blocks(self) -> None:
        """Record the blocks that workers have returned or lost."""
        for future in [future for future in self._running if future.done()]:
            block = self._running.pop(future)
            try:
                result = future.result()
            except WorkerError:
                raise
            except (Exception, asyncio.CancelledError) as error:
                why = self._backend.loss_reason(error)
                if not why:
                    raise
                self._record_loss(block, why)
            else:
                self._record_block(block, result)

    async def _stop(self) -> None:
        """Have workers finish their open decisions, and record the matches that have ended."""
        await self._backend.stop_blocks(self._run_id, FINISH_S)
        if self._running:
            await asyncio.wait(list(self._running), timeout=FINISH_S + _RETURN_S)
            self._record_blocks()
        for block in self._running.values():
            self._progress.unfinished.append(f"block {block.name}: its worker did not stop in time")

    def _record_block(self, block: PendingBlock, result: BlockResult) -> None:
        progress = self._progress
        repeat(result.log_lines, worker=result.worker)
        self._record_output(result.output)
        for attempt in result.attempts:
            progress.record_result(attempt)
        progress.unfinished += result.unfinished
        ended = {attempt.result.match_id for attempt in result.attempts}
        left = tuple(one for one in block.attempts if one.match.match_id not in ended)
        if not left:
            block_journal(progress.directory.path, block.name).unlink(missing_ok=True)
        elif progress.stopping.is_set():
            progress.recover_block(block.name)
        else:
            self._record_loss(block._replace(attempts=left), f"{result.worker} did not finish it")

    def _write_logs(self, logs: Iterable[BotLog]) -> None:
        """Append bots' output to the logs; indexes of a worker count from its own first byte."""
        for name, offset, content in logs:
            path = self._progress.directory.logs / name
            path.parent.mkdir(exist_ok=True)
            log = path.with_suffix(".log")
            before = self._log_sizes.get(str(log), 0)
            if not offset:  # left by an earlier attempt at the block
                before = log.stat().st_size if log.is_file() else 0
                self._log_sizes[str(log)] = before
            with path.open("ab") as file:
                file.write(moved_index(content, before) if path.suffix == SUFFIX else content)

    def _record_loss(self, block: PendingBlock, why: str) -> None:
        """Queue a lost block again, or give it up after too many losses."""
        if self._progress.stopping.is_set():
            self._progress.unfinished.append(f"block {block.name}: {why}")
            return
        shared = bool(block.attempts[0].match.shared_deal)
        name = f"match {block.attempts[0].match.match_id}" if shared else f"block {block.name}"
        self._losses[name] += 1
        self._submissions.lose(block.attempt_names, why)
        times = self._losses[name]
        self._logger.warning("block lost", block=block.name, why=why, times=times)
        # True if everything that the worker did is known from its journal.
        known = self._backend.shares_directory and self._progress.recover_block(block.name)
        block = self._left_of(block)
        if not block.attempts:
            return
        if times < MAX_ATTEMPTS:
            if known or not shared:
                self._pending.appendleft(block)
            # The leg's other matches come first: then the bots that know the deal have ended.
            return
        self._progress.unfinished.append(f"{name} is given up without a result: {why}")
        for first in block.attempts:
            for attempt in first.to_last():
                void = MatchResult.of(attempt, started=utc_now(), void_reason=why)
                self._progress.record_result(PlayedAttempt(void))

    def _left_of(self, block: PendingBlock) -> PendingBlock:
        pending = {one.match.match_id: one for one in self._progress.pending_attempts()}
        left = [pending.get(one.match.match_id) for one in block.attempts]
        return block._replace(attempts=tuple(one for one in left if one is not None))
