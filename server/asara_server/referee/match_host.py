"""All matches of a referee, from the call to `play` until the result."""

import asyncio

from structlog.typing import FilteringBoundLogger

from asara_codec.results import Termination
from asara_server.eventlog.journal import Journal, JournalError
from asara_server.eventlog.recovery import RecoveredMatch, recover
from asara_server.match.inputs import Absence, EnterRecord
from asara_server.match.match import Match
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee import joint_deal
from asara_server.referee.group_commit import GroupCommit
from asara_server.referee.hosted import HostedBot, HostedMatch, wake
from asara_server.referee.limits import MOST_RECONNECTIONS, LimitSettings
from asara_server.referee.match_clock import MatchClock
from asara_server.referee.match_driver import MatchDriver
from asara_server.referee.match_ending import MatchEnding
from asara_server.referee.match_start import MatchStarter, restore
from asara_server.referee.stream_errors import ErrorKind


class MatchHost:
    """The waiting and running matches, and how they react when bots connect, leave or forfeit."""

    def __init__(
        self,
        clock: MatchClock,
        settings: LimitSettings,
        log: FilteringBoundLogger,
        journal: Journal | None = None,
    ) -> None:
        limits = settings.match_limits
        self.by_id: dict[str, HostedMatch] = {}
        """Matches by name, in the order of the calls to `play`."""
        self._clock = clock
        self._log = log
        self._commits = None if journal is None else GroupCommit(journal, self._journal_failed)
        self.ending = MatchEnding(
            clock, limits, log, self._commits, self._remove, settings.late_reply_s
        )
        self.driver = MatchDriver(clock, log, self._commits, self.ending)
        self.starter = MatchStarter(clock, limits, log, journal, self.driver, self.ending)

    async def play(self, spec: MatchSpec, bots: tuple[HostedBot, ...]) -> MatchRecord:
        """Play a match to its end; if the journal contains the match, continue after its last
        input.

        Raise MatchCut if the referee stops first, and JournalError if the journal fails.
        """
        recovered = None
        if self._commits is not None:
            if self._commits.error is not None:
                raise self._commits.error
            recovered = recover(self._commits.journal, spec)
        with self._clock.held():
            hosted = HostedMatch(spec, bots, asyncio.get_running_loop().create_future())
            return await self._play(hosted, recovered)

    async def _play(self, hosted: HostedMatch, recovered: RecoveredMatch | None) -> MatchRecord:
        spec = hosted.spec
        self.by_id[spec.match_id] = hosted
        self.starter.add(hosted)
        if recovered is not None:
            restore(hosted, recovered, self._clock, self.ending)
        self.starter.start_soon()
        try:
            return await hosted.result
        except asyncio.CancelledError:
            if spec.match_id in self.by_id:
                self.ending.cut(hosted)
            raise

    def use_journal(self, journal: Journal) -> None:
        """Write to another journal from now on; call this only while no match is hosted."""
        assert self._commits is not None
        assert not self.by_id
        self._commits.flush()
        self._commits.journal = journal
        self.starter.journal = journal

    def flush(self) -> None:
        """Journal and send everything that has happened so far.

        Call this before a match is shown to anybody, because nothing that was shown may be lost in
        a crash.
        """
        if self._commits is not None:
            self._commits.flush()

    async def stop(self, finish_s: float) -> list[str]:
        """Cut all matches short, after waiting at most `finish_s` for the open decisions.

        Return a line with the progress of each match.
        """
        cut = [self.ending.cut(hosted) for hosted in self.starter.waiting]
        running = list(self.by_id.values())
        for hosted in running:
            self.driver.drive(hosted, Match.halt, hosted.time_us(self._clock.now_us()))
        try:
            async with asyncio.timeout(finish_s):
                await asyncio.gather(*map(_decision_answered, running))
        except TimeoutError:
            pass  # the line of the match says which decision was open
        return cut + [self.ending.cut(hosted) for hosted in list(self.by_id.values())]

    # Bots

    def bot_connected(self, bot: HostedBot) -> None:
        """Bring a bot with a new stream back to its matches."""
        if bot.hello is None:
            return
        now = self._clock.now_us()
        for match_id, (hosted, seat) in list(bot.matches.items()):
            if self._reconnected_too_often(hosted, seat, now):
                continue
            presence = bot.hello.presence(bot.hello.last_events.get(match_id))
            self.driver.drive(hosted, Match.enter, seat, presence, hosted.time_us(now))
            joint_deal.ask_for_nonce(hosted, seat)
        bot.update_reading()
        self.starter.start_soon()

    def _reconnected_too_often(self, hosted: HostedMatch, seat: int, now: int) -> bool:
        """Forfeit a seat if its bot has returned to the match too often; return True if so."""
        records = hosted.match.records if hosted.match is not None else ()
        returns = sum(type(each) is EnterRecord and each.seat == seat for each in records)
        if returns < MOST_RECONNECTIONS:
            return False
        detail = f"reconnected more than {MOST_RECONNECTIONS} times in one match"
        violation = Termination.PROTOCOL_VIOLATION
        self.driver.drive(hosted, Match.forfeit, seat, violation, detail, hosted.time_us(now))
        return True

    def bot_disconnected(self, bot: HostedBot) -> None:
        """Start the reconnect clock in all matches of a bot that has lost its stream."""
        self.ending.bot_left(bot)
        now = self._clock.now_us()
        for match_id, (hosted, seat) in list(bot.matches.items()):
            match = hosted.match
            if match is not None and match.termination(seat).forfeit:
                del bot.matches[match_id]  # the steward plays on; the bot need not return
            self.driver.drive(hosted, Match.leave, seat, hosted.time_us(now))

    def forfeit_all(self, bot: HostedBot, termination: Termination, detail: str) -> None:
        """Forfeit all matches of a bot, including those that have not begun."""
        for hosted, seat in list(bot.matches.values()):
            if hosted.match is not None:
                now = hosted.time_us(self._clock.now_us())
                self.driver.drive(hosted, Match.forfeit, seat, termination, detail, now)
            else:
                hosted.absent[seat] = Absence(termination, detail)
                bot.matches.pop(hosted.spec.match_id, None)
                self.starter.start_soon()

    def accept_nonce(self, hosted: HostedMatch, seat: int, nonce: bytes) -> None:
        """Add a bot's nonce to a joint deal; raise StreamError if it is not acceptable."""
        joint_deal.accept_nonce(hosted, seat, nonce)
        self.starter.start_soon()

    def count_violation(self, kind: ErrorKind) -> None:
        if self.ending.counters is not None:
            self.ending.counters.count_violation(kind)

    # The end of a match

    def _remove(self, hosted: HostedMatch) -> None:
        hosted.stop_timer()
        if self.by_id.pop(hosted.spec.match_id, None) is None:
            return
        for bot in hosted.bots:
            bot.matches.pop(hosted.spec.match_id, None)
            bot.forfeited.discard(hosted.spec.match_id)
            bot.update_reading()
        self.starter.remove(hosted)
        wake(hosted.update_waiters)

    def _journal_failed(self, error: JournalError) -> None:
        """Give up all matches: without the journal, nothing more may happen or be sent."""
        self._log.error("journal failed", detail=str(error), matches=len(self.by_id))
        for hosted in list(self.by_id.values()):
            self.ending.fail(hosted, error)


async def _decision_answered(hosted: HostedMatch) -> None:
    """Wait until no decision is open in a match, or until it is over."""
    match = hosted.match
    while match is not None and match.asked is not None and not hosted.result.done():
        await hosted.updated()
