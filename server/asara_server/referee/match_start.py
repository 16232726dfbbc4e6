"""The start of matches, which wait for their bots and for the nonces of a joint deal."""

import asyncio
import time

from structlog.typing import FilteringBoundLogger

from asara_codec.results import Termination
from asara_server.eventlog.journal import Journal
from asara_server.eventlog.record_codec import record_bytes
from asara_server.eventlog.recovery import RecoveredMatch, last_us
from asara_server.eventlog.replay import ReplayHeader
from asara_server.match.inputs import Absence
from asara_server.match.match import Match
from asara_server.match.spec import MatchLimits, MatchSpec
from asara_server.referee import joint_deal
from asara_server.referee.hosted import HostedBot, HostedMatch
from asara_server.referee.match_clock import MatchClock
from asara_server.referee.match_driver import MatchDriver
from asara_server.referee.match_ending import MatchEnding


def restore(
    hosted: HostedMatch, recovered: RecoveredMatch, clock: MatchClock, ending: MatchEnding
) -> None:
    """Restore a match to its state after its last input in the journal.

    If the match was over by then, finish it now. Any other match can be resumed when its bots are
    back.
    """
    hosted.spec = recovered.spec
    hosted.number = recovered.number
    hosted.started_unix_ms = recovered.started_unix_ms
    try:
        match = recovered.resimulate()
    except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
        ending.void(hosted, error)
        return
    match.outbox.clear()  # its bots have received this, or will receive the whole view
    hosted.journaled = len(match.records)
    hosted.faults_logged = len(match.faults)
    hosted.started_us = clock.now_us() - recovered.time_us
    hosted.stood_us = clock.stood_us
    if match.finished:
        hosted.match = match
        ending.finish(hosted)
    else:
        hosted.recovered = match


def resume(hosted: HostedMatch, match: Match, clock: MatchClock, driver: MatchDriver) -> None:
    """Resume a restored match; no match time has passed while it was stopped."""
    hosted.match, hosted.recovered = match, None
    time_us = last_us(match)
    hosted.started_us = clock.now_us() - time_us
    hosted.stood_us = clock.stood_us
    match_id = hosted.spec.match_id
    driver.drive(hosted, Match.reopen, time_us)
    for seat, bot in enumerate(hosted.bots):
        if has_forfeited(match, seat):
            bot.forfeited.add(match_id)
            bot.update_reading()
        if match.finished or has_forfeited(match, seat):
            continue
        bot.matches[match_id] = (hosted, seat)
        bot.update_reading()
        if bot.session is not None and bot.hello is not None:
            presence = bot.hello.presence(bot.hello.last_events.get(match_id))
            driver.drive(hosted, Match.enter, seat, presence, time_us)
    for seat, bot in enumerate(hosted.bots):
        if bot.lost is not None:
            driver.drive(hosted, Match.forfeit, seat, Termination.CRASH, bot.lost, time_us)


def has_forfeited(match: Match | None, seat: int) -> bool:
    return match is not None and match.termination(seat).forfeit


class MatchStarter:
    """The waiting matches, and the conditions under which they begin.

    A match begins once each of its bots either is connected and has room, or can no longer come in
    time. A match left by an earlier referee is resumed on the same condition.
    """

    def __init__(
        self,
        clock: MatchClock,
        limits: MatchLimits,
        log: FilteringBoundLogger,
        journal: Journal | None,
        driver: MatchDriver,
        ending: MatchEnding,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._log = log
        self.journal = journal
        self._driver = driver
        self._ending = ending
        self._waiting: list[HostedMatch] = []
        self._scheduled = False

    @property
    def waiting(self) -> list[HostedMatch]:
        """The matches that have not begun, in the order in which they were added."""
        return list(self._waiting)

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    def add(self, hosted: HostedMatch) -> None:
        """Add a match; the time for its bots to connect starts now."""
        self._waiting.append(hosted)
        hosted.added_us = self._clock.now_us()
        self._set_timer(hosted)

    def remove(self, hosted: HostedMatch) -> None:
        """Remove a waiting match, so that others may find room."""
        if hosted in self._waiting:
            self._waiting.remove(hosted)
        self.start_soon()

    def start_soon(self) -> None:
        """Begin all matches that are ready, once the current callback is done."""
        if self._waiting and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._start_ready)

    def _start_ready(self) -> None:
        self._scheduled = False
        for hosted in self.waiting:
            self._start_if_ready(hosted)

    def _set_timer(self, hosted: HostedMatch) -> None:
        hosted.stop_timer()
        delay_s = hosted.spec.clocks.start_up_s
        hosted.timer = self._clock.call_later(delay_s, self._set_overdue, hosted)

    def _set_overdue(self, hosted: HostedMatch) -> None:
        hosted.start_overdue = True
        self._start_if_ready(hosted)

    def _start_if_ready(self, hosted: HostedMatch) -> None:
        if unstarted := [bot.entry for bot in hosted.bots if bot.unstarted]:
            self._note_start(hosted)
            self._ending.call_off(hosted, f"its machine could not start {unstarted[0]}")
            return
        if hosted.committed:
            self._begin_joint_if_ready(hosted)
            return
        for seat, bot in enumerate(hosted.bots):
            given_up = bot.lost is not None or (hosted.start_overdue and bot.session is None)
            if not (bot.has_room or given_up or has_forfeited(hosted.recovered, seat)):
                return
        if hosted.recovered is not None:
            self._resume(hosted, hosted.recovered)
            return
        for seat, bot in enumerate(hosted.bots):
            if bot.has_room:
                bot.matches[hosted.spec.match_id] = (hosted, seat)
                bot.update_reading()
            else:
                hosted.absent[seat] = _absence(bot, hosted.spec)
        if hosted.spec.joint:
            self._ask_for_nonces(hosted)
        else:
            self._begin(hosted)

    def _ask_for_nonces(self, hosted: HostedMatch) -> None:
        spec = hosted.spec
        hosted.start_overdue = False
        self._set_timer(hosted)
        self._log.info("deal committed", match=spec.match_id, commitment=spec.commitment.hex())
        joint_deal.ask_for_nonces(hosted)
        self._begin_joint_if_ready(hosted)

    def _begin_joint_if_ready(self, hosted: HostedMatch) -> None:
        """Begin once every nonce has arrived or is overdue."""
        unready = joint_deal.unready_seats(hosted)
        if unready and not hosted.start_overdue:
            return
        for seat in unready:
            if seat in hosted.nonces:
                hosted.absent[seat] = _absence(hosted.bots[seat], hosted.spec)
            else:
                hosted.absent[seat] = joint_deal.no_nonce(hosted)
        joint_deal.close_deal(hosted)
        self._begin(hosted)

    def _begin(self, hosted: HostedMatch) -> None:
        self._leave_queue(hosted)
        self._note_start(hosted)
        spec = hosted.spec
        present = {}
        for seat, bot in enumerate(hosted.bots):
            if seat in hosted.absent:
                bot.matches.pop(spec.match_id, None)
            elif bot.hello is not None:
                present[seat] = bot.hello.presence()
        try:
            hosted.match = Match(spec, self._limits)
        except Exception as error:  # noqa: BLE001 - a fault of the engine ends this match only
            self._ending.void(hosted, error)
            return
        self._log.info("match started", match=spec.match_id, entries=spec.entries)
        if self.journal is not None:
            header = ReplayHeader.of(spec, self._limits, hosted.started_unix_ms)
            hosted.number = self.journal.begin(spec.match_id, record_bytes(header))
        self._driver.drive(hosted, Match.start, present, hosted.absent)

    def _note_start(self, hosted: HostedMatch) -> None:
        hosted.started_us = self._clock.now_us()
        hosted.stood_us = self._clock.stood_us
        hosted.started_unix_ms = time.time_ns() // 1_000_000

    def _resume(self, hosted: HostedMatch, match: Match) -> None:
        self._leave_queue(hosted)
        spec = hosted.spec
        self._log.info("match reopened", match=spec.match_id, entries=spec.entries)
        resume(hosted, match, self._clock, self._driver)

    def _leave_queue(self, hosted: HostedMatch) -> None:
        self._waiting.remove(hosted)
        hosted.stop_timer()


def _absence(bot: HostedBot, spec: MatchSpec) -> Absence:
    """Return why a bot is absent when its match begins."""
    within = f"within {spec.clocks.start_up_s:g} s"
    if bot.hello is not None:
        detail = bot.lost or f"went away and did not come back {within}"
        return Absence(Termination.CRASH, detail)
    return Absence(bot.absence, bot.lost or f"did not connect {within}")
