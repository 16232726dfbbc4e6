"""A run on a worker: one referee for all its blocks, and the bots that play there.

Processes with a lifetime of "run" are kept from block to block, and end when the worker closes the
run. A worker that shares the run directory keeps a journal of its block.
"""

import asyncio
from collections.abc import Iterator, Set
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from asara_server.eventlog.journal import Fact as JournalFact
from asara_server.eventlog.journal import Journal, JournalError
from asara_server.logs import Fact, gather
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.bot_watch import BotWatch
from asara_server.tournament.execution.match_runner import (
    ExecutionContext,
    MatchRunner,
    match_runner,
)
from asara_server.tournament.run.costs import CostMeter
from asara_server.tournament.run.directory import block_journal
from asara_server.tournament.standings.match_result import PlayedAttempt
from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    BotLog,
    WorkerOutput,
)
from asara_server.tournament.workers.run_settings import RunSettings

if TYPE_CHECKING:
    from asara_server.tournament.workers.metrics_reporter import MetricsReporter

T = TypeVar("T")


class WorkerRun:
    """A run on this worker: `open` it, `play` blocks, and `close` it at the end.

    All methods belong to one event loop. Without a journal, several blocks can be played
    concurrently.
    """

    def __init__(
        self, settings: RunSettings, meter: CostMeter, reporter: "MetricsReporter | None" = None
    ) -> None:
        self.run_id = settings.run_id
        self.blocks_played = 0
        """Number of finished blocks."""
        self.closing: asyncio.Task[None] | None = None
        """The task that closes the run; None while the run can play blocks."""
        self._blocks: set[asyncio.Task[BlockResult]] = set()
        self._settings = settings
        self._meter = meter
        self._reporter = reporter
        self._log_lines: list[Fact] = []
        self._log = gather(self._log_lines, settings.log_level)
        self._processes: list[JournalFact] = []
        self._secrets: dict[str, bytes] = {}
        self._begun: set[str] = set()
        self._stopper: asyncio.Task[dict[str, str]] | None = None
        self._stack = AsyncExitStack()
        self._outputs = BotOutputs(settings.directory)
        self._journal: Journal | None = None
        """The open journal of a block, if there is one."""
        self._referee: Referee
        self._runner: MatchRunner

    async def open(self) -> None:
        """Open the run before its first block."""
        self._referee = Referee(log=self._log.bind(part="referee"))
        if self._reporter is not None:
            self._reporter.metrics.watch(self._referee)
        context = ExecutionContext(
            self._settings.match_settings,
            secret_of=lambda name, _block: self._secrets[name],
            sandbox=self._settings.sandbox(),
        )
        watch = BotWatch(meter=self._meter, record=self._record, log=self._log.bind(part="runner"))
        self._runner = await self._stack.enter_async_context(
            match_runner(context, self._referee, self._outputs.folder, watch=watch)
        )

    def _record(self, line: JournalFact) -> None:
        """Keep a line of the process record, also in the journal of the block if one is open."""
        self._processes.append(line)
        if self._journal is not None:
            with suppress(JournalError):  # raised by the next commit
                self._journal.note(line)

    @property
    def busy(self) -> bool:
        """True if blocks are being played."""
        return bool(self._blocks)

    async def close(self) -> WorkerOutput:
        """Cancel all blocks, and end all processes."""
        for block in self._blocks:
            block.cancel()
        try:
            await asyncio.gather(*self._blocks, return_exceptions=True)
            await self._stack.aclose()
            return self._output(None, set())._replace(survivors=self._runner.pool.survivors)
        finally:
            self._outputs.close()

    def _output(self, matches: Set[str] | None, still_open: Set[Path]) -> WorkerOutput:
        """Return what is new, with the output of these matches (see `BotOutputs.take`)."""
        return WorkerOutput(
            self._outputs.take(matches, still_open),
            _taken(self._processes),
            costs=self._meter.take(),
        )

    def has_begun(self, job: BlockJob) -> bool:
        """Return True if processes of this run may already have met a deal of this block."""
        return not self._begun.isdisjoint(job.block.attempt_names)

    def stop(self, finish_s: float) -> None:
        """Begin no further match; open decisions get `finish_s` seconds to be answered."""
        if self._stopper is None:
            self._stopper = asyncio.create_task(self._referee.stop(finish_s=finish_s))

    async def play(self, job: BlockJob, worker: str) -> BlockResult:
        """Play a block; a stopped run returns only the finished matches.

        Raises JournalError.
        """
        block = asyncio.create_task(self._play(job, worker))
        self._blocks.add(block)
        try:
            return await block
        finally:
            self._blocks.discard(block)
            self.blocks_played += 1

    async def _play(self, job: BlockJob, worker: str) -> BlockResult:
        pool = self._runner.pool
        await pool.exclude(job.out, job.suspended)
        self._begun.update(job.block.attempt_names)
        self._secrets |= job.secrets
        attempts: list[PlayedAttempt] = []
        try:
            with self._open_journal(job) as journal:
                await self._play_matches(job, attempts, journal)
                cut = {} if self._stopper is None else await self._stopper
        finally:
            for name in job.secrets:
                self._secrets.pop(name, None)
        return BlockResult(
            worker,
            tuple(attempts),
            tuple(line for name, line in cut.items() if name in job.secrets),
            self._output(set(job.secrets), pool.open_logs()),
            _taken(self._log_lines),
        )

    async def _play_matches(
        self,
        job: BlockJob,
        attempts: list[PlayedAttempt],
        journal: Journal | None,
    ) -> None:
        for attempt in job.block.attempts:
            if self._stopper is not None:
                return
            async for played, _ in self._runner.play(attempt, once=job.once):
                attempts.append(played)
                if journal is not None:
                    result, records = played
                    journal.end(result.played_as, result.to_json(), records)
                if self._reporter is not None:
                    self._reporter.report_soon()

    @contextmanager
    def _open_journal(self, job: BlockJob) -> Iterator[Journal | None]:
        """Yield the open journal of a block, which the referee writes; None without a journal."""
        if self._settings.directory is None:
            yield None
            return
        with Journal(block_journal(self._settings.directory, job.block.name)) as journal:
            for name, records in job.begun.items():
                journal.adopt(name, records)
            self._referee.use_journal(journal)
            self._journal = journal
            try:
                yield journal
                self._referee.flush()
            finally:
                self._journal = None


class BotOutputs:
    """The output of a run's bots, returned to the runner in parts.

    If the worker shares the run directory, output is written there, and nothing is returned.
    """

    def __init__(self, directory: Path | None) -> None:
        self._temporary: TemporaryDirectory[str] | None = None
        if directory is None:
            self._temporary = TemporaryDirectory(prefix="asara-run-")
            self.folder = Path(self._temporary.name)
        else:
            self.folder = directory / "logs"
        self._taken: dict[Path, int] = {}
        """Bytes already returned of each file that may still grow."""

    def take(self, matches: Set[str] | None, still_open: Set[Path]) -> tuple[BotLog, ...]:
        """Return new output of these matches, or of all matches, and of matches taken earlier.

        Files that are not `still_open` are complete and removed.
        """
        if self._temporary is None:
            return ()
        found = []
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            if not (matches is None or path.parent.name in matches or path in self._taken):
                continue
            offset = self._taken.get(path, 0)
            with path.open("rb") as file:
                file.seek(offset)
                content = file.read()
            if content or not offset:
                found.append(BotLog(path.relative_to(self.folder).as_posix(), offset, content))
            if path.with_suffix(".log") in still_open:
                self._taken[path] = offset + len(content)
            else:
                self._taken.pop(path, None)
                path.unlink()
        return tuple(found)

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()


def _taken(lines: list[T]) -> tuple[T, ...]:
    taken = tuple(lines)
    lines.clear()
    return taken
