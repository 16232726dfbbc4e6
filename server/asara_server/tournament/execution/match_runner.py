"""Plays scheduled matches with a referee that local bots can reach, and a pool of these bots.

An executor plays all matches of a run with match runners, in this process (`LocalExecutor`) or on
workers.
"""

import asyncio
import heapq
import os
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from asara_codec.results import SeatEnd, Termination
from asara_game.edition import load_edition
from asara_game.rules import Rules
from asara_game.vocabulary import RuleSet
from asara_server.match.spec import SECOND_US, MatchSpec, Player
from asara_server.network.open_files import raise_open_files_limit, require_open_files
from asara_server.referee.hosted import MatchCut, Wait
from asara_server.referee.referee import Referee
from asara_server.system import usable_cores
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.living_bots import end_recorded
from asara_server.tournament.bots.output import OutputTap
from asara_server.tournament.bots.pool import BotPool, BotWatch, Departure, PooledBot
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.config.tournament_file import MatchSettings, Remote
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.run.costs import CostMeter, RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import warn_of_shared_limits
from asara_server.tournament.schedule.schedule import MAX_ATTEMPTS, Attempt, ScheduledMatch
from asara_server.tournament.standings.match_result import (
    MatchResult,
    PlayedAttempt,
    SeatOutcome,
    utc_text,
)


class CoreSets:
    """The usable cores in equal sets, one per concurrent match; no sets if there are too few cores.

    Separate sets keep matches from slowing each other down. A limit on processor time alone is not
    enough: a bot with many processes can spend its time on all cores simultaneously, and the other
    bots then wait for a share.

    A bot can read which cores it has. Each match therefore gets the first free set. At the
    beginning of a leg, the sets thus do not depend on the order in which the previous leg's matches
    ended.
    """

    def __init__(self, matches: int, cores: int) -> None:
        """`matches` is the number of concurrent matches; each bot may use up to `cores` cores."""
        usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        size = len(usable) // max(matches, 1)
        sets = [usable[match * size : (match + 1) * size] for match in range(matches)]
        self._free = sorted(",".join(map(str, one)) for one in sets) if size >= cores else []

    @contextmanager
    def taken(self) -> Iterator[str]:
        """Take a free set until exit: core numbers separated by commas, or "" without sets."""
        cores = heapq.heappop(self._free) if self._free else ""
        try:
            yield cores
        finally:
            if cores:
                heapq.heappush(self._free, cores)


_PROCESS_FAILED = (Termination.NEVER_STARTED, Termination.CRASH)
"""Forfeits explained by the last lines of any output; others only by a message of the client."""


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """Everything needed to play matches.

    It never leaves its process, because all deals are derived from `secret_of`.
    """

    match_settings: MatchSettings
    secret_of: Callable[[str, str], bytes]
    """Returns the secret of a match, given the names of its attempt and its shared deal, which may
    be empty."""
    sandbox: Sandbox | None = None
    concurrency: int = 0
    """Number of concurrent matches, unless the executor limits its load in another way. With enough
    cores, each of these matches has its own cores for its bots."""
    remote: Remote | None = None
    """Settings for bots on other machines, if there are any."""


FINISH_S = 5.0
"""Seconds given to running matches to finish their open decisions when a run is stopped."""


class Executor(ABC):
    """Plays the matches of a run, in this process or elsewhere."""

    name: str
    """Name of this executor in `run.json`."""
    meter: CostMeter | None = None
    """Counts the costs of the matches; None before the first match."""

    @property
    def awaited(self) -> Sequence[str]:
        """Remote entries that matches are waiting for because their bots are not connected."""
        return ()

    @property
    def waits(self) -> Sequence[Wait]:
        """Bots that matches in this process are waiting for, longest wait first; for display."""
        return ()

    @property
    def stalled_s(self) -> float | None:
        """Seconds during which all clocks stood still because the referee was not running.

        None if the matches are not played in this process.
        """
        return None

    @property
    def costs(self) -> RunCosts:
        """Costs of the matches played so far."""
        return RunCosts() if self.meter is None else self.meter.costs

    @abstractmethod
    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Play the pending matches and record their results, until `progress.stopping` is set.

        Excluded entries forfeit. All bots have ended on return, even after an error.
        """


Bots = tuple[PooledBot, ...]
"""The bots that played a match, by seat."""


@asynccontextmanager
async def match_runner(
    context: ExecutionContext,
    referee: Referee,
    logs: Path,
    watch: BotWatch | None = None,
) -> "AsyncIterator[MatchRunner]":
    """Serve this referee to local bots; all bot processes have ended on exit.

    The output of bots goes to files in `logs`.
    """
    raise_open_files_limit()
    async with AsyncExitStack() as stack:
        settings, sandbox = context.match_settings, context.sandbox
        addresses = stack.enter_context(closing(BotAddresses(referee, settings.transport)))
        pool = BotPool(referee, addresses, settings, logs=logs, sandbox=sandbox, watch=watch)
        stack.push_async_callback(pool.close)
        yield MatchRunner(referee, pool, context)


class MatchRunner:
    """Plays matches, one or several at a time, with one referee and one pool of bots."""

    def __init__(self, referee: Referee, pool: BotPool, context: ExecutionContext) -> None:
        self.pool = pool
        self._referee = referee
        self._edition = load_edition()
        self._context = context
        self._core_sets = CoreSets(context.concurrency, context.match_settings.limits.cores)
        self._rules: dict[tuple[frozenset[RuleSet], int], Rules] = {}

    async def play(
        self, first: Attempt, *, once: bool = False
    ) -> AsyncIterator[tuple[PlayedAttempt, Bots]]:
        """Play a match, repeating it if the referee fails, and yield each attempt as it ends, with
        the bots that played it.

        Stops without another attempt if the referee is stopped, or if the match is played `once`.
        Raises MachineError instead of yielding the last attempt if this machine did not start one
        of the bots.
        """
        for attempt in first.to_last():
            with self._core_sets.taken() as cores:
                played = await self._play_attempt(attempt, cores)
            if played is None:
                return
            result, bots = played[0].result, played[1]
            failures = [bot.machine_failure for bot in bots if bot.machine_failure]
            if result.void and failures and attempt.number == MAX_ATTEMPTS:
                raise MachineError(
                    f"{first.match.match_id} could not begin in {MAX_ATTEMPTS} attempts: "
                    f"{failures[-1]}"
                )
            yield played
            if once or not result.void:
                return

    async def _play_attempt(
        self, attempt: Attempt, cores: str
    ) -> tuple[PlayedAttempt, Bots] | None:
        """Play a match once; return None if the referee is stopped before the end."""
        match, name = attempt.match, attempt.name
        settings = self._context.match_settings
        bots = [
            await self.pool.acquire(entry, name, seat, cores)
            for seat, entry in enumerate(match.entries)
        ]
        spec = MatchSpec(
            name,
            self._rules_of(match),
            tuple(Player(bot.entry, bot.token, bot.processes) for bot in bots),
            settings.clocks,
            self._context.secret_of(name, match.shared_deal),
            joint=settings.joint_deals,
            shared_deal=match.shared_deal,
            hide_forced=settings.hide_forced,
        )
        terminations = [Termination.UNSPECIFIED] * len(bots)
        try:
            record = await self._referee.play(spec)
            terminations[: len(record.ends)] = [end.termination for end in record.ends]
        except MatchCut:
            return None
        finally:
            await asyncio.gather(*map(self.pool.release, bots, terminations))
        # Now the output of bots that forfeited is complete, because their processes have ended.
        seats = tuple(map(_seat_outcome, record.ends, bots))
        result = MatchResult.of(
            attempt,
            started=utc_text(record.started_unix_ms / 1000),
            seconds=round(record.duration_us / SECOND_US, 3),
            seats=seats,
            void_reason=record.void_reason,
        )
        return PlayedAttempt(result, record.records), tuple(bots)

    def _rules_of(self, match: ScheduledMatch) -> Rules:
        """Return the rules of a match, shared by all matches of the same kind."""
        key = match.rule_sets, len(match.entries)
        if key not in self._rules:
            self._rules[key] = Rules(self._edition, *key)
        return self._rules[key]


def _seat_outcome(end: SeatEnd, bot: PooledBot) -> SeatOutcome:
    """Return the outcome for a bot's seat. A forfeit also gets the printed lines that explain it.

    The referee never receives these lines, because it tells all bots of a match every detail it
    knows.
    """
    printed = None
    if bot.process is not None and end.termination in _PROCESS_FAILED:
        printed = bot.last_lines()
    elif end.termination.forfeit:
        printed = bot.kit_message() or None
    return SeatOutcome.of(bot.entry, end, printed)


# In this process

_AHEAD: Final = 64
"""Number of queued matches searched for one whose entries are all idle."""


class MatchQueue:
    """The pending matches in order, shared by all tasks that iterate over the queue.

    A match is skipped while one of its bots is busy or not connected; a task waits if no other
    match is left. Matches whose entries are all idle come before matches for which a playing entry
    would need another process. The iteration ends when the queue is empty or the run is stopping.
    """

    def __init__(
        self, pending: Iterable[Attempt], remote_bots: RemoteBots, stopping: asyncio.Event
    ) -> None:
        self._pending = deque(pending)
        self._stopping = stopping
        self._remote_bots = remote_bots
        self._playing: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._pending)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Attempt:
        while self._pending and not self._stopping.is_set():
            index = self._next()
            if index is not None:
                pending = self._pending[index]
                del self._pending[index]
                self._playing.update(pending.match.entries)
                self._remote_bots.begin_match(pending.match.entries)
                return pending
            await self._remote_bots.wait_for_change()
        raise StopAsyncIteration

    def _next(self) -> int | None:
        """Return the index of the next playable match, or None if no match can be played yet."""
        unavailable = self._remote_bots.unavailable_entries()
        first = None
        for index, (match, _) in enumerate(self._pending):
            if first is not None and index >= _AHEAD:
                break
            if unavailable.isdisjoint(match.entries):
                if not any(self._playing[entry] for entry in match.entries):
                    return index
                first = index if first is None else first
        return first

    def finish_match(self, match: ScheduledMatch) -> None:
        """Free the bots of a finished match that came from the queue."""
        self._playing.subtract(match.entries)
        self._remote_bots.finish_match(match.entries)


_SURVIVORS_END_S: Final = 1.0
"""Seconds given, after each further leg, to processes left over from earlier legs."""


class LocalExecutor(Executor):
    """Plays as many concurrent matches as the tournament sets, with remote bots if there are
    any.
    """

    name = "local"

    def __init__(
        self,
        on_referee: Callable[[Referee], None] = lambda referee: None,
        on_listening: Callable[[str], None] = lambda address: None,
        show_output: Callable[[str], OutputTap] | None = None,
        *,
        strangers: bool = False,
        on_departure: Callable[[Departure], None] | None = None,
    ) -> None:
        """`on_referee` is called with the referee before the first match.

        `on_listening` is called with the address to which remote bots connect. `show_output` is
        called with the entry of every process, and returns a tap for the output. With `strangers`,
        the bots may belong to other people: the log then warns of kernel limits that one bot could
        use to stop all bots. `on_departure` is the same as in `BotWatch`.
        """
        self._on_departure = on_departure
        self._on_referee = on_referee
        self._on_listening = on_listening
        self._show_output = show_output
        self._strangers = strangers
        self.bot_seeds: Mapping[str, int] = {}
        """Seeds of the bots, by entry, from the run's beginning; empty if bots draw their own."""
        self._referee: Referee | None = None
        self._remote_bots: RemoteBots | None = None

    @property
    def awaited(self) -> Sequence[str]:
        return () if self._remote_bots is None else self._remote_bots.awaited_entries()

    @property
    def waits(self) -> Sequence[Wait]:
        return () if self._referee is None else self._referee.waits()

    @property
    def stalled_s(self) -> float:
        return 0.0 if self._referee is None else self._referee.clock.stood_us / SECOND_US

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Raises ServeError if remote bots cannot be served, and OpenFilesError."""
        meter = self.meter = CostMeter(cores=usable_cores())
        try:
            await self._play(progress, context, meter)
        finally:
            meter.stop()

    async def _play(
        self, progress: RunProgress, context: ExecutionContext, meter: CostMeter
    ) -> None:
        self.bot_seeds = context.match_settings.bot_seeds
        referee = self._referee = Referee(journal=progress.directory.journal)
        processes = _most_processes(progress, context)
        remote = sum(entry.remote for entry in context.match_settings.entries)
        require_open_files(
            referee.limits,
            processes=processes,
            remote_bots=remote if context.remote else None,
            remedy="lower jobs or limits.idle_processes",
        )
        if context.sandbox is not None and self._strangers:
            limits, ceilings = context.match_settings.limits, context.sandbox.tools.ceilings
            warn_of_shared_limits(processes, limits, ceilings)
        self._on_referee(referee)
        entries, report = context.match_settings.entries, progress.directory.write_remote
        bots = RemoteBots(referee, entries, context.remote, report)
        async with (
            bots.serve(self._on_listening),
            match_runner(
                context,
                referee,
                progress.directory.logs,
                watch=BotWatch(
                    self._show_output, self._on_departure, meter, progress.directory.processes.take
                ),
            ) as runner,
        ):
            await runner.pool.exclude(progress.out, progress.suspended)
            bots.start_waiting(runner.pool)
            self._remote_bots = bots
            stopper = asyncio.create_task(_stop_when_told(progress, referee, bots))
            try:
                await _LocalRun(progress, context, runner, bots).play()
                if progress.stopping.is_set():
                    await stopper
            finally:
                stopper.cancel()
                await asyncio.gather(stopper, return_exceptions=True)
                progress.exclude(runner.pool.out)


def _most_processes(progress: RunProgress, context: ExecutionContext) -> int:
    """Return the maximum number of bots that run at the same time."""
    settings = context.match_settings
    seats = max((len(match.entries) for match in progress.schedule), default=0)
    kept = sum(policy == "run" for policy in settings.processes.values())
    idle = min(settings.limits.idle_processes, context.concurrency * kept)
    return context.concurrency * seats + idle


@dataclass(frozen=True, slots=True)
class _LocalRun:
    """A run that is being played in this process."""

    progress: RunProgress
    context: ExecutionContext
    runner: MatchRunner
    bots: RemoteBots

    async def play(self) -> None:
        """Play all pending matches, and end every bot process after each leg."""
        progress = self.progress
        if not progress.legs:
            looks = None
            while looks != progress.looks_left:
                looks = progress.looks_left
                await self._play_together(progress.pending_attempts())
            return
        while leg := progress.next_leg(self.context.concurrency):
            await self._play_together(leg)
            survivors = await self.runner.pool.end_all()
            if progress.survived:
                sandbox = self.context.sandbox
                cgroups = sandbox.cgroup_parents if sandbox is not None else ()
                left = await end_recorded(progress.directory.processes, cgroups, _SURVIVORS_END_S)
                survivors = tuple(left)  # it also lists processes of the last leg
            progress.end_shared_deals(survivors)

    async def _play_together(self, pending: Iterable[Attempt]) -> None:
        """Play these matches, as many concurrently as allowed."""
        queue = MatchQueue(pending, self.bots, self.progress.stopping)
        players = [
            asyncio.create_task(self._play_matches(queue))
            for _ in range(min(self.context.concurrency, len(queue)))
        ]
        try:
            await asyncio.gather(*players)
        finally:
            for player in players:
                player.cancel()
            await asyncio.gather(*players, return_exceptions=True)

    async def _play_matches(self, queue: MatchQueue) -> None:
        """Play matches one after another until the queue is empty."""
        progress, pool = self.progress, self.runner.pool
        async for attempt in queue:
            if not progress.begin_block(attempt.match.deal_block):
                return
            played = None
            async for played, _ in self.runner.play(attempt, once=progress.legs):
                progress.exclude(pool.out)
                progress.record_result(played)
                await pool.exclude(progress.out, progress.suspended)
            queue.finish_match(attempt.match)
            if played is None:
                return


async def _stop_when_told(progress: RunProgress, referee: Referee, bots: RemoteBots) -> None:
    await progress.stopping.wait()
    bots.notify_change()
    progress.unfinished += (await referee.stop(finish_s=FINISH_S)).values()
