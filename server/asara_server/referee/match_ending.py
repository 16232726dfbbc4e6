"""The end of a hosted match: finished, void, cut, or because the journal failed.

After a match in which a bot timed out, the replay stays open for a while, so that it can include
the bot's late reply. This delays nobody: all bots have already received the end of the match, and
can play others.
"""

from collections.abc import Callable

from structlog.typing import FilteringBoundLogger

from asara_server.eventlog.journal import JournalError
from asara_server.match.inputs import ReplyRecord
from asara_server.match.match import Match
from asara_server.match.spec import SECOND_US, MatchLimits, MatchRecord
from asara_server.referee.counters import Counters
from asara_server.referee.group_commit import GroupCommit, post
from asara_server.referee.hosted import HostedBot, HostedMatch
from asara_server.referee.joint_deal import call_off
from asara_server.referee.match_clock import MatchClock


class MatchCut(Exception):
    """Raised when the referee stops before a match is over; the text reports its progress."""


class MatchEnding:
    """Ends matches: sends the remaining messages, and completes their results."""

    def __init__(
        self,
        clock: MatchClock,
        limits: MatchLimits,
        log: FilteringBoundLogger,
        commits: GroupCommit | None,
        remove: Callable[[HostedMatch], None],
        late_reply_s: float,
    ) -> None:
        """`remove` makes the referee forget a match.

        After a timeout, the replay waits `late_reply_s` for the late reply.
        """
        self.counters: Counters | None = None
        self._late_reply_us = round(late_reply_s * SECOND_US)
        self._clock = clock
        self._limits = limits
        self._log = log
        self._commits = commits
        self._remove = remove

    def finish(self, hosted: HostedMatch, failure: str = "") -> None:
        """End a match that is over, or void: `play` returns its record.

        `failure` is the reason why the match is void. All messages are sent immediately. If a late
        reply may still come, the replay stays open for a while.
        """
        if hosted.duration_us is not None:  # a late reply came after the end
            self._close_if_complete(hosted)
            return
        match = hosted.match
        if self._commits is not None:
            self._commits.flush()
        self._remove(hosted)
        hosted.duration_us = self._clock.now_us() - hosted.started_us
        hosted.failure = failure
        ranks = [result.rank for result in match.results] if match else []
        void = match is None or match.void
        stood_us = self._clock.stood_us - hosted.stood_us if hosted.started_us else 0
        self._log.info(
            "match over",
            match=hosted.spec.match_id,
            ranks=ranks,
            void=void,
            seconds=round(hosted.duration_us / SECOND_US, 3),
            stalled_s=round(max(stood_us, 0) / SECOND_US, 3),
        )
        if match is None or void or not self._keep_open(hosted, match):
            self._close(hosted)

    def _keep_open(self, hosted: HostedMatch, match: Match) -> bool:
        """Keep the replay of a finished match open; return False if there is no reason to.

        It stays open while a late reply can still arrive: a bot whose time ran out is connected,
        has not replied since, and the waiting period after its timeout has not passed.
        """
        now_us = last_us = hosted.time_us(self._clock.now_us())
        for seat, bot in enumerate(hosted.bots):
            expired_us = match.expired_us(seat)
            if expired_us is None or bot.session is None or not match.awaits_late_reply(seat):
                continue
            until_us = expired_us + self._late_reply_us
            if until_us > now_us:
                bot.late_matches[hosted.spec.match_id] = hosted, seat
                last_us = max(last_us, until_us)
        if last_us == now_us:
            return False
        hosted.timer = self._clock.call_later((last_us - now_us) / SECOND_US, self._close, hosted)
        return True

    def _close_if_complete(self, hosted: HostedMatch) -> None:
        """Close a replay once it waits for no bot any more."""
        assert hosted.match is not None
        name = hosted.spec.match_id
        for seat, bot in enumerate(hosted.bots):
            if not hosted.match.awaits_late_reply(seat):
                bot.late_matches.pop(name, None)
        if not any(name in bot.late_matches for bot in hosted.bots):
            self._close(hosted)

    def bot_left(self, bot: HostedBot) -> None:
        """Stop waiting for a bot that has lost its stream."""
        for name, (hosted, _) in list(bot.late_matches.items()):
            del bot.late_matches[name]
            self._close_if_complete(hosted)

    def _close(self, hosted: HostedMatch) -> None:
        """Complete the result of a finished match: nothing more is added to its replay."""
        hosted.stop_timer()
        for bot in hosted.bots:
            bot.late_matches.pop(hosted.spec.match_id, None)
        match = hosted.match
        if self._commits is not None:
            self._commits.flush()
            if self._commits.error is not None:
                self.fail(hosted, self._commits.error)
                return
        void = match is None or match.void
        record = MatchRecord(
            spec=hosted.spec,
            results=match.results if match else (),
            records=tuple(match.records) if match else (),
            events=tuple(match.feed.events) if match else (),
            digests=match.feed.digests if match else (),
            limits=match.limits if match else self._limits,
            void=void,
            void_reason=(hosted.failure or "the referee failed") if void else "",
            started_unix_ms=hosted.started_unix_ms,
            duration_us=hosted.duration_us or 0,
        )
        if self.counters is not None:
            self.counters.count_match(record, hosted.commits_us)
            self.counters.count_stalls(self._clock.stalled_us)
        if not hosted.result.done():
            hosted.result.set_result(record)

    def void(self, hosted: HostedMatch, error: Exception) -> None:
        """End a match in which the referee failed."""
        self._log.error("match void", match=hosted.spec.match_id, exc_info=error)
        # The error's text may contain hidden information of the match; its type does not.
        self.call_off(hosted, type(error).__name__)

    def call_off(self, hosted: HostedMatch, why: str) -> None:
        """End a match that has to be played again, although no bot is at fault."""
        _abandon(hosted)
        self.finish(hosted, f"the referee failed: {why}")

    def cut(self, hosted: HostedMatch) -> str:
        """End a match because the referee stops; return a line with the match's progress.

        `play` raises MatchCut.
        """
        if self._commits is not None:
            self._commits.flush()
        text = f"match {hosted.spec.match_id}: {_progress(hosted)}"
        _abandon(hosted)
        self._remove(hosted)
        self._log.warning("match cut", match=hosted.spec.match_id, detail=text)
        if not hosted.result.done():
            hosted.result.set_exception(MatchCut(text))
        return text

    def fail(self, hosted: HostedMatch, error: JournalError) -> None:
        """End a match without a further message: `play` raises the journal's error."""
        self._remove(hosted)
        if not hosted.result.done():
            hosted.result.set_exception(error)


def _abandon(hosted: HostedMatch) -> None:
    match = hosted.match
    if match is not None and not match.finished:
        match.abandon()
        post(hosted, match)
    if match is None and hosted.committed:
        call_off(hosted)


def _progress(hosted: HostedMatch) -> str:
    match = hosted.match or hosted.recovered
    if match is None:
        return "cut before it began"
    decisions = sum(isinstance(record, ReplyRecord) for record in match.records)
    text = f"cut in year {match.state.year} after {decisions} decisions"
    if match.asked is None:
        return text
    return f"{text}, while {hosted.spec.players[match.asked].entry} had to decide"
