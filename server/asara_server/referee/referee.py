"""The referee: the bots that may connect, and the matches that they play.

Everything happens in one event loop. No request is interrupted: each is handled completely before
the next one.
"""

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from asara_codec.messages import goodbye_bytes
from asara_codec.results import Termination
from asara_server.journal.journal import Journal
from asara_server.journal.recovery import recover
from asara_server.logs import logger
from asara_server.match.match import Match
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee.counters import Counters
from asara_server.referee.hosted import (
    HostedBot,
    HostedMatch,
    Life,
    MatchCut,
    MatchHost,
    Wait,
)
from asara_server.referee.limits import LimitSettings
from asara_server.referee.session import Authenticator, BotSocket, Session
from asara_server.referee.stall_clock import StallClock
from asara_server.referee.stream_errors import Context, StreamError
from asara_server.referee.streams import StreamHandler


class BotRegistry(Protocol):
    """The part of a referee for code that starts bots and opens addresses for them.

    `Referee` documents the methods.
    """

    @property
    def limits(self) -> LimitSettings: ...

    def register_bot(
        self,
        key: str,
        entry: str,
        *,
        authenticator: Authenticator | None = None,
        max_matches: int | None = None,
    ) -> None: ...

    def remove_bot(self, key: str, reason: str) -> None: ...

    def mark_lost(
        self, key: str, detail: str, absence: Termination = Termination.NEVER_STARTED
    ) -> None: ...

    def mark_unstarted(self, key: str, why: str) -> None: ...

    def expel_bot(self, key: str, error: StreamError) -> None: ...

    def is_connected(self, key: str) -> bool: ...

    def awaits(self, key: str) -> bool: ...

    def decision_id(self, match_id: str, seat: int) -> int: ...

    def before_send(self, key: str, called: Callable[[], None] | None) -> None: ...

    def open_session(
        self,
        context: Context,
        authenticator: Authenticator | None = None,
        socket: BotSocket | None = None,
    ) -> Session: ...


class Referee:
    """The registry of bots and matches. Call all methods in the same event loop."""

    def __init__(
        self,
        *,
        limits: LimitSettings | None = None,
        log: FilteringBoundLogger | None = None,
        name: str | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.limits = limits or LimitSettings()
        self.log = log or logger("referee")
        self.clock = StallClock(self.log)
        """The clock for all time charged to bots."""
        self._bots: dict[str, HostedBot] = {}
        self._host = MatchHost(self.clock, self.limits, self.log, journal)
        self._streams = StreamHandler(self._bots, self._host, name or f"asara/{version('asara')}")

    # Metrics, which any thread may read

    def start_counting(self) -> Counters:
        """Return the counters; nothing is counted before this is first called."""
        if self._host.counters is None:
            self._host.counters = Counters()
        return self._host.counters

    @property
    def waiting_match_count(self) -> int:
        """Number of matches waiting for their bots."""
        return len(self._host.waiting)

    @property
    def running_match_count(self) -> int:
        """Number of matches that have begun and are not over."""
        return max(len(self._host.by_id) - self.waiting_match_count, 0)

    @property
    def stream_count(self) -> int:
        """Number of streams that have sent Hello."""
        return self._streams.count

    @property
    def stream_count_without_hello(self) -> int:
        """Number of streams that have not sent Hello."""
        return self._streams.count_without_hello

    # Bots

    def register_bot(
        self,
        key: str,
        entry: str,
        *,
        authenticator: Authenticator | None = None,
        max_matches: int | None = None,
    ) -> None:
        """Admit a bot that presents this token; raise ValueError if the token is in use.

        With an authenticator, the bot can connect only at the authenticator's address, and `key` is
        what the authenticator returns for the bot's token. `max_matches` limits its concurrent
        matches.
        """
        if not key:
            raise ValueError(f"{entry}: the token is empty")
        earlier = self._bots.get(key)
        if earlier is not None and earlier.lost is None:
            raise ValueError(f"{entry}: the token is already in use by {earlier.entry}")
        self._bots[key] = HostedBot(entry, self.limits, max_matches, authenticator)

    def remove_bot(self, key: str, reason: str) -> None:
        """Disconnect a bot for good; it forfeits the matches that it is playing."""
        bot = self._bots.pop(key, None)
        if bot is not None and bot.lost is None:
            self._lose(bot, f"dismissed: {reason}", goodbye=reason)

    def disconnect_bot(self, key: str, reason: str) -> None:
        """Disconnect a bot; it forfeits the matches that it is playing and may connect again."""
        bot = self._bots.get(key)
        if bot is None or bot.session is None:
            return
        self.log.info("disconnecting bot", entry=bot.entry, reason=reason)
        session = bot.session
        bot.forfeit_all(Termination.CRASH, f"dismissed: {reason}")
        self.flush()
        session.close(goodbye_bytes(reason))
        bot.session = None  # now, although its stream may take a moment to end
        bot.disconnected()

    def mark_lost(
        self, key: str, detail: str, absence: Termination = Termination.NEVER_STARTED
    ) -> None:
        """Forfeit all matches of a bot whose process has ended; the bot cannot connect again.

        `absence` is the termination for matches for which the bot never connected.
        """
        bot = self._bots.get(key)
        if bot is not None and bot.lost is None:
            bot.absence = absence
            self._lose(bot, detail, goodbye=detail)

    def mark_unstarted(self, key: str, why: str) -> None:
        """Void the matches waiting for a bot that its machine could not start. Nobody forfeits.

        The bot cannot connect again.
        """
        bot = self._bots.get(key)
        if bot is not None and bot.lost is None:
            bot.unstarted = True
            self._lose(bot, why, goodbye=why)

    def expel_bot(self, key: str, error: StreamError) -> None:
        """Disconnect a bot for good because of a violation that was detected outside its stream."""
        bot = self._bots.get(key)
        if bot is not None and bot.lost is None:
            self._streams.punish(bot, error)
            self._lose(bot, error.detail, goodbye=error.detail)

    def is_connected(self, key: str) -> bool:
        bot = self._bots.get(key)
        return bot is not None and bot.session is not None

    def awaits(self, key: str) -> bool:
        """Return True if a bot still has something to do: connect, send a nonce, or reply.

        A late reply counts too, for `late_reply_s` after the timeout.
        """
        bot = self._bots.get(key)
        return bot is not None and bot.is_awaited(self.clock.now_us(), self.limits.late_reply_s)

    def before_send(self, key: str, called: Callable[[], None] | None) -> None:
        """Register a function to call before every message to a bot, replacing any earlier one."""
        bot = self._bots.get(key)
        if bot is not None:
            bot.before_send = called
            if bot.session is not None:
                bot.session.before_send = called

    def match_capacity(self, key: str) -> int:
        """Return how many matches a bot can play concurrently; 0 if it is not connected."""
        bot = self._bots.get(key)
        return 0 if bot is None or bot.session is None else bot.capacity

    def _lose(self, bot: HostedBot, detail: str, goodbye: str) -> None:
        bot.lost = detail
        self.log.info("bot lost", entry=bot.entry, detail=detail)
        bot.forfeit_all(Termination.CRASH, detail)
        self.flush()
        if bot.session is not None:
            bot.session.close(goodbye_bytes(goodbye))
        self._host.start_soon()

    # Matches

    async def play(self, spec: MatchSpec) -> MatchRecord:
        """Play a match to its end. It begins when its bots are connected and have room.

        A match that the journal contains continues after its last input. Raise ValueError if a bot
        is not registered or a match of this name is being played, MatchCut if the referee stops
        before the end, and JournalError if the journal fails.
        """
        if self._streams.stopping:
            raise MatchCut(f"match {spec.match_id}: not started, the referee is stopping")
        if spec.match_id in self._host.by_id:
            raise ValueError(f"match {spec.match_id}: a match of this name is being played")
        for player in spec.players:
            if player.token not in self._bots:
                raise ValueError(f"match {spec.match_id}: {player.entry} is not registered")
        bots = [self._bots[player.token] for player in spec.players]
        recovered = None
        if self._host.journal_error is not None:
            raise self._host.journal_error
        if self._host.journal is not None:
            recovered = recover(self._host.journal, spec)
        with self.clock.held():
            hosted = HostedMatch(self._host, spec, bots)
            self._host.add(hosted, recovered)
            try:
                return await hosted.result
            except asyncio.CancelledError:
                if spec.match_id in self._host.by_id:
                    hosted.cut()
                raise

    def use_journal(self, journal: Journal) -> None:
        """Write to another journal from now on; call this only while no match is hosted."""
        assert not self._host.by_id
        self.flush()
        self._host.journal = journal

    def flush(self) -> None:
        """Journal and send everything so far; call this before a match is shown to anybody."""
        self._host.flush()

    def running_matches(self) -> list[HostedMatch]:
        """Return the matches that have begun, in the order of the calls to `play`."""
        self.flush()
        return [each for each in self._host.by_id.values() if each.life is Life.RUNNING]

    def decision_id(self, match_id: str, seat: int) -> int:
        """Return the number of a seat's last decision; 0 if there is none."""
        hosted = self._host.by_id.get(match_id)
        return 0 if hosted is None else hosted.decision_id(seat)

    def waits(self) -> list[Wait]:
        """Return the bots that matches are waiting for, longest wait first; for organisers only."""
        waits = [wait for hosted in self._host.by_id.values() for wait in hosted.waits()]
        return sorted(waits, key=lambda wait: -wait.waited_s)

    async def stop(self, *, finish_s: float) -> dict[str, str]:
        """End all matches and streams, after waiting at most `finish_s` for the open decisions.

        Return a line for each match that was cut, by name.
        """
        if self._streams.stopping:
            return {}
        self._streams.stopping = True
        self.log.info("referee stopping", matches=len(self._host.by_id), finish_s=finish_s)
        cut = {hosted.match_id: hosted.cut() for hosted in list(self._host.waiting)}
        running = list(self._host.by_id.values())
        for hosted in running:
            hosted.drive(Match.halt, hosted.time_us)
        try:
            async with asyncio.timeout(finish_s):
                await asyncio.gather(*(hosted.decision_answered() for hosted in running))
        except TimeoutError:
            pass  # the line of the match says which decision was open
        cut |= {hosted.match_id: hosted.cut() for hosted in list(self._host.by_id.values())}
        self.flush()
        self._streams.close_all(goodbye_bytes("the referee is stopping"))
        return cut

    # Streams

    def open_session(
        self,
        context: Context,
        authenticator: Authenticator | None = None,
        socket: BotSocket | None = None,
    ) -> Session:
        """Return a session for a new stream.

        `authenticator` belongs to the address at which the stream was opened; `socket` is the bot's
        connection, if known.
        """
        return self._streams.open(context, authenticator, socket)
