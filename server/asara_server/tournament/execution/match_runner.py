"""Plays scheduled matches with a referee that local bots can reach, and a pool of these bots.

An executor plays all matches of a run with match runners, in this process or elsewhere.
"""

import asyncio
import heapq
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from asara_codec.results import SeatEnd, Termination
from asara_game.edition import load_edition
from asara_game.rules import Rules
from asara_game.vocabulary import RuleSet
from asara_server.match.spec import SECOND_US, MatchSpec, Player
from asara_server.network.open_files import raise_open_files_limit
from asara_server.referee.hosted import MatchCut, Wait
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.pool import BotPool, BotWatch, PooledBot
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.config.tournament_file import Remote
from asara_server.tournament.run.costs import CostMeter, RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.match_settings import MatchSettings
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
