"""Plays a scheduled match: brings its bots to the referee, and says how it ended."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from asara_codec.results import SeatResult, Termination
from asara_game.edition import Edition
from asara_game.rules import Rules, format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.eventlog.replay import Replay, replay_of
from asara_server.match.spec import SECOND_US, ClockSettings, MatchSpec, Player
from asara_server.referee.match_host import MatchCut
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool, PooledBot
from asara_server.tournament.bots.process import with_last_words
from asara_server.tournament.run.progress import MAX_ATTEMPTS
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import (
    MatchResult,
    SeatOutcome,
    attempt_name,
    utc_text,
)

_PROCESS_FAILED = (Termination.NEVER_STARTED, Termination.CRASH)


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that was played, and its replay; none where it was void."""

    result: MatchResult
    replay: Replay | None


class MatchRunner:
    """Where the matches of a run are played: referee, bots, and what else they have in common."""

    def __init__(
        self,
        referee: Referee,
        pool: BotPool,
        *,
        edition: Edition,
        clocks: ClockSettings,
        secret_of: Callable[[str, str], bytes],
        joint: bool = False,
    ) -> None:
        """`secret_of` gives the secret of a match by its name as it is played and that of its
        mirrored block, which may be empty. `joint` deals take nonces of the bots as well.
        """
        self._referee = referee
        self._pool = pool
        self._edition = edition
        self._clocks = clocks
        self._secret_of = secret_of
        self._joint = joint
        self._rules: dict[tuple[frozenset[RuleSet], int], Rules] = {}

    async def play(self, match: ScheduledMatch, first: int = 1) -> AsyncIterator[PlayedMatch]:
        """Play a match, and again while the referee fails in it; each attempt as it ends.

        `first` is the attempt to begin with, where others were made before.

        Yields nothing more where the referee was told to stop before the end.
        """
        for attempt in range(first, MAX_ATTEMPTS + 1):
            played = await self._attempt(match, attempt)
            if played is None:
                return
            yield played
            if not played.result.void:
                return

    async def _attempt(self, match: ScheduledMatch, attempt: int) -> PlayedMatch | None:
        match_id = attempt_name(match.match_id, attempt)
        bots = [
            await self._pool.take(name, match_id, seat) for seat, name in enumerate(match.entries)
        ]
        mirrored_block = match.block if match.mirrored else ""
        spec = MatchSpec(
            match_id,
            self._rules_of(match),
            tuple(Player(bot.entry, bot.token) for bot in bots),
            self._clocks,
            self._secret_of(match_id, mirrored_block),
            joint=self._joint,
            mirrored_block=mirrored_block,
        )
        ends = [Termination.UNSPECIFIED] * len(bots)
        try:
            record = await self._referee.play(spec)
            lines = tuple(map(_seat_line, record.results, bots))
            ends[: len(lines)] = [line.termination for line in lines]
        except MatchCut:
            return None
        finally:
            await asyncio.gather(*map(self._pool.give_back, bots, ends))
        result = MatchResult(
            match_id=match.match_id,
            attempt=attempt,
            round=match.round,
            rule_sets=format_rule_sets(match.rule_sets),
            block=match.block,
            seats=lines,
            void=record.void,
            started=utc_text(record.started_unix_ms / 1000),
            seconds=round(record.duration_us / SECOND_US, 3),
        )
        return PlayedMatch(result, None if record.void else replay_of(record))

    def _rules_of(self, match: ScheduledMatch) -> Rules:
        """The rules of a match; all matches of one kind share them."""
        key = match.rule_sets, len(match.entries)
        if key not in self._rules:
            self._rules[key] = Rules(self._edition, *key)
        return self._rules[key]


def _seat_line(result: SeatResult, bot: PooledBot) -> SeatOutcome:
    """The referee's result; where a process failed, what it printed last is added.

    The referee is not told those words: what it knows of a result, all bots of the match hear.
    """
    detail = result.detail
    if bot.process is not None and result.termination in _PROCESS_FAILED:
        detail = with_last_words(detail, bot.last_words())
    return SeatOutcome(
        entry=result.entry,
        rank=result.rank,
        prestige=result.prestige,
        termination=result.termination,
        detail=detail,
    )
