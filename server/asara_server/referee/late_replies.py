"""Replies to decisions for which the time had run out.

They change nothing in a match; they are recorded for disputes. After a match in which a bot timed
out, its replay stays open for a while, so that it can hold the bot's late reply. The match itself
is not delayed: all bots have received its end by then, and play others.
"""

from collections.abc import Callable
from typing import Final

from structlog.typing import FilteringBoundLogger

from asara_server.match.match import Match
from asara_server.match.spec import SECOND_US
from asara_server.referee.hosted import HostedBot, HostedMatch, MissedDecision
from asara_server.referee.match_clock import MatchClock

_REMEMBERED: Final = 8
"""Decisions of a bot that are remembered when their replays are closed, the latest."""


class LateReplies:
    """Keeps replays open for late replies, and logs these."""

    def __init__(
        self,
        clock: MatchClock,
        log: FilteringBoundLogger,
        wait_s: float,
        close: Callable[[HostedMatch], None],
    ) -> None:
        """`close` closes the replay of a match that is over, for which `wait` returned True."""
        self._clock = clock
        self._log = log
        self._wait_us = round(wait_s * SECOND_US)
        self._close = close

    def wait(self, hosted: HostedMatch, match: Match) -> bool:
        """Keep the replay of a match open that is over; return False if there is no reason to.

        The reason is a connected bot whose time ran out less than the wait ago and that has not
        replied since.
        """
        now_us = hosted.time_us(self._clock.now_us())
        last_us = now_us
        for seat, bot in enumerate(hosted.bots):
            expired_us = match.expired_us(seat)
            if expired_us is None or not match.awaits_late_reply(seat):
                continue
            until_us = expired_us + self._wait_us
            if bot.session is None or until_us <= now_us:
                _remember(bot, hosted, match, seat)
                continue
            bot.late_matches[hosted.spec.match_id] = hosted, seat
            last_us = max(last_us, until_us)
        if last_us == now_us:
            return False
        hosted.timer = self._clock.call_later((last_us - now_us) / SECOND_US, self._end, hosted)
        return True

    def log_recorded(self, hosted: HostedMatch, match: Match, seat: int, time_us: int) -> None:
        """Log a late reply that is recorded."""
        expired_us = match.expired_us(seat)
        assert expired_us is not None
        self._write_log(
            hosted.bots[seat],
            hosted.spec.match_id,
            seat,
            match.decision_id(seat),
            time_us - expired_us,
            recorded=True,
        )

    def end_if_complete(self, hosted: HostedMatch) -> None:
        """Close a replay once no bot is awaited any more."""
        match = hosted.match
        assert match is not None
        name = hosted.spec.match_id
        for seat, bot in enumerate(hosted.bots):
            if name in bot.late_matches and not match.awaits_late_reply(seat):
                del bot.late_matches[name]
        if not any(name in bot.late_matches for bot in hosted.bots):
            self._end(hosted)

    def bot_left(self, bot: HostedBot) -> None:
        """Wait no longer for a bot that has lost its stream."""
        for name, (hosted, seat) in list(bot.late_matches.items()):
            del bot.late_matches[name]
            if hosted.match is not None:
                _remember(bot, hosted, hosted.match, seat)
            self.end_if_complete(hosted)

    def log_missed(self, bot: HostedBot, match_id: str, decision_id: int) -> bool:
        """Log a reply that came after its replay was closed; return False if it is none.

        Only the first reply to a decision counts as late.
        """
        missed = bot.missed.get(match_id)
        if missed is None or missed.decision_id != decision_id:
            return False
        del bot.missed[match_id]
        late_us = self._clock.now_us() - missed.expired_us
        self._write_log(bot, match_id, missed.seat, decision_id, late_us, recorded=False)
        return True

    def _end(self, hosted: HostedMatch) -> None:
        hosted.stop_timer()
        for seat, bot in enumerate(hosted.bots):
            waited = bot.late_matches.pop(hosted.spec.match_id, None)
            if waited is not None and hosted.match is not None:
                _remember(bot, hosted, hosted.match, seat)
        self._close(hosted)

    def _write_log(
        self,
        bot: HostedBot,
        match_id: str,
        seat: int,
        decision_id: int,
        late_us: int,
        *,
        recorded: bool,
    ) -> None:
        self._log.info(
            "late reply",
            match=match_id,
            seat=seat,
            entry=bot.entry,
            decision=decision_id,
            late_ms=round(late_us / 1000, 3),
            in_replay=recorded,
        )


def _remember(bot: HostedBot, hosted: HostedMatch, match: Match, seat: int) -> None:
    """Remember a decision, so that a reply after the end of its replay is logged as late."""
    expired_us = match.expired_us(seat)
    if expired_us is None:
        return
    while len(bot.missed) >= _REMEMBERED:
        del bot.missed[next(iter(bot.missed))]
    decision_id = match.decision_id(seat)
    bot.missed[hosted.spec.match_id] = MissedDecision(
        seat, decision_id, hosted.started_us + expired_us
    )
