"""The bots and matches that a referee hosts.

A match waits for its bots and, if its deal is joint, for their nonces. Then it runs, and then it is
over. After a match in which a bot timed out, the replay stays open for a while, so that it can
include the bot's late reply. This delays nobody: all bots have already received the end of the
match, and can play others.

`Match` decides the consequences of an input; `HostedMatch` carries them out, and alone changes
itself. One journal commit holds everything that happens in a turn of the event loop, and messages
are sent after it. So the journal on disk always contains everything that a bot or a viewer has
received.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from structlog.typing import FilteringBoundLogger

from asara.v1.play_pb2 import Hello
from asara_codec.messages import deal_committed_bytes, match_ended_bytes
from asara_codec.results import Termination
from asara_server.journal.journal import Journal, JournalError
from asara_server.journal.record_codec import RecordCodec, Results
from asara_server.journal.recovery import RecoveredMatch
from asara_server.journal.replay import ReplayHeader
from asara_server.match import deal_secrets
from asara_server.match.inputs import Absence, EnterRecord, Presence, ReplyRecord
from asara_server.match.match import NEVER, Answer, Match, ReceivedAction
from asara_server.match.spec import SECOND_US, MatchRecord, MatchSpec
from asara_server.referee.counters import Counters
from asara_server.referee.limits import MOST_RECONNECTIONS, LimitSettings, RateLimiter
from asara_server.referee.session import Authenticator, Session
from asara_server.referee.stall_clock import ClockTimer, StallClock, monotonic_us
from asara_server.referee.stream_errors import ErrorKind, StreamError


class MatchCut(Exception):
    """Raised when the referee stops before a match is over; the text reports its progress."""


class Wait(NamedTuple):
    """A bot that a match waits for. Organisers see it; it reveals how long the bot thinks."""

    entry: str
    match_id: str
    decision_id: int
    """Number of the bot's open decision; 0 while the match waits for the bot to connect."""
    waited_s: float
    left_s: float
    """Seconds until the bot forfeits."""


class HostedBot:
    """A bot that may connect."""

    def __init__(
        self,
        entry: str,
        limits: LimitSettings,
        max_matches: int | None,
        authenticator: Authenticator | None,
    ) -> None:
        self.entry = entry
        self.rate_limiter = RateLimiter(limits.requests_per_second, limits.rate_window_s)
        """Limits its requests that answer no open decision."""
        self.connection_limiter = limits.new_stream_limiter()
        most = limits.matches
        self.max_matches = most if max_matches is None else min(max_matches, most)
        """Number of concurrent matches allowed, regardless of its Hello."""
        self.authenticator = authenticator
        """None if it connects at the referee's own addresses."""
        self.session: Session | None = None
        """Its open stream."""
        self.hello: Hello | None = None
        """Its most recent Hello, kept when the stream ends."""
        self.last_events: dict[str, int] = {}
        """By match, the last event that the bot received before its most recent Hello."""
        self.capacity = 0
        """Number of concurrent matches that its Hello and `max_matches` allow."""
        self.lost: str | None = None
        """The reason why it will not connect again."""
        self.unstarted = False
        """True if its machine could not start it, which is not the bot's fault."""
        self.absence = Termination.NEVER_STARTED
        """How it forfeits a match if it is lost before it has ever connected."""
        self.matches: dict[str, tuple[HostedMatch, int]] = {}
        """The matches that the bot plays, by match name, each with the bot's seat."""
        self.late_matches: dict[str, tuple[HostedMatch, int]] = {}
        """Finished matches whose replays wait for its late reply, with its seat."""
        self.before_send: Callable[[], None] | None = None

    @property
    def has_room(self) -> bool:
        """True if the bot is connected and can play one more match."""
        return self.session is not None and self.lost is None and len(self.matches) < self.capacity

    def presence(self, match_id: str | None = None) -> Presence:
        """Return what a match needs to know about the bot's stream.

        With `match_id`, this includes the last event that the bot received of this match.
        """
        assert self.hello is not None, "the bot has never connected"
        last = None if match_id is None else self.last_events.get(match_id)
        return Presence(self.hello.live_updates, self.hello.omit_public_view, last)

    def connected(self) -> None:
        """Bring the bot back to its matches on a new stream."""
        for match, seat in list(self.matches.values()):
            match.bot_connected(seat)

    def disconnected(self) -> None:
        """Start the reconnect clock in all matches of a bot that has lost its stream."""
        for name, (match, _) in list(self.late_matches.items()):
            del self.late_matches[name]
            match.close_if_complete()
        for match, seat in list(self.matches.values()):
            match.bot_disconnected(seat)

    def forfeit_all(self, termination: Termination, detail: str) -> None:
        """Forfeit all matches of the bot, including those that have not begun."""
        for match, seat in list(self.matches.values()):
            match.forfeit(seat, termination, detail)

    def is_awaited(self, now_us: int, late_reply_s: float) -> bool:
        """Return True if anything is expected of the bot; see `Referee.awaits`."""
        if self.lost is not None:
            return False
        if self.hello is None or self.late_matches:
            return True
        return any(
            match.awaits(seat, now_us, late_reply_s) for match, seat in self.matches.values()
        )


class Life(Enum):
    """How far a hosted match has come."""

    WAITING = "waiting"
    """For its bots, or for their nonces. A match left by an earlier referee waits for its bots."""
    RUNNING = "running"
    OVER = "over"
    """All messages are sent; a late reply may still be added to the replay."""
    CLOSED = "closed"


class HostedMatch:
    """A match with its bots and its timer, from the call to `Referee.play` until its result."""

    def __init__(self, host: "MatchHost", spec: MatchSpec, bots: Sequence[HostedBot]) -> None:
        self.spec = spec
        self.match_id = spec.match_id
        self.bots = tuple(bots)
        self.life = Life.WAITING
        self.result: asyncio.Future[MatchRecord] = asyncio.get_running_loop().create_future()
        """The future that `Referee.play` awaits."""
        self.match: Match | None = None
        """None before the match begins, unless an earlier referee left it."""
        self.nonces: dict[int, bytes] = {}
        """Nonces received so far, by seat."""
        self.absent: dict[int, Absence] = {}
        """Seats whose bots will not take part, with the reason."""
        self.update_waiters: list[asyncio.Future[None]] = []
        """Futures that are completed when messages were sent, or when the match is over."""
        self.commits_us: list[int] = []
        """Durations of the journal commits that are counted for this match."""
        self._host = host
        self._clock = host.clock
        self._log = host.log
        self._added_us = host.clock.now_us()
        self._overdue = False
        """True once the time to connect or, for a joint deal, to send a nonce is over."""
        self._committed = False
        """True once the bots of a joint deal have been asked for their nonces."""
        self._timer: ClockTimer | None = None
        self._timer_us = NEVER
        """Time in the match for which the timer is set."""
        self._started_us = 0
        """When the match began, by the clock of the referee."""
        self._stood_us = 0
        """How long that clock had stood still by then."""
        self._started_unix_ms = 0
        self._duration_us = 0
        self._called_off = ""
        """Why the match is void without having begun; "" if it is not."""
        self._unread: dict[int, int] = {}
        """Unread bytes at the bot's socket when the referee noticed the timeout, by seat."""
        self._faults_logged = 0
        self._codec = RecordCodec()
        self._records: list[bytes] = []
        """The records of its replay so far, serialized, starting with the header."""

    @property
    def time_us(self) -> int:
        """The time in the match: microseconds since it began."""
        return self._clock.now_us() - self._started_us

    @property
    def _start_up_s(self) -> float:
        """Seconds that a bot has to connect, and for a joint deal to send its nonce."""
        return self.spec.clocks.start_up_us / SECOND_US

    @property
    def void_reason(self) -> str:
        """Why the match is void; "" if it is not."""
        return self._called_off if self.match is None else self.match.void_reason

    # Waiting for the bots

    def wait(self, recovered: RecoveredMatch | None) -> None:
        """Wait for the bots from now on; `recovered` is the match as an earlier referee left it.

        If that match was over, finish it now.
        """
        self._wait_until_overdue()
        if recovered is not None:
            self._restore(recovered)
        self._host.start_soon()

    def _wait_until_overdue(self) -> None:
        self._overdue = False
        self._stop_timer()
        self._timer = self._clock.call_later(self._start_up_s, self._set_overdue)

    def _set_overdue(self) -> None:
        self._overdue = True
        self.start_if_ready()

    def _restore(self, recovered: RecoveredMatch) -> None:
        self.spec = recovered.spec
        self._started_unix_ms = recovered.header.started_unix_ms
        self._codec = recovered.codec
        self._records = list(recovered.records)
        try:
            match = recovered.resimulate()
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._void(error)
            return
        self.match = match
        match.outbox.clear()  # its bots have received this, or will receive the whole view
        self._faults_logged = len(match.faults)
        self._note_start(match.last_us)
        if match.finished:
            self._finish()

    def start_if_ready(self) -> None:
        """Begin once each bot either is connected and has room, or can no longer come in time.

        A joint deal also needs the bots' nonces.
        """
        if self.life is not Life.WAITING:
            return
        if unstarted := [bot.entry for bot in self.bots if bot.unstarted]:
            self._note_start(0)
            self._call_off(f"its machine could not start {unstarted[0]}")
        elif self._committed:
            self._begin_joint_if_ready()
        elif all(self._is_settled(seat) for seat in range(len(self.bots))):
            if self.match is not None:
                self._resume(self.match)
                return
            for seat, bot in enumerate(self.bots):
                if bot.has_room:
                    bot.matches[self.match_id] = self, seat
                else:
                    self.absent[seat] = self._absence(bot)
            if self.spec.joint:
                self._ask_for_nonces()
            else:
                self._begin()

    def _is_settled(self, seat: int) -> bool:
        bot = self.bots[seat]
        given_up = bot.lost is not None or (self._overdue and bot.session is None)
        return bot.has_room or given_up or self._has_forfeited(seat)

    def _has_forfeited(self, seat: int) -> bool:
        return self.match is not None and self.match.termination(seat).forfeit

    def _absence(self, bot: HostedBot) -> Absence:
        """Return why a bot is absent when its match begins."""
        within = f"within {self._start_up_s:g} s"
        if bot.hello is not None:
            detail = bot.lost or f"went away and did not come back {within}"
            return Absence(Termination.CRASH, detail)
        return Absence(bot.absence, bot.lost or f"did not connect {within}")

    # Joint deals: every bot adds a nonce after the commitment to the referee's secret

    def _ask_for_nonces(self) -> None:
        """Send the commitment to all bots; from now on, their nonces are due."""
        self._committed = True
        self._wait_until_overdue()
        commitment = self.spec.commitment.hex()
        self._log.info("deal committed", match=self.match_id, commitment=commitment)
        for seat in range(len(self.bots)):
            self._ask_for_nonce(seat)
        self._begin_joint_if_ready()

    def _ask_for_nonce(self, seat: int) -> None:
        """Send the commitment to a seat's bot if its nonce is due."""
        due = self._committed and self.life is Life.WAITING and seat not in self.absent
        session = self.bots[seat].session
        if due and seat not in self.nonces and session is not None:
            session.send(
                deal_committed_bytes(
                    match_id=self.match_id, seat=seat, deal_commitment=self.spec.commitment
                )
            )

    def accept_nonce(self, seat: int, nonce: bytes) -> None:
        """Store a bot's nonce; raise StreamError if it is not due or has the wrong length."""
        if not self._committed:
            raise StreamError(ErrorKind.NONCE, f"match {self.match_id} asks for no nonce")
        if seat in self.nonces:
            raise StreamError(ErrorKind.NONCE, f"a second nonce for match {self.match_id}")
        if len(nonce) != deal_secrets.BYTES:
            raise StreamError(
                ErrorKind.NONCE,
                f"a nonce of {len(nonce)} bytes for match {self.match_id}; "
                f"it has {deal_secrets.BYTES}",
            )
        self.nonces[seat] = nonce
        self._host.start_soon()

    def _begin_joint_if_ready(self) -> None:
        """Begin once every nonce has arrived or is overdue.

        The deal is made without the nonces that are missing, and their bots forfeit.
        """
        unready = [
            seat
            for seat, bot in enumerate(self.bots)
            if seat not in self.absent and (seat not in self.nonces or bot.session is None)
        ]
        if unready and not self._overdue:
            return
        for seat in unready:
            if seat in self.nonces:
                self.absent[seat] = self._absence(self.bots[seat])
            else:
                detail = f"sent no nonce within {self._start_up_s:g} s"
                self.absent[seat] = Absence(Termination.NEVER_STARTED, detail)
        nonces = tuple(self.nonces.get(seat, b"") for seat in range(len(self.bots)))
        self.spec = replace(self.spec, nonces=nonces)
        self._begin()

    # The beginning

    def _begin(self) -> None:
        self._note_start(0)
        spec, host = self.spec, self._host
        present = {}
        for seat, bot in enumerate(self.bots):
            if seat in self.absent:
                bot.matches.pop(spec.match_id, None)
            else:
                present[seat] = bot.presence()
        try:
            match = Match(spec, host.limits.match_limits)
        except Exception as error:  # noqa: BLE001 - a fault of the engine ends this match only
            self._void(error)
            return
        self._log.info("match started", match=spec.match_id, entries=spec.entries)
        header = self._codec.encode(ReplayHeader.of(spec, match.limits, self._started_unix_ms))
        self._records.append(header)
        if host.journal is not None:
            host.journal.begin(spec.match_id, header)
        self._run(match)
        self.drive(Match.start, present, self.absent)

    def _resume(self, match: Match) -> None:
        """Resume a restored match; no match time has passed while it was stopped."""
        self._log.info("match reopened", match=self.match_id, entries=self.spec.entries)
        time_us = match.last_us
        self._note_start(time_us)
        self._run(match)
        self.drive(Match.reopen, time_us)
        for seat, bot in enumerate(self.bots):
            if match.finished:
                return
            if not self._has_forfeited(seat):
                bot.matches[self.match_id] = self, seat
                if bot.session is not None:
                    self.drive(Match.enter, seat, bot.presence(self.match_id), time_us)
        for seat, bot in enumerate(self.bots):
            if bot.lost is not None:
                self.drive(Match.forfeit, seat, Termination.CRASH, bot.lost, time_us)

    def _note_start(self, time_us: int) -> None:
        """Let the time in the match be `time_us` now."""
        if not self._started_unix_ms:
            self._started_unix_ms = time.time_ns() // 1_000_000
        self._started_us = self._clock.now_us() - time_us
        self._stood_us = self._clock.stood_us

    def _run(self, match: Match) -> None:
        self._stop_timer()
        self._host.waiting.remove(self)
        self.match = match
        self.life = Life.RUNNING

    # Running

    def reply(self, seat: int, decision_id: int, actions: Sequence[ReceivedAction]) -> Answer:
        """Pass on a bot's reply: the hot path.

        If the match is over, the reply may be the late reply for which the replay waits.
        """
        match = self.match
        if match is None:  # it waits for nonces
            return Answer.IGNORED
        now = self._clock.now_us()
        try:
            time_us = now - self._started_us
            answer = match.reply(seat, decision_id, actions, time_us)
            if answer is Answer.ACCEPTED:
                match.record_reply(self._clock.now_us() - now)
            elif answer is Answer.LATE:
                match.record_late_reply(self._arrival_us(seat, time_us), self._unread.get(seat))
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._void(error)
            return Answer.ACCEPTED
        self._carry_out(match)
        return answer

    def drive(self, step: Callable[..., None], *args: object) -> None:
        """Pass any other input to the match by calling `step`, unless the match is over."""
        match = self.match
        if self.life is not Life.RUNNING or match is None or match.finished:
            return
        try:
            step(match, *args)
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._void(error)
        else:
            self._carry_out(match)

    def _carry_out(self, match: Match) -> None:
        """Journal and send the consequences of an input, then set the timer or end the match."""
        if len(match.faults) > self._faults_logged:
            self._handle_faults(match)
        journal = self._host.journal
        for record in match.records[len(self._records) - 1 :]:
            data = self._codec.encode(record)
            self._records.append(data)
            if journal is not None:
                journal.add(self.match_id, data)
        if journal is None:
            self.send()
        else:
            self._host.send_after_commit(self)
        if match.finished:
            self._finish()
        elif match.deadline_us < self._timer_us:
            self._set_timer(match.deadline_us)

    def _set_timer(self, deadline_us: int) -> None:
        # Most deadlines are moved before they arrive. So a timer may expire early, and is then
        # set again, which is cheaper than setting it for every decision.
        self._stop_timer()
        self._timer_us = deadline_us
        delay_s = (deadline_us - self.time_us) / SECOND_US
        self._timer = self._clock.call_later(delay_s, self._expire)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timer_us = NEVER

    def _expire(self) -> None:
        self._stop_timer()
        self.drive(Match.expire, self.time_us)

    def _handle_faults(self, match: Match) -> None:
        """Log new faults, and note what the socket of a bot that timed out holds unread."""
        for fault in match.faults[self._faults_logged :]:
            forfeit = isinstance(fault.reason, Termination)
            facts: dict[str, int] = {}
            if forfeit:
                bot = self.bots[fault.seat]
                if fault.reason is Termination.TIME_OUT and bot.session is not None:
                    unread = bot.session.socket.unread_bytes()
                    if unread is not None:
                        self._unread[fault.seat] = facts["unread_bytes"] = unread
            self._log.info(
                "seat forfeited" if forfeit else "reply rejected",
                match=self.match_id,
                seat=fault.seat,
                entry=self.spec.players[fault.seat].entry,
                reason=fault.reason.name,
                detail=fault.detail,
                **facts,
            )
        self._faults_logged = len(match.faults)

    def send(self) -> None:
        """Send the messages of the match, and wake the calls waiting for updates."""
        match = self.match
        if match is not None and match.outbox:
            for seat, message in match.outbox:
                session = self.bots[seat].session
                if session is not None:  # bots without a stream miss theirs
                    session.send(message)
            match.outbox.clear()
        if self.update_waiters:
            wake(self.update_waiters)

    async def updated(self) -> None:
        """Wait until new messages of the match are sent, or until the match is over."""
        waiter = asyncio.get_running_loop().create_future()
        self.update_waiters.append(waiter)
        await waiter

    async def decision_answered(self) -> None:
        """Wait until no decision is open, or until the match is over."""
        match = self.match
        while match is not None and match.asked is not None and not self.result.done():
            await self.updated()

    # What its bots do

    def bot_connected(self, seat: int) -> None:
        """Bring a bot with a new stream back; if it has returned too often, it forfeits."""
        records = self.match.records if self.match is not None else ()
        returns = sum(type(each) is EnterRecord and each.seat == seat for each in records)
        if returns >= MOST_RECONNECTIONS:
            detail = f"reconnected more than {MOST_RECONNECTIONS} times in one match"
            self.forfeit(seat, Termination.PROTOCOL_VIOLATION, detail)
            return
        presence = self.bots[seat].presence(self.match_id)
        self.drive(Match.enter, seat, presence, self.time_us)
        self._ask_for_nonce(seat)

    def bot_disconnected(self, seat: int) -> None:
        """Start the reconnect clock of a bot that has lost its stream."""
        if self._has_forfeited(seat):  # the steward plays on; the bot need not return
            self.bots[seat].matches.pop(self.match_id, None)
        self.drive(Match.leave, seat, self.time_us)

    def forfeit(self, seat: int, termination: Termination, detail: str) -> None:
        """Forfeit a seat, even before the match has begun."""
        if self.life is Life.RUNNING:
            self.drive(Match.forfeit, seat, termination, detail, self.time_us)
        else:
            self.absent[seat] = Absence(termination, detail)
            self.bots[seat].matches.pop(self.match_id, None)
            self._host.start_soon()

    def decision_id(self, seat: int) -> int:
        """Return the number of a seat's last decision; 0 if there is none."""
        if self.life is not Life.RUNNING or self.match is None:
            return 0
        return self.match.decision_id(seat)

    def awaits(self, seat: int, now_us: int, late_reply_s: float) -> bool:
        """Return True if a nonce, a reply or a late reply of a seat is awaited."""
        match = self.match
        if self.life is not Life.RUNNING or match is None:
            return self._committed and seat not in self.nonces
        if match.asked == seat:
            return True
        expired_us = match.expired_us(seat)
        if expired_us is None or not match.awaits_late_reply(seat):
            return False
        return now_us - self._started_us < expired_us + late_reply_s * SECOND_US

    def waits(self) -> list[Wait]:
        """Return the bots for which the match waits."""
        match, spec, now_us = self.match, self.spec, self._clock.now_us()
        if self.life is Life.WAITING:
            waited_s = (now_us - self._added_us) / SECOND_US
            left_s = max(self._start_up_s - waited_s, 0.0)
            return [
                Wait(bot.entry, spec.match_id, 0, waited_s, left_s)
                for bot in self.bots
                if bot.session is None and bot.lost is None
            ]
        if match is None or match.asked is None or match.finished:
            return []
        seat, time_us = match.asked, now_us - self._started_us
        waited_us, left_us = time_us - match.asked_at_us, match.clock_us(time_us)
        entry, decision = spec.players[seat].entry, match.decision_id(seat)
        return [Wait(entry, spec.match_id, decision, waited_us / SECOND_US, left_us / SECOND_US)]

    # Late replies

    def _arrival_us(self, seat: int, time_us: int) -> int | None:
        """Return when a reply received at `time_us` arrived at its socket, if that is known."""
        session = self.bots[seat].session
        arrived_us = None if session is None else session.socket.last_arrival_us()
        clock_us = None if arrived_us is None else self._clock.at_us(arrived_us)
        return None if clock_us is None else min(clock_us - self._started_us, time_us)

    def _keep_open(self, match: Match) -> bool:
        """Keep the replay of a finished match open; return False if there is no reason to.

        It stays open while a late reply can still arrive: a bot whose time ran out is connected,
        has not replied since, and the waiting period after its timeout has not passed.
        """
        now_us = last_us = self.time_us
        wait_us = round(self._host.limits.late_reply_s * SECOND_US)
        for seat, bot in enumerate(self.bots):
            expired_us = match.expired_us(seat)
            if expired_us is None or bot.session is None or not match.awaits_late_reply(seat):
                continue
            if expired_us + wait_us > now_us:
                bot.late_matches[self.match_id] = self, seat
                last_us = max(last_us, expired_us + wait_us)
        if last_us == now_us:
            return False
        self._timer = self._clock.call_later((last_us - now_us) / SECOND_US, self._close)
        return True

    def close_if_complete(self) -> None:
        """Close the replay once it waits for no bot any more."""
        for seat, bot in enumerate(self.bots):
            if self.match is None or not self.match.awaits_late_reply(seat):
                bot.late_matches.pop(self.match_id, None)
        if not any(self.match_id in bot.late_matches for bot in self.bots):
            self._close()

    # The end

    def _finish(self) -> None:
        """End a match that is over, or void.

        All messages are sent immediately. If a late reply may still come, the replay stays open for
        a while.
        """
        if self.life is Life.OVER:  # a late reply came after the end
            self.close_if_complete()
            return
        match, host = self.match, self._host
        host.flush()
        self._leave_host()
        self.life = Life.OVER
        self._duration_us = self._clock.now_us() - self._started_us if self._started_us else 0
        stood_us = self._clock.stood_us - self._stood_us if self._started_us else 0
        self._log.info(
            "match over",
            match=self.match_id,
            ranks=[result.end.rank for result in match.results] if match else [],
            void=bool(self.void_reason),
            seconds=round(self._duration_us / SECOND_US, 3),
            stalled_s=round(max(stood_us, 0) / SECOND_US, 3),
        )
        if match is None or match.void_reason or not self._keep_open(match):
            self._close()

    def _close(self) -> None:
        """Complete the result of a finished match: nothing more is added to its replay."""
        self.life = Life.CLOSED
        self._stop_timer()
        for bot in self.bots:
            bot.late_matches.pop(self.match_id, None)
        match, host = self.match, self._host
        host.flush()
        if host.journal_error is not None:
            self.fail(host.journal_error)
            return
        times = self._started_unix_ms, self._duration_us
        if match is None or match.void_reason:
            record = MatchRecord((), (), *times, void_reason=self.void_reason)
        else:
            results = Results.of(match)
            records = (*self._records, self._codec.encode(results))
            record = MatchRecord(results.ends, records, *times)
        if host.counters is not None:
            host.counters.count_match(match, self.commits_us)
            host.counters.count_stalls(self._clock.stalled_us)
        if not self.result.done():
            self.result.set_result(record)

    def _void(self, error: Exception) -> None:
        """End a match in which the referee failed."""
        self._log.error("match void", match=self.match_id, exc_info=error)
        # The error's text may contain hidden information of the match; its type does not.
        self._call_off(type(error).__name__)

    def _call_off(self, why: str) -> None:
        """End a match that has to be played again, although no bot is at fault."""
        reason = f"the referee failed: {why}"
        self._abandon(reason)
        if self.match is None:
            self._called_off = reason
        self._finish()

    def cut(self) -> str:
        """End a match because the referee stops; return a line with the match's progress.

        `play` raises MatchCut.
        """
        self._host.flush()
        text = f"match {self.match_id}: {self._progress()}"
        self._abandon("the referee stopped")
        self._log.warning("match cut", match=self.match_id, detail=text)
        self.fail(MatchCut(text))
        return text

    def fail(self, error: JournalError | MatchCut) -> None:
        """End a match without a further message: `play` raises the error."""
        self._leave_host()
        self.life = Life.CLOSED
        if not self.result.done():
            self.result.set_exception(error)

    def _abandon(self, reason: str) -> None:
        """Tell the bots that no result will come."""
        match = self.match
        if self.life is Life.WAITING:
            self.match = None
            if self._committed:
                self._send_void()
        elif match is not None and not match.finished:
            match.abandon(reason)
            self.send()

    def _send_void(self) -> None:
        """Send MatchEnded (void) to bots that were asked for nonces, as no match will follow."""
        message = match_ended_bytes(
            match_id=self.match_id, events=(), sequence=0, results=(), deal_secret=b"", void=True
        )
        for seat, bot in enumerate(self.bots):
            if seat not in self.absent and bot.session is not None:
                bot.session.send(message)

    def _progress(self) -> str:
        match = self.match
        if match is None:
            return "cut before it began"
        decisions = sum(isinstance(record, ReplyRecord) for record in match.records)
        text = f"cut in year {match.state.year} after {decisions} decisions"
        if match.asked is None:
            return text
        return f"{text}, while {self.spec.players[match.asked].entry} had to decide"

    def _leave_host(self) -> None:
        """Give up the match's place in the referee, so that others may find room."""
        self._stop_timer()
        host = self._host
        if host.by_id.pop(self.match_id, None) is None:
            return
        for bot in self.bots:
            bot.matches.pop(self.match_id, None)
        if self in host.waiting:
            host.waiting.remove(self)
        host.start_soon()
        wake(self.update_waiters)


class MatchHost:
    """The settings and services that all matches of a referee share."""

    def __init__(
        self,
        clock: StallClock,
        limits: LimitSettings,
        log: FilteringBoundLogger,
        journal: Journal | None,
    ) -> None:
        self.clock = clock
        self.limits = limits
        self.log = log
        self.journal = journal
        self.journal_error: JournalError | None = None
        self.counters: Counters | None = None
        self.by_id: dict[str, HostedMatch] = {}
        """The waiting and running matches by name, in the order of the calls to `play`."""
        self.waiting: list[HostedMatch] = []
        """The matches that have not begun, in the order in which they were added."""
        self._starting = False
        self._unsent: list[HostedMatch] = []
        """The matches whose messages wait for a commit."""

    def add(self, hosted: HostedMatch, recovered: RecoveredMatch | None) -> None:
        self.by_id[hosted.match_id] = hosted
        self.waiting.append(hosted)
        hosted.wait(recovered)

    def start_soon(self) -> None:
        """Begin all matches that are ready, once the current callback is done."""
        if self.waiting and not self._starting:
            self._starting = True
            asyncio.get_running_loop().call_soon(self._start_ready)

    def _start_ready(self) -> None:
        self._starting = False
        for hosted in list(self.waiting):
            hosted.start_if_ready()

    def send_after_commit(self, hosted: HostedMatch) -> None:
        """Send the messages of a match after the commit at the end of this turn of the loop."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self.flush)
        self._unsent.append(hosted)

    def flush(self) -> None:
        """Commit and send everything pending now, without waiting for the end of the turn.

        Call this before a match is shown to anybody, because nothing that was shown may be lost in
        a crash.
        """
        if not self._unsent:
            return
        assert self.journal is not None
        unsent, self._unsent = self._unsent, []
        began = monotonic_us()
        try:
            self.journal.commit()
        except JournalError as error:
            self._journal_failed(error)
            return
        unsent[0].commits_us.append(monotonic_us() - began)
        for hosted in unsent:
            hosted.send()

    def _journal_failed(self, error: JournalError) -> None:
        """Give up all matches: without the journal, nothing more may happen or be sent."""
        self.journal_error = error
        self.log.error("journal failed", detail=str(error), matches=len(self.by_id))
        for hosted in list(self.by_id.values()):
            hosted.fail(error)


def wake(waiters: list[asyncio.Future[None]]) -> None:
    """Complete all of these futures and clear the list."""
    for waiter in waiters:
        if not waiter.done():
            waiter.set_result(None)
    waiters.clear()
