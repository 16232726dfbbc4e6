"""A venue where workers play: it gives deal blocks to a crew, and keeps what comes back.

A block is played by one worker from its first match to its last. Where the worker dies, the block
is given to another one and played again from its start, by the same deals: nothing of it was known
to anybody but bots that are gone. A block that no worker survives has no result in the end.
"""

import asyncio
import secrets
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from asara_codec.results import Termination
from asara_game.rules import format_rule_sets
from asara_server.logs import logger, repeat
from asara_server.tournament.execution.executor import FINISH_S, ExecutionContext
from asara_server.tournament.run.progress import MAX_ATTEMPTS, PendingBlock, RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.spec import SandboxConfig
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, attempt_name, utc_now
from asara_server.tournament.workers.backend import WorkerBackend, WorkerError
from asara_server.tournament.workers.block_job import (
    BlockJob,
    BlockResult,
    UnfitWorkerError,
    worker_requirements,
)

_LOOK_S = 1.0
"""Between two looks at how many workers there are."""
_HAND_IN_S = 10.0
"""Seconds that workers have, beyond those for open decisions, to end bots and hand in."""


def sandbox_config(sandbox: Sandbox | None) -> SandboxConfig | None:
    """What a worker makes the same sandbox from."""
    return None if sandbox is None else SandboxConfig(sandbox.secret, sandbox.shared)


class WorkerExecutor:
    """The venue."""

    def __init__(self, backend: WorkerBackend) -> None:
        self._backend = backend

    @property
    def awaited(self) -> Sequence[str]:
        return ()

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        await _Shift(self._backend, progress, context).play()


class _Shift:
    """The work of a crew on one run."""

    def __init__(
        self, backend: WorkerBackend, progress: RunProgress, context: ExecutionContext
    ) -> None:
        self._backend = backend
        self._progress = progress
        self._context = context
        self._sandbox_config = sandbox_config(context.sandbox)
        self._run = secrets.token_hex(8)
        self._waiting = deque(progress.blocks())
        self._running: dict[asyncio.Future[BlockResult], PendingBlock] = {}
        self._losses: Counter[str] = Counter()
        self._failed_starts: Counter[str] = Counter()
        """By entry, in a row."""
        self._deserted = False
        self._logger = logger("runner")

    async def play(self) -> None:
        stopping = asyncio.create_task(self._progress.stopping.wait())
        try:
            while not self._progress.stopping.is_set():
                await self._submit()
                if not (self._running or self._waiting):
                    return
                events: list[asyncio.Future[Any]] = [*self._running, stopping]
                await asyncio.wait(events, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                self._collect()
            await self._finish()
        finally:
            stopping.cancel()
            if self._running:
                await self._backend.stop(self._run, 0.0)
                for future in self._running:
                    future.cancel()

    async def _submit(self) -> None:
        """Give out as many blocks as there is room for."""
        slots = await self._backend.slots()
        if self._deserted != (slots == 0):
            self._deserted = slots == 0
            self._logger.warning("no worker is left" if self._deserted else "workers are back")
        while self._waiting and len(self._running) < slots:
            block = self._waiting.popleft()
            if self._progress.begin(block.name):
                future = asyncio.wrap_future(self._backend.submit(self._task(block)))
                self._running[future] = block

    def _task(self, block: PendingBlock) -> BlockJob:
        match_settings = self._context.match_settings
        excluded = self._progress.out | self._progress.suspended
        started = {name for match, _ in block.matches for name in match.entries} - excluded.keys()
        entries = tuple(entry for entry in match_settings.entries if entry.name in started)
        return BlockJob(
            run=self._run,
            needs=worker_requirements(entries, match_settings.built, self._sandbox_config),
            match_settings=match_settings,
            matches=block.matches,
            secrets=self._secrets(block),
            excluded=excluded,
            log_level=self._logger.get_effective_level(),
        )

    def _secrets(self, block: PendingBlock) -> dict[str, bytes]:
        """Of its matches, with those of the attempts that follow where the referee fails."""
        found = {}
        for match, first in block.matches:
            for attempt in range(first, MAX_ATTEMPTS + 1):
                name = attempt_name(match.match_id, attempt)
                mirrored_block = match.block if match.mirrored else ""
                found[name] = self._context.secret_of(name, mirrored_block)
        return found

    def _collect(self) -> None:
        """Take what was handed in, and see what was lost."""
        for future in [future for future in self._running if future.done()]:
            block = self._running.pop(future)
            try:
                done = future.result()
            except UnfitWorkerError as error:
                raise WorkerError(str(error)) from None
            except (Exception, asyncio.CancelledError) as error:
                why = self._backend.loss(error)
                if not why:
                    raise
                self._lose(block, why)
            else:
                self._keep(block, done)

    async def _finish(self) -> None:
        """Let open decisions be answered, and take what is over by then."""
        await self._backend.stop(self._run, FINISH_S)
        if self._running:
            await asyncio.wait(list(self._running), timeout=FINISH_S + _HAND_IN_S)
            self._collect()
        for block in self._running.values():
            self._progress.cut.append(f"block {block.name}: its worker did not stop in time")

    def _keep(self, block: PendingBlock, done: BlockResult) -> None:
        repeat(done.facts, worker=done.place)
        for name, printed in done.logs:
            path = self._progress.directory.logs / name
            path.parent.mkdir(exist_ok=True)
            with path.open("ab") as file:
                file.write(printed)
        last: dict[str, MatchResult] = {}
        for result, records in done.played:
            self._progress.take(result, records, self._progress.out)
            self._count_starts(result)
            last[result.match_id] = result
        self._progress.cut += done.cut
        for match, _ in block.matches:
            if match.match_id in last:
                self._progress.close(match, last[match.match_id])
        left = tuple(one for one in block.matches if one[0].match_id not in last)
        if left and not self._progress.stopping.is_set():
            self._lose(replace(block, matches=left), f"{done.place} broke it off")

    def _count_starts(self, result: MatchResult) -> None:
        """Who fails to start too often in a row is out, as in one pool of bots."""
        for line in result.seats:
            if line.entry in self._progress.out or line.entry in self._progress.suspended:
                continue
            if line.termination != Termination.NEVER_STARTED:
                self._failed_starts[line.entry] = 0
                continue
            self._failed_starts[line.entry] += 1
            times = self._failed_starts[line.entry]
            if times >= self._context.match_settings.limits.failed_starts:
                why = f"not started again after {times} failures in a row"
                self._progress.out[line.entry] = why
                self._logger.warning("entry is out", entry=line.entry, why=why)

    def _lose(self, block: PendingBlock, why: str) -> None:
        """A worker did not hand in a block: it is played again, unless that was tried enough."""
        if self._progress.stopping.is_set():
            self._progress.cut.append(f"block {block.name}: {why}")
            return
        self._losses[block.name] += 1
        times = self._losses[block.name]
        self._logger.warning("block lost", block=block.name, why=why, times=times)
        if times < self._backend.tries:
            self._waiting.appendleft(block)
            return
        self._progress.cut.append(f"block {block.name} has no result, and is given up: {why}")
        for match, first in block.matches:
            for attempt in range(first, MAX_ATTEMPTS + 1):
                self._progress.take(_void(match, attempt), None)
            self._progress.close(match, _void(match, MAX_ATTEMPTS))


def _void(match: ScheduledMatch, attempt: int) -> MatchResult:
    """A match of which nothing was handed in."""
    return MatchResult(
        match_id=match.match_id,
        attempt=attempt,
        round=match.round,
        rule_sets=format_rule_sets(match.rule_sets),
        block=match.block,
        seats=(),
        void=True,
        started=utc_now(),
        seconds=0.0,
    )
