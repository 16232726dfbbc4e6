"""The matches that wait or run: when they start, what reaches their bots, their timers, their end.

`Match` decides what follows from what happens; here it is carried out. A failure in a match ends
that match only.

With a journal, what matches say is held back until their records are in it: all that happened in
one turn of the event loop is committed at once, and then told.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from structlog.typing import FilteringBoundLogger

from asara_codec.messages import deal_committed_bytes, match_ended_bytes
from asara_codec.results import Termination
from asara_server.eventlog.journal import Journal, JournalError
from asara_server.eventlog.record_codec import record_bytes
from asara_server.eventlog.recovery import RecoveredMatch, last_us, recover
from asara_server.eventlog.replay import ReplayHeader
from asara_server.match import deal_secrets
from asara_server.match.inputs import Absence, Presence, ReplyRecord
from asara_server.match.match import NEVER, Answer, Match, ReceivedAction
from asara_server.match.spec import SECOND_US, MatchLimits, MatchRecord, MatchSpec
from asara_server.referee.counters import Counters
from asara_server.referee.hosted import HostedBot, HostedMatch, now_us, wake
from asara_server.referee.session import Greeting
from asara_server.referee.stream_errors import Ending, StreamError

_LEAST_DELAY_US: Final = 1_000


class MatchCut(Exception):
    """The referee stopped before the match was over; the text says how far it had come."""


class MatchHost:
    """All matches of a referee."""

    def __init__(
        self, limits: MatchLimits, log: FilteringBoundLogger, journal: Journal | None = None
    ) -> None:
        self.by_match: dict[str, HostedMatch] = {}
        self.counters = Counters()
        self._limits = limits
        self._log = log
        self._journal = journal
        #: Matches with news that nobody has been told, because it is not committed.
        self._untold: list[HostedMatch] = []
        self._settling = False
        self._broken: JournalError | None = None
        self._waiting: list[HostedMatch] = []
        self._starting = False
        #: Set while the referee stops; done when no decision is open any more.
        self._quiet: asyncio.Future[None] | None = None

    @property
    def waiting(self) -> int:
        """How many matches have not begun."""
        return len(self._waiting)

    # Beginning

    async def play(self, spec: MatchSpec, bots: tuple[HostedBot, ...]) -> MatchRecord:
        """Play a match to its end, or on from where an earlier referee was; MatchCut if it is cut.

        JournalError where it cannot be kept in the journal.
        """
        if self._broken is not None:
            raise self._broken
        loop = asyncio.get_running_loop()
        table = HostedMatch(spec, bots, loop.create_future())
        held = None if self._journal is None else recover(self._journal, spec)
        self.by_match[spec.match_id] = table
        self._waiting.append(table)
        self._set_start_timer(table)
        if held is not None:
            self._take_up(table, held)
        self.start_soon()
        try:
            return await table.done
        except asyncio.CancelledError:
            if spec.match_id in self.by_match:
                self._cut(table)
            raise

    def start_soon(self) -> None:
        """Start what can be started, but not in the middle of other work."""
        if self._waiting and not self._starting:
            self._starting = True
            asyncio.get_running_loop().call_soon(self._start_waiting)

    def _start_late(self, table: HostedMatch) -> None:
        table.late = True
        self._start_if_ready(table)

    def _set_start_timer(self, table: HostedMatch) -> None:
        _stop_timer(table)
        loop = asyncio.get_running_loop()
        table.timer = loop.call_later(table.spec.clocks.start_up_s, self._start_late, table)

    def _start_waiting(self) -> None:
        self._starting = False
        for table in list(self._waiting):
            self._start_if_ready(table)

    def _start_if_ready(self, table: HostedMatch) -> None:
        """Start when every bot is there and has room, or will not come any more."""
        if table.committed:
            self._begin_if_complete(table)
            return
        for seat, bot in enumerate(table.bots):
            missing = bot.gone is not None or (table.late and bot.session is None)
            if not (bot.free or missing or _is_out(table.reopened, seat)):
                return
        if table.reopened is not None:
            self._go_on(table, table.reopened)
            return
        for seat, bot in enumerate(table.bots):
            if bot.free:
                bot.tables[table.spec.match_id] = (table, seat)
            else:
                table.absent[seat] = _absence(bot, table.spec)
        if table.spec.joint:
            self._commit(table)
        else:
            self._begin(table)

    def _commit(self, table: HostedMatch) -> None:
        """Tell the bots what the referee is bound to, and wait for their nonces."""
        spec = table.spec
        table.committed = True
        table.late = False
        self._set_start_timer(table)
        self._log.info("deal committed", match=spec.match_id, commitment=spec.commitment.hex())
        for seat in range(len(table.bots)):
            self.ask_for_nonce(table, seat)
        self._begin_if_complete(table)

    def ask_for_nonce(self, table: HostedMatch, seat: int) -> None:
        """Ask a seat's bot for its nonce, if it is to send one and has not; again after a break."""
        session = table.bots[seat].session
        asked = table.committed and table.match is None and seat not in table.absent
        if asked and seat not in table.nonces and session is not None:
            spec = table.spec
            session.put(
                deal_committed_bytes(
                    match_id=spec.match_id, seat=seat, deal_commitment=spec.commitment
                )
            )

    def nonce(self, table: HostedMatch, seat: int, nonce: bytes) -> None:
        """A bot's share in the deal; raises StreamError for one that may not be."""
        match_id = table.spec.match_id
        if not table.committed:
            raise StreamError(Ending.NONCE, f"match {match_id} asks for no nonce")
        if seat in table.nonces:
            raise StreamError(Ending.NONCE, f"a second nonce for match {match_id}")
        if len(nonce) != deal_secrets.BYTES:
            detail = (
                f"a nonce of {len(nonce)} bytes for match {match_id}; it has {deal_secrets.BYTES}"
            )
            raise StreamError(Ending.NONCE, detail)
        table.nonces[seat] = nonce
        self.start_soon()

    def _begin_if_complete(self, table: HostedMatch) -> None:
        """Begin when every nonce is in, or will not come any more."""
        spec = table.spec
        missing = {
            seat: bot
            for seat, bot in enumerate(table.bots)
            if seat not in table.absent and (seat not in table.nonces or bot.session is None)
        }
        if missing and not table.late:
            return
        for seat, bot in missing.items():
            if seat in table.nonces:
                table.absent[seat] = _absence(bot, spec)
            else:
                detail = f"sent no nonce within {spec.clocks.start_up_s:g} s"
                table.absent[seat] = Absence(Termination.NEVER_STARTED, detail)
        nonces = tuple(table.nonces.get(seat, b"") for seat in range(len(table.bots)))
        table.spec = replace(spec, nonces=nonces)
        self._begin(table)

    def _begin(self, table: HostedMatch) -> None:
        self._waiting.remove(table)
        _stop_timer(table)
        table.started_us = now_us()
        table.started_unix_ms = time.time_ns() // 1_000_000
        spec = table.spec
        present = {}
        for seat, bot in enumerate(table.bots):
            if seat in table.absent:
                bot.tables.pop(spec.match_id, None)
            elif bot.greeting is not None:
                present[seat] = presence(bot.greeting)
        try:
            table.match = Match(spec, self._limits)
        except Exception as error:  # noqa: BLE001 - a fault of the engine ends this match only
            self._void(table, error)
            return
        self._log.info("match started", match=spec.match_id, entries=spec.entries)
        if self._journal is not None:
            header = ReplayHeader.of(spec, self._limits, table.started_unix_ms)
            tokens = [player.token for player in spec.players]
            table.number = self._journal.begin(spec.match_id, record_bytes(header), tokens)
        self.drive(table, Match.start, present, table.absent)

    def _take_up(self, table: HostedMatch, held: RecoveredMatch) -> None:
        """Bring a match to where the journal leaves it. It goes on when its bots are there."""
        table.spec = held.spec
        table.number = held.number
        table.started_unix_ms = held.started_unix_ms
        try:
            match = held.resimulate()
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._void(table, error)
            return
        match.outbox.clear()  # all of it was told, or will be told with the whole table
        table.noted = len(match.records)
        table.seen_faults = len(match.faults)
        table.started_us = now_us() - held.time_us
        if match.finished:
            table.match = match
            self._finish(table)
        else:
            table.reopened = match

    def _go_on(self, table: HostedMatch, match: Match) -> None:
        """Go on with a match of an earlier referee. No time has passed in it since."""
        self._waiting.remove(table)
        _stop_timer(table)
        table.match, table.reopened = match, None
        time_us = last_us(match)
        table.started_us = now_us() - time_us
        spec = table.spec
        self._log.info("match reopened", match=spec.match_id, entries=spec.entries)
        self.drive(table, Match.reopen, time_us)
        for seat, bot in enumerate(table.bots):
            if match.finished or _is_out(match, seat):
                continue
            bot.tables[spec.match_id] = (table, seat)
            if bot.session is not None and bot.greeting is not None:
                here = presence(bot.greeting, bot.greeting.last_events.get(spec.match_id))
                self.drive(table, Match.enter, seat, here, time_us)
        for seat, bot in enumerate(table.bots):
            if bot.gone is not None:
                self.drive(table, Match.forfeit, seat, Termination.CRASH, bot.gone, time_us)

    # Playing

    def reply(
        self, table: HostedMatch, seat: int, decision_id: int, actions: Sequence[ReceivedAction]
    ) -> Answer:
        """A bot's reply: the hot path."""
        match = table.match
        assert match is not None
        now = now_us()
        try:
            time_us = now - table.started_us
            answer = match.reply(seat, decision_id, actions, time_us)
            if answer is Answer.ACCEPTED:
                match.record_reply(now_us() - now)
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._void(table, error)
            return Answer.ACCEPTED
        self._deliver(table, match)
        return answer

    def drive(self, table: HostedMatch, step: Callable[..., None], *args: object) -> None:
        """Let something else happen in a match."""
        match = table.match
        if match is None or match.finished:
            return
        try:
            step(match, *args)
        except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
            self._void(table, error)
        else:
            self._deliver(table, match)

    def forfeit(self, table: HostedMatch, seat: int, termination: Termination, detail: str) -> None:
        """A seat is out for a reason that lies outside the match, which need not have begun."""
        if table.match is not None:
            now = table.time_us(now_us())
            self.drive(table, Match.forfeit, seat, termination, detail, now)
            return
        table.absent[seat] = Absence(termination, detail)
        table.bots[seat].tables.pop(table.spec.match_id, None)
        self.start_soon()

    def _deliver(self, table: HostedMatch, match: Match) -> None:
        """Take what a match has to say to its streams, and set its timer; or put it away."""
        if self._journal is None:
            _tell(table, match)
        else:
            self._note(table, match, self._journal)
        if len(match.faults) > table.seen_faults:
            self._log_faults(table, match)
        if match.finished:
            self._finish(table)
            return
        if match.deadline_us < table.timer_us:
            self._set_timer(table, match.deadline_us)
        if self._quiet is not None and self._all_quiet():
            wake([self._quiet])

    def _note(self, table: HostedMatch, match: Match, journal: Journal) -> None:
        """Add what happened to the journal; it is committed, and told, at the end of this turn."""
        records = match.records
        for index in range(table.noted, len(records)):
            journal.add(table.number, record_bytes(records[index]))
        table.noted = len(records)
        self._untold.append(table)
        if not self._settling:
            self._settling = True
            asyncio.get_running_loop().call_soon(self._settle_soon)

    def _settle_soon(self) -> None:
        self._settling = False
        self.settle()

    def settle(self) -> None:
        """Commit what happened, and tell it; at once, for who cannot wait to the end of the turn.

        Everything that shows a match to anybody comes behind this.
        """
        if not self._untold or self._journal is None:
            return
        untold, self._untold = self._untold, []
        began = now_us()
        try:
            self._journal.commit()
        except JournalError as error:
            self._break(error)
            return
        untold[0].commits_us.append(now_us() - began)
        for table in untold:
            if table.match is not None:
                _tell(table, table.match)

    def _break(self, error: JournalError) -> None:
        """Give up: without the journal nothing may happen any more, and nothing be told."""
        self._broken = error
        self._log.error("journal failed", detail=str(error), matches=len(self.by_match))
        for table in list(self.by_match.values()):
            self._put_away(table)
            if not table.done.done():
                table.done.set_exception(error)

    def _set_timer(self, table: HostedMatch, deadline_us: int) -> None:
        # Deadlines mostly move on, so a timer may ring early: it is then set anew. That is cheaper
        # than setting it for every decision.
        _stop_timer(table)
        table.timer_us = deadline_us
        delay_s = max(deadline_us - table.time_us(now_us()), _LEAST_DELAY_US) / SECOND_US
        table.timer = asyncio.get_running_loop().call_later(delay_s, self._ring, table)

    def _ring(self, table: HostedMatch) -> None:
        _stop_timer(table)
        self.drive(table, Match.expire, table.time_us(now_us()))

    def _log_faults(self, table: HostedMatch, match: Match) -> None:
        for fault in match.faults[table.seen_faults :]:
            forfeit = isinstance(fault.reason, Termination)
            self._log.info(
                "seat forfeited" if forfeit else "reply rejected",
                match=table.spec.match_id,
                seat=fault.seat,
                entry=table.spec.players[fault.seat].entry,
                why=fault.reason.name,
                detail=fault.detail,
            )
        table.seen_faults = len(match.faults)

    # Ending

    def _finish(self, table: HostedMatch) -> None:
        match = table.match
        self.settle()
        self._put_away(table)
        record = MatchRecord(
            spec=table.spec,
            results=match.results if match else (),
            records=tuple(match.records) if match else (),
            events=tuple(match.feed.events) if match else (),
            digests=match.feed.digests if match else (),
            limits=match.limits if match else self._limits,
            void=match is None or match.void,
            started_unix_ms=table.started_unix_ms,
            duration_us=now_us() - table.started_us,
        )
        self.counters.match_over(record, table.commits_us)
        ranks = [result.rank for result in record.results]
        self._log.info("match over", match=table.spec.match_id, ranks=ranks, void=record.void)
        if not table.done.done():
            table.done.set_result(record)

    def _void(self, table: HostedMatch, error: Exception) -> None:
        """End a match that failed."""
        self._log.error("match void", match=table.spec.match_id, exc_info=error)
        _abandon(table)
        self._finish(table)

    def _cut(self, table: HostedMatch) -> str:
        """End a match because the referee was told to; says how far it had come."""
        self.settle()
        text = f"match {table.spec.match_id}: {_how_far(table)}"
        _abandon(table)
        self._put_away(table)
        self._log.warning("match cut", match=table.spec.match_id, detail=text)
        if not table.done.done():
            table.done.set_exception(MatchCut(text))
        return text

    def _put_away(self, table: HostedMatch) -> None:
        _stop_timer(table)
        if self.by_match.pop(table.spec.match_id, None) is None:
            return
        for bot in table.bots:
            bot.tables.pop(table.spec.match_id, None)
        if table in self._waiting:
            self._waiting.remove(table)
        wake(table.watchers)
        self.start_soon()

    async def stop(self, finish_s: float) -> list[str]:
        """Let the open decisions be answered in so many seconds, and cut all matches."""
        cut = [self._cut(table) for table in list(self._waiting)]
        for table in list(self.by_match.values()):
            self.drive(table, Match.halt, table.time_us(now_us()))
        if not self._all_quiet():
            self._quiet = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(finish_s):
                    await self._quiet
            except TimeoutError:
                pass  # what is still open is told with the match that it cuts
        return cut + [self._cut(table) for table in list(self.by_match.values())]

    def _all_quiet(self) -> bool:
        return all(t.match is None or t.match.asked is None for t in self.by_match.values())


def presence(greeting: Greeting, last_sequence: int | None = None) -> Presence:
    """What a match has to know of a stream."""
    return Presence(greeting.live_updates, greeting.omit_public_view, last_sequence)


def _absence(bot: HostedBot, spec: MatchSpec) -> Absence:
    """Why a bot is not there when its match begins."""
    within = f"within {spec.clocks.start_up_s:g} s"
    if bot.known:
        detail = bot.gone or f"went away and did not come back {within}"
        return Absence(Termination.CRASH, detail)
    return Absence(Termination.NEVER_STARTED, bot.gone or f"did not dial in {within}")


def _is_out(match: Match | None, seat: int) -> bool:
    """Whether a match does not wait for a seat's bot any more."""
    return match is not None and match.termination(seat).forfeit


def _tell(table: HostedMatch, match: Match) -> None:
    """Take what a match has to say to its streams, and let watchers look."""
    if match.outbox:
        _post(table, match)
    if table.watchers:
        wake(table.watchers)


def _post(table: HostedMatch, match: Match) -> None:
    bots = table.bots
    for seat, message in match.outbox:
        session = bots[seat].session
        if session is not None:
            session.put(message)
    match.outbox.clear()


def _abandon(table: HostedMatch) -> None:
    match = table.match
    if match is not None and not match.finished:
        match.abandon()
        _post(table, match)
    if match is None and table.committed:
        _call_off(table)


def _call_off(table: HostedMatch) -> None:
    """Tell the bots whose nonces are in that there will be no match."""
    message = match_ended_bytes(
        match_id=table.spec.match_id,
        events=(),
        sequence=0,
        results=(),
        deal_secret=b"",
        void=True,
    )
    for seat, bot in enumerate(table.bots):
        if seat not in table.absent and bot.session is not None:
            bot.session.put(message)


def _stop_timer(table: HostedMatch) -> None:
    if table.timer is not None:
        table.timer.cancel()
        table.timer = None
    table.timer_us = NEVER


def _how_far(table: HostedMatch) -> str:
    match = table.match or table.reopened
    if match is None:
        return "cut before it began"
    decisions = sum(isinstance(record, ReplyRecord) for record in match.records)
    text = f"cut in year {match.state.year} after {decisions} decisions"
    if match.asked is None:
        return text
    return f"{text}, while {table.spec.players[match.asked].entry} had to decide"
