"""Plays scheduled matches with bots from a pool."""

import asyncio
import heapq
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from asara_codec.results import SeatResult, Termination
from asara_game.edition import Edition
from asara_game.rules import Rules, format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.eventlog.replay import Replay, replay_of
from asara_server.match.spec import SECOND_US, ClockSettings, MatchSpec, Player
from asara_server.referee.hosted import MatchCut
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.bots.process_starter import PooledBot
from asara_server.tournament.run.progress import MAX_ATTEMPTS
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import (
    MatchResult,
    SeatOutcome,
    attempt_name,
    utc_text,
    with_output,
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
class PlayedMatch:
    """A finished attempt at a match."""

    result: MatchResult
    replay: Replay | None
    """The replay; None if the match is void."""
    bots: tuple[PooledBot, ...]
    """The bots that played the match, by seat."""


class MatchRunner:
    """Plays the matches of a run, one or several at a time, with one referee and one pool."""

    def __init__(
        self,
        referee: Referee,
        pool: BotPool,
        *,
        edition: Edition,
        clocks: ClockSettings,
        secret_of: Callable[[str, str], bytes],
        joint_deals: bool = False,
        core_sets: CoreSets,
    ) -> None:
        """`secret_of` returns the secret of a match, given the names of its attempt and its shared
        deal, which may be empty. With `joint_deals`, every bot adds a nonce. The bots of each match
        get one of the `core_sets`.
        """
        self._referee = referee
        self._pool = pool
        self._edition = edition
        self._clocks = clocks
        self._secret_of = secret_of
        self._joint_deals = joint_deals
        self._core_sets = core_sets
        self._rules: dict[tuple[frozenset[RuleSet], int], Rules] = {}

    async def play(
        self, match: ScheduledMatch, first_attempt: int = 1, *, once: bool = False
    ) -> AsyncIterator[PlayedMatch]:
        """Play a match, repeating it if the referee fails, and yield each attempt as it ends.

        Stops without another attempt if the referee is stopped, or if the match is played `once`.
        Raises MachineError instead of yielding the last attempt if this machine did not start one
        of the bots.
        """
        for attempt in range(first_attempt, MAX_ATTEMPTS + 1):
            with self._core_sets.taken() as cores:
                played = await self._play_attempt(match, attempt, cores)
            if played is None:
                return
            failures = [bot.machine_failure for bot in played.bots if bot.machine_failure]
            if played.result.void and failures and attempt == MAX_ATTEMPTS:
                raise MachineError(
                    f"{match.match_id} could not begin in {MAX_ATTEMPTS} attempts: {failures[-1]}"
                )
            yield played
            if once or not played.result.void:
                return

    async def _play_attempt(
        self, match: ScheduledMatch, attempt: int, cores: str
    ) -> PlayedMatch | None:
        """Play a match once; return None if the referee is stopped before the end."""
        name = attempt_name(match.match_id, attempt)
        bots = [
            await self._pool.acquire(entry, name, seat, cores)
            for seat, entry in enumerate(match.entries)
        ]
        spec = MatchSpec(
            name,
            self._rules_of(match),
            tuple(Player(bot.entry, bot.token, bot.processes) for bot in bots),
            self._clocks,
            self._secret_of(name, match.shared_deal),
            joint=self._joint_deals,
            shared_deal=match.shared_deal,
        )
        terminations = [Termination.UNSPECIFIED] * len(bots)
        try:
            record = await self._referee.play(spec)
            terminations[: len(record.results)] = [seat.termination for seat in record.results]
        except MatchCut:
            return None
        finally:
            await asyncio.gather(*map(self._pool.release, bots, terminations))
        # Now the output of bots that forfeited is complete, because their processes have ended.
        seats = tuple(map(_seat_outcome, record.results, bots))
        result = MatchResult(
            match_id=match.match_id,
            attempt=attempt,
            round=match.round,
            rule_sets=format_rule_sets(match.rule_sets),
            block=match.block,
            duplicate_deal=match.block if match.kind == "duplicate" and not record.void else "",
            seats=seats,
            void=record.void,
            void_reason=record.void_reason,
            started=utc_text(record.started_unix_ms / 1000),
            seconds=round(record.duration_us / SECOND_US, 3),
        )
        return PlayedMatch(
            result,
            None if record.void else replay_of(record),
            tuple(bots),
        )

    def _rules_of(self, match: ScheduledMatch) -> Rules:
        """Return the rules of a match, shared by all matches of the same kind."""
        key = match.rule_sets, len(match.entries)
        if key not in self._rules:
            self._rules[key] = Rules(self._edition, *key)
        return self._rules[key]


def _seat_outcome(result: SeatResult, bot: PooledBot) -> SeatOutcome:
    """Return the referee's result for a seat. A forfeit also gets the printed lines that explain
    it.

    The referee never receives these lines, because it tells all bots of a match every detail it
    knows.
    """
    detail = result.detail
    if bot.process is not None and result.termination in _PROCESS_FAILED:
        detail = with_output(detail, bot.last_lines())
    elif result.termination.forfeit and (printed := bot.kit_message()):
        detail = with_output(detail, printed)
    return SeatOutcome(
        entry=result.entry,
        rank=result.rank,
        prestige=result.prestige,
        termination=result.termination,
        detail=detail,
    )
