"""Drives the running matches: passes inputs in and messages out, and keeps the timers.

`Match` decides the consequences of an input; this module carries them out. It runs for every
decision.
"""

from collections.abc import Callable, Sequence

from structlog.typing import FilteringBoundLogger

from asara_codec.results import Termination
from asara_server.match.match import Answer, Match, ReceivedAction
from asara_server.match.spec import SECOND_US
from asara_server.referee.group_commit import GroupCommit, send_messages
from asara_server.referee.hosted import HostedBot, HostedMatch
from asara_server.referee.match_clock import MatchClock
from asara_server.referee.match_ending import MatchEnding


class MatchDriver:
    """Passes inputs to matches and carries out the consequences.

    An exception raised by a match voids that match only.
    """

    def __init__(
        self,
        clock: MatchClock,
        log: FilteringBoundLogger,
        commits: GroupCommit | None,
        ending: MatchEnding,
    ) -> None:
        self._clock = clock
        self._now_us = clock.now_us
        self._log = log
        self._commits = commits
        self._ending = ending

    def reply(
        self, hosted: HostedMatch, seat: int, decision_id: int, actions: Sequence[ReceivedAction]
    ) -> Answer:
        """Pass a bot's reply to a match that has begun: the hot path.

        If the match is over, the reply may be the late reply for which the replay waits.
        """
        match = hosted.match
        assert match is not None
        now = self._now_us()
        try:
            time_us = now - hosted.started_us
            answer = match.reply(seat, decision_id, actions, time_us)
            if answer is Answer.ACCEPTED:
                match.record_reply(self._now_us() - now)
            elif answer is Answer.LATE:
                self._record_late_reply(hosted, match, seat, time_us)
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._ending.void(hosted, error)
            return Answer.ACCEPTED
        self._carry_out(hosted, match)
        return answer

    def drive(self, hosted: HostedMatch, step: Callable[..., None], *args: object) -> None:
        """Pass any other input to a match by calling `step`, unless the match is over."""
        match = hosted.match
        if match is None or match.finished:
            return
        try:
            step(match, *args)
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._ending.void(hosted, error)
        else:
            self._carry_out(hosted, match)

    def _carry_out(self, hosted: HostedMatch, match: Match) -> None:
        """Journal and send the consequences of an input, then set the timer or end the match."""
        if len(match.faults) > hosted.faults_logged:
            self._handle_faults(hosted, match)
        if self._commits is None:
            send_messages(hosted, match)
        else:
            self._commits.add(hosted, match)
        if match.finished:
            self._ending.finish(hosted)
        elif match.deadline_us < hosted.timer_us:
            self._set_timer(hosted, match.deadline_us)

    def _set_timer(self, hosted: HostedMatch, deadline_us: int) -> None:
        # Most deadlines are moved before they arrive. So a timer may expire early, and is then
        # set again, which is cheaper than setting it for every decision.
        hosted.stop_timer()
        hosted.timer_us = deadline_us
        delay_s = (deadline_us - hosted.time_us(self._now_us())) / SECOND_US
        hosted.timer = self._clock.call_later(delay_s, self._expire, hosted)

    def _expire(self, hosted: HostedMatch) -> None:
        hosted.stop_timer()
        self.drive(hosted, Match.expire, hosted.time_us(self._now_us()))

    def _record_late_reply(
        self, hosted: HostedMatch, match: Match, seat: int, time_us: int
    ) -> None:
        session = hosted.bots[seat].session
        arrived_us = None if session is None else session.socket.last_arrival_us()
        clock_us = None if arrived_us is None else self._clock.at_us(arrived_us)
        match.record_late_reply(
            None if clock_us is None else min(hosted.time_us(clock_us), time_us)
        )

    def _handle_faults(self, hosted: HostedMatch, match: Match) -> None:
        """Log new faults, and stop reading from bots that have forfeited."""
        for fault in match.faults[hosted.faults_logged :]:
            forfeit = isinstance(fault.reason, Termination)
            facts: dict[str, int] = {}
            if forfeit:
                bot = hosted.bots[fault.seat]
                if fault.reason is Termination.TIME_OUT:
                    facts = _note_unread(bot, match, fault.seat)
                bot.forfeited.add(hosted.spec.match_id)
                bot.update_reading()
            self._log.info(
                "seat forfeited" if forfeit else "reply rejected",
                match=hosted.spec.match_id,
                seat=fault.seat,
                entry=hosted.spec.players[fault.seat].entry,
                reason=fault.reason.name,
                detail=fault.detail,
                **facts,
            )
        hosted.faults_logged = len(match.faults)


def _note_unread(bot: HostedBot, match: Match, seat: int) -> dict[str, int]:
    """Record the bytes still unread on a bot's socket after its timeout, and return them."""
    unread = None if bot.session is None else bot.session.socket.unread_bytes()
    if unread is None:
        return {}
    match.note_unread(seat, unread)
    return {"unread_bytes": unread}
