"""The streams of all bots: passes requests to matches, and ends a stream after a violation."""

import time
from collections.abc import Mapping
from typing import Final

from asara.v1.play_pb2 import Hello, PlayRequest, Reply
from asara_codec.decode import PlainReply
from asara_codec.messages import welcome_bytes
from asara_codec.results import Termination
from asara_server.match.match import Answer
from asara_server.referee.hosted import HostedBot, MatchHost
from asara_server.referee.session import (
    PROTOCOL_VERSION,
    Authenticator,
    BotSocket,
    Session,
)
from asara_server.referee.stream_errors import Context, ErrorKind, StreamError
from asara_server.text import plain

_COUNTED_BYTES: Final = 1024
"""Size of a request that counts as one; reading 64 KiB can take as long as a hundred requests."""


class StreamHandler:
    """Opens sessions and handles what happens in them."""

    def __init__(self, bots: Mapping[str, HostedBot], host: MatchHost, name: str) -> None:
        """`bots` are the registered bots by key; `name` is the referee's name in Welcome."""
        self.stopping = False
        """True once no more bots are admitted."""
        self._bots = bots
        self._host = host
        self._limits = host.limits
        self._log = host.log
        self._name = name
        self._admitted: dict[Session, HostedBot] = {}
        # Streams that have not sent Hello, by address; the oldest first.
        self._without_hello: dict[Authenticator | None, dict[Session, None]] = {}

    @property
    def count(self) -> int:
        """Number of streams that have sent Hello."""
        return len(self._admitted)

    @property
    def count_without_hello(self) -> int:
        """Number of streams that have not sent Hello."""
        return sum(map(len, list(self._without_hello.values())))

    def open(
        self,
        context: Context,
        authenticator: Authenticator | None,
        socket: BotSocket | None,
    ) -> Session:
        """Return a session for a new stream. If too many have sent no Hello, the oldest of them
        ends.

        Streams are counted per authenticator, so a crowd at one address does not block another.
        Even a crowd at the same address does not block a bot that sends Hello immediately.
        """
        waiting = self._without_hello.setdefault(authenticator, {})
        if len(waiting) >= self._limits.streams_without_hello:
            oldest = next(iter(waiting))
            detail = f"{len(waiting)} newer streams have not sent Hello; connect again"
            oldest.abort(StreamError(ErrorKind.TOO_MANY_STREAMS, detail))
            del waiting[oldest]
        session = Session(context, self, self._limits, self._host.clock, authenticator, socket)
        waiting[session] = None
        return session

    def close_all(self, goodbye: bytes) -> None:
        """Send a last response to all bots and end their streams."""
        for session in list(self._admitted):
            session.close(goodbye)

    # What happens on a stream

    def on_hello(self, session: Session, hello: Hello) -> None:
        """Connect a bot: its new stream replaces any earlier one and continues its matches."""
        bot = self._find_bot(session, hello)
        self._limit_connections(bot)
        self._host.flush()  # earlier messages go to the earlier stream
        if bot.session is not None:
            bot.session.abort(StreamError(ErrorKind.REPLACED, "a new stream with this token came"))
            bot.disconnected()
        self._forget_waiting(session)
        self._admitted[session] = bot
        bot.capacity = min(max(hello.max_matches, 1), bot.max_matches)
        self._log.info(
            "bot connected",
            entry=bot.entry,
            bot=plain(hello.bot_name, longest=64),
            language=plain(hello.language, longest=64),
            matches=bot.capacity,
            again=bot.hello is not None,
        )
        bot.session = session
        session.before_send = bot.before_send
        bot.hello = hello
        bot.last_events = {last.match_id: last.sequence for last in hello.last_events}
        session.send(
            welcome_bytes(
                protocol_version=PROTOCOL_VERSION,
                referee=self._name,
                entry=bot.entry,
                limits=self._limits.message(bot.max_matches),
            )
        )
        session.socket.admit()
        bot.connected()
        self._host.start_soon()
        if bot.authenticator is not None:
            bot.authenticator.connections_changed()

    def on_reply(self, session: Session, reply: Reply | PlainReply) -> None:
        """Pass a reply to its match: the hot path."""
        bot = self._admitted[session]
        found = bot.matches.get(reply.match_id) or bot.late_matches.get(reply.match_id)
        answer = None
        if found is not None:
            match, seat = found
            answer = match.reply(seat, reply.decision_id, reply.actions)
            if answer is Answer.ACCEPTED:
                return
        if answer is not Answer.REJECTED and answer is not Answer.LATE:
            self._log.info(
                "reply ignored",
                entry=bot.entry,
                match=plain(reply.match_id, longest=64),
                decision=reply.decision_id,
            )
        self._limit_rate(bot, session.request_bytes)

    def on_request(self, session: Session, request: PlayRequest) -> None:
        which = request.WhichOneof("request")
        if which == "reply":
            self.on_reply(session, request.reply)
        elif which == "nonce":
            self._on_nonce(session, request.nonce.match_id, request.nonce.nonce)
        elif which == "hello":
            raise StreamError(ErrorKind.SECOND_HELLO, "Hello may come only once in a stream")
        else:
            raise StreamError(ErrorKind.EMPTY_REQUEST, "a request with no member set")

    def _on_nonce(self, session: Session, match_id: str, nonce: bytes) -> None:
        bot = self._admitted[session]
        found = bot.matches.get(match_id)
        if found is not None:
            match, seat = found
            match.accept_nonce(seat, nonce)
        else:  # too late, or the match was called off
            self._log.info("nonce ignored", entry=bot.entry, match=plain(match_id, longest=64))
            self._limit_rate(bot, session.request_bytes)

    def on_violation(self, session: Session, error: StreamError) -> None:
        bot = self._admitted.get(session)
        if bot is not None:
            self.punish(bot, error)

    def on_failure(self, session: Session, error: Exception) -> None:
        """Log a failure of the referee; the bot may connect again."""
        bot = self._admitted.get(session)
        self._log.error("stream failed", entry=bot.entry if bot else None, exc_info=error)

    def on_closed(self, session: Session) -> None:
        bot = self._admitted.pop(session, None)
        if bot is None:
            self._forget_waiting(session)
            return
        session.socket.release()
        if bot.session is session:
            bot.session = None
            self._log.info("bot disconnected", entry=bot.entry)
            bot.disconnected()
            if bot.authenticator is not None:
                bot.authenticator.connections_changed()

    def _forget_waiting(self, session: Session) -> None:
        waiting = self._without_hello.get(session.authenticator)
        if waiting is not None:
            waiting.pop(session, None)
            if not waiting:
                del self._without_hello[session.authenticator]

    # Checks

    def _find_bot(self, session: Session, hello: Hello) -> HostedBot:
        if self.stopping:
            raise StreamError(ErrorKind.STOPPING, "the referee is stopping")
        authenticator = session.authenticator
        key = hello.token if authenticator is None else authenticator.authenticate(hello.token)
        bot = None if key is None else self._bots.get(key)
        if bot is None or bot.lost is not None or bot.authenticator is not authenticator:
            raise StreamError(ErrorKind.UNKNOWN_TOKEN, "no bot with this token may connect")
        return bot

    def _limit_connections(self, bot: HostedBot) -> None:
        """Raise StreamError, which costs no match, if a bot connects too often."""
        limits = self._limits
        if not bot.connection_limiter.allow(time.monotonic()):
            raise StreamError(
                ErrorKind.TOO_MANY_STREAMS,
                f"more than {limits.streams_opened} streams within {limits.stream_window_s:g} s; "
                "try again later",
            )

    def _limit_rate(self, bot: HostedBot, request_bytes: int) -> None:
        """Count a request that advances no match; raise StreamError if they are too frequent."""
        if not bot.rate_limiter.allow(time.monotonic(), 1 + request_bytes // _COUNTED_BYTES):
            limit = self._limits.requests_per_second
            raise StreamError(
                ErrorKind.REQUEST_RATE,
                f"more than {limit} requests per second that answer no open decision",
            )

    def punish(self, bot: HostedBot, error: StreamError) -> None:
        """Forfeit all matches of a bot that violated the protocol or a limit."""
        kind = error.kind
        if self._host.counters is not None:
            self._host.counters.count_violation(kind)
        self._log.warning(
            "protocol violation", entry=bot.entry, reason=kind.reason, detail=error.detail
        )
        bot.forfeit_all(Termination.PROTOCOL_VIOLATION, error.detail)
