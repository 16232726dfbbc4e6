"""The referee: which bots may play, their streams, and the matches they play.

Everything happens in one event loop, and nothing waits while a request is handled: it is handled to
its end before the next one.
"""

import asyncio
import time
from collections import Counter
from importlib.metadata import version
from typing import Final

from structlog.typing import FilteringBoundLogger

from asara.v1.play_pb2 import PlayRequest, Reply
from asara_codec.decode import PlainReply
from asara_codec.messages import goodbye_bytes, welcome_bytes
from asara_codec.results import Termination
from asara_server.eventlog.journal import Journal
from asara_server.logs import logger
from asara_server.match.match import Answer, Match
from asara_server.match.spec import ClockSettings, MatchRecord, MatchSpec, Player
from asara_server.referee.counters import Counters
from asara_server.referee.hosted import HostedBot, HostedMatch, now_us, wake
from asara_server.referee.limits import LimitSettings, RateMeter
from asara_server.referee.match_host import MatchCut, MatchHost, presence
from asara_server.referee.session import PROTOCOL_VERSION, Authenticator, Greeting, Session
from asara_server.referee.stream_errors import Context, Ending, StreamError
from asara_server.text import plain

__all__ = [
    "ClockSettings",
    "LimitSettings",
    "MatchCut",
    "MatchRecord",
    "MatchSpec",
    "Player",
    "Referee",
]

#: Ignored replies that are logged one by one for a stream; the rest are counted.
_IGNORED_LOGGED: Final = 10


class Referee:
    """Plays matches between bots that dial in. All methods belong to one event loop."""

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
        self.name = name or f"asara/{version('asara')}"
        self._tables = MatchHost(self.limits.match_limits, self.log, journal)
        self._bots: dict[str, HostedBot] = {}
        self._sessions: dict[Session, HostedBot] = {}
        #: Streams that have not said hello, by their door.
        self._strangers: Counter[Authenticator | None] = Counter()
        self._stopping = False
        #: Calls that follow a match.
        self.watchers = 0

    # For metrics; other threads may read these

    @property
    def counters(self) -> Counters:
        """What happened in matches that are over."""
        return self._tables.counters

    @property
    def waiting_matches(self) -> int:
        """Matches that wait for their bots."""
        return self._tables.waiting

    @property
    def running_matches(self) -> int:
        """Matches that have begun and are not over."""
        return max(len(self._tables.by_match) - self._tables.waiting, 0)

    @property
    def streams(self) -> int:
        """Streams of bots that have said hello."""
        return len(self._sessions)

    @property
    def streams_without_hello(self) -> int:
        """Streams that have not."""
        return sum(list(self._strangers.values()))

    # Bots

    def admit(
        self,
        token: str,
        entry: str,
        *,
        door: Authenticator | None = None,
        matches: int | None = None,
    ) -> None:
        """A bot with this token may dial in; ValueError where the token is in use.

        With a `door` it may come in there only, and `token` is what the door knows it by. It plays
        so many `matches` at once at most.
        """
        if not token:
            raise ValueError(f"{entry}: the token is empty")
        known = self._bots.get(token)
        if known is not None and known.gone is None:
            raise ValueError(f"{entry}: the token is already in use by {known.entry}")
        limits = self.limits
        meter = RateMeter(limits.requests_per_second, limits.rate_window_s)
        most = limits.matches if matches is None else min(matches, limits.matches)
        self._bots[token] = HostedBot(token, entry, meter, most, door)

    def dismiss(self, token: str, reason: str) -> None:
        """Say goodbye to a bot; it may not come back, and forfeits what it still plays."""
        bot = self._bots.pop(token, None)
        if bot is not None and bot.gone is None:
            self._lose(bot, f"dismissed: {reason}", goodbye=reason)

    def send_away(self, token: str, reason: str) -> None:
        """Say goodbye to a bot; it forfeits what it plays, and may dial in again."""
        bot = self._bots.get(token)
        if bot is None or bot.session is None:
            return
        self.log.info("bot sent away", entry=bot.entry, reason=reason)
        self._forfeit_all(bot, Termination.CRASH, f"dismissed: {reason}")
        self.settle()
        bot.session.say_goodbye(goodbye_bytes(reason))
        bot.session = None  # from now on, though its stream may take a moment to end
        self._leave_all(bot, now_us())

    def lost(self, token: str, detail: str) -> None:
        """A bot's process is gone for good: it forfeits all its matches at once."""
        bot = self._bots.get(token)
        if bot is not None and bot.gone is None:
            self._lose(bot, detail, goodbye=detail)

    def connected(self, token: str) -> bool:
        """Whether a bot has a stream now."""
        bot = self._bots.get(token)
        return bot is not None and bot.session is not None

    def capacity(self, token: str) -> int:
        """How many matches a bot can play at once; 0 while it is not connected."""
        bot = self._bots.get(token)
        if bot is None or bot.session is None or bot.greeting is None:
            return 0
        return bot.greeting.max_matches

    async def wait_connected(self, token: str, timeout_s: float) -> bool:
        """Wait until a bot has dialled in; False where it does not in time, or is lost."""
        bot = self._bots.get(token)
        if bot is None or bot.gone is not None:
            return False
        if bot.session is None:
            waiter = asyncio.get_running_loop().create_future()
            bot.waiters.append(waiter)
            try:
                async with asyncio.timeout(timeout_s):
                    await waiter
            except TimeoutError:
                bot.waiters.remove(waiter)
        return bot.session is not None

    def _lose(self, bot: HostedBot, detail: str, goodbye: str) -> None:
        bot.gone = detail
        self.log.info("bot lost", entry=bot.entry, detail=detail)
        wake(bot.waiters)
        self._forfeit_all(bot, Termination.CRASH, detail)
        self.settle()
        if bot.session is not None:
            bot.session.say_goodbye(goodbye_bytes(goodbye))
        self._tables.start_soon()

    def _forfeit_all(self, bot: HostedBot, termination: Termination, detail: str) -> None:
        for table, seat in list(bot.tables.values()):
            self._tables.forfeit(table, seat, termination, detail)

    # Matches

    async def play(self, spec: MatchSpec) -> MatchRecord:
        """Play a match to its end, as soon as its bots are there and have room for it.

        A match that the journal holds from before goes on where it was. ValueError where a token
        was not admitted or the match's name is taken; MatchCut where the referee stops before the
        end; JournalError where the journal fails.
        """
        if self._stopping:
            raise MatchCut(f"match {spec.match_id}: not started, the referee is stopping")
        if spec.match_id in self._tables.by_match:
            raise ValueError(f"match {spec.match_id}: a match of this name is being played")
        bots = []
        for player in spec.players:
            bot = self._bots.get(player.token)
            if bot is None:
                raise ValueError(f"match {spec.match_id}: {player.entry} was not admitted")
            bots.append(bot)
        return await self._tables.play(spec, tuple(bots))

    def settle(self) -> None:
        """Commit and tell what happened in matches; what anybody is shown of one comes behind."""
        self._tables.settle()

    def running(self) -> list[HostedMatch]:
        """Matches that have started, in the order they came."""
        self.settle()
        return [table for table in self._tables.by_match.values() if table.match is not None]

    def table(self, match_id: str) -> HostedMatch | None:
        """The match of this name, if it runs."""
        table = self._tables.by_match.get(match_id)
        return None if table is None or table.match is None else table

    async def stop(self, *, finish_s: float) -> list[str]:
        """Let the open decisions be answered, for so many seconds at most, and end everything.

        Says which matches were cut, in a line for each. The streams get a Goodbye.
        """
        if self._stopping:
            return []
        self._stopping = True
        self.log.info("referee stops", matches=len(self._tables.by_match), finish_s=finish_s)
        cut = await self._tables.stop(finish_s)
        self.settle()
        message = goodbye_bytes("the referee is stopping")
        for session in list(self._sessions):
            session.say_goodbye(message)
        return cut

    # Streams: what a session calls

    def new_session(self, context: Context, door: Authenticator | None = None) -> Session:
        """A session for a stream just opened; raises StreamError where there are too many.

        They are counted by door, so that whoever knocks at one does not close the others.
        """
        strangers = self._strangers[door]
        if strangers >= self.limits.streams_without_hello:
            raise StreamError(
                Ending.TOO_MANY_STREAMS,
                f"{strangers} streams are open that have not said hello; try again later",
            )
        self._strangers[door] += 1
        return Session(context, self, self.limits, door)

    def dial_in(self, session: Session, greeting: Greeting) -> None:
        """A bot said hello: it takes the place of its earlier stream, and finds its matches."""
        if self._stopping:
            raise StreamError(Ending.STOPPING, "the referee is stopping")
        door = session.door
        key = greeting.token if door is None else door.identify(greeting.token)
        bot = None if key is None else self._bots.get(key)
        if bot is None or bot.gone is not None or bot.door is not door:
            raise StreamError(Ending.UNKNOWN_TOKEN, "no bot with this token may dial in")
        self.settle()  # what was said before goes to the stream that was there before
        now = now_us()
        try:
            self._count(bot, 1 + len(bot.tables))
        except StreamError as ended:
            self._punish(bot, ended)
            raise
        if bot.session is not None:
            bot.session.end(StreamError(Ending.REPLACED, "a new stream with this token came"))
            self._leave_all(bot, now)
        self._strangers[door] -= 1
        self._sessions[session] = bot
        bot.session = session
        most = min(greeting.max_matches, bot.matches)
        bot.greeting = greeting = greeting._replace(max_matches=most)
        self.log.info(
            "bot dialled in",
            entry=bot.entry,
            bot=plain(greeting.bot_name, longest=64),
            language=plain(greeting.language, longest=64),
            matches=most,
            again=bot.known,
        )
        bot.known = True
        session.put(
            welcome_bytes(
                protocol_version=PROTOCOL_VERSION,
                referee=self.name,
                entry=bot.entry,
                limits=self.limits.message(bot.matches),
            )
        )
        for match_id, (table, seat) in list(bot.tables.items()):
            here = presence(greeting, greeting.last_events.get(match_id))
            self._tables.drive(table, Match.enter, seat, here, table.time_us(now))
            self._tables.ask_for_nonce(table, seat)
        wake(bot.waiters)
        self._tables.start_soon()
        if door is not None:
            door.changed()

    def reply(self, session: Session, reply: Reply | PlainReply) -> None:
        """A reply to a decision: the hot path."""
        bot = self._sessions[session]
        found = bot.tables.get(reply.match_id)
        answer = None
        if found is not None:
            answer = self._tables.reply(*found, reply.decision_id, reply.actions)
            if answer is Answer.ACCEPTED:
                return
        if answer is not Answer.REJECTED:
            self._ignore(session, bot, reply.match_id, decision=reply.decision_id)
        self._count(bot)

    def take(self, session: Session, request: PlayRequest) -> None:
        """A request after Hello."""
        bot = self._sessions[session]
        which = request.WhichOneof("request")
        if which == "reply":
            self.reply(session, request.reply)
        elif which == "nonce":
            nonce = request.nonce
            found = bot.tables.get(nonce.match_id)
            if found is None:  # too late, or called off
                self._ignore(session, bot, nonce.match_id)
                self._count(bot)
            else:
                self._tables.nonce(*found, nonce.nonce)
        elif which == "hello":
            raise StreamError(Ending.SECOND_HELLO, "Hello may come only once in a stream")
        else:
            raise StreamError(Ending.EMPTY_REQUEST, "a request with no member set")

    def _ignore(
        self, session: Session, bot: HostedBot, match_id: str, decision: int | None = None
    ) -> None:
        session.ignored += 1
        if session.ignored <= _IGNORED_LOGGED:
            match = plain(match_id, longest=64)
            if decision is None:
                self.log.info("nonce ignored", entry=bot.entry, match=match)
            else:
                self.log.info("reply ignored", entry=bot.entry, match=match, decision=decision)

    def _count(self, bot: HostedBot, requests: int = 1) -> None:
        """Count requests that bring no match forward; raises StreamError for one too many."""
        if bot.meter.exceeded(time.monotonic(), requests):
            limit = self.limits.requests_per_second
            raise StreamError(
                Ending.REQUEST_RATE,
                f"more than {limit} requests per second that answer no open decision",
            )

    def violate(self, session: Session, ended: StreamError) -> None:
        """A bot broke the protocol or a limit: it forfeits all its matches."""
        bot = self._sessions.get(session)
        if bot is not None:
            self._punish(bot, ended)

    def _punish(self, bot: HostedBot, ended: StreamError) -> None:
        reason = ended.ending.value[1]
        self.counters.violation(reason)
        self.log.warning("protocol violation", entry=bot.entry, reason=reason, detail=ended.detail)
        self._forfeit_all(bot, Termination.PROTOCOL_VIOLATION, ended.detail)

    def fail(self, session: Session, error: Exception) -> None:
        """A stream ends through a fault of the referee; its bot may dial in again."""
        bot = self._sessions.get(session)
        self.log.error("stream failed", entry=bot.entry if bot else None, exc_info=error)

    def hang_up(self, session: Session) -> None:
        """A stream is over; its bot is away until it dials in again."""
        bot = self._sessions.pop(session, None)
        if bot is None:
            self._strangers[session.door] -= 1
            return
        if bot.session is session:
            bot.session = None
            self.log.info("bot away", entry=bot.entry, ignored_replies=session.ignored)
            self._leave_all(bot, now_us())
            if bot.door is not None:
                bot.door.changed()

    def _leave_all(self, bot: HostedBot, now: int) -> None:
        for match_id, (table, seat) in list(bot.tables.items()):
            match = table.match
            if match is not None and match.termination(seat).forfeit:
                del bot.tables[match_id]  # the steward plays on; there is nothing to come back to
            self._tables.drive(table, Match.leave, seat, table.time_us(now))
