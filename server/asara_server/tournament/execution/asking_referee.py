"""A referee that sends the decisions of one seat in a finished match to a bot again.

The bot receives the seat's recorded messages, one by one, up to the decision in question, as if it
had played the match. A bot with state thus reaches the state it would have had. Its replies to
earlier decisions change nothing, because the messages that follow come from the recording.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply
from asara_codec.decode import PlainReply
from asara_codec.encode import serialize
from asara_codec.messages import goodbye_bytes, welcome_bytes
from asara_codec.results import Termination
from asara_server.journal.replay import Replay, ReplayError
from asara_server.logs import logger
from asara_server.match.inputs import Presence, RejectionRecord, ReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.referee.limits import LimitSettings
from asara_server.referee.session import PROTOCOL_VERSION, Authenticator, BotSocket, Session
from asara_server.referee.stall_clock import StallClock
from asara_server.referee.stream_errors import Context, ErrorKind, StreamError
from asara_server.replay.questions import Question, questions
from asara_server.tournament.bots.process import MachineError

_REPORT_S: Final = 0.5
"""Seconds, after the bot's time is up, in which a hanging bot may still report its current line."""


class AskedBotError(Exception):
    """Raised if the bot did not answer; the text completes "the bot ..."."""


@dataclass(slots=True)
class AskedAnswer:
    """The bot's reply to the decision in question, next to the recorded reply."""

    record: ReplyRecord | RejectionRecord
    """How the reply would have been recorded in the match."""
    recorded: ReplyRecord | None
    seconds: float
    """Seconds that the bot took."""
    different: list[int] = field(default_factory=list)
    """Numbers of the earlier decisions for which the bot's answer differs from the recording."""


class AskingReferee:
    """Requests all decisions up to `number` from the bot of one seat; `answer` is the outcome.

    It acts as the `BotRegistry` of a single bot, and as the handler of the bot's streams.
    """

    def __init__(
        self, replay: Replay, seat: int, number: int, *, start_up_s: float, limit_s: float | None
    ) -> None:
        """`start_up_s` is the time for the bot to connect.

        `limit_s` is the time for each reply, and also the clock that the bot sees. With None, the
        bot gets the time its seat had at each decision.
        """
        self.limits = LimitSettings()
        self.answer: asyncio.Future[AskedAnswer] = asyncio.get_running_loop().create_future()
        self._replay = replay
        self._seat = seat
        self._number = number
        self._start_up_s = start_up_s
        self._limit_s = limit_s
        self._clock = StallClock(logger("referee"))
        self._key = ""
        self._entry = ""
        self._session: Session | None = None
        self._questions: Iterator[Question] | None = None
        self._open: Question | None = None
        self._asked_at_s = self._allowed_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._different: list[int] = []

    @property
    def open_decision(self) -> int:
        """Number of the decision that the bot is thinking about; 0 before the first decision."""
        return 0 if self._open is None else self._open.decision.decision_id

    # The registry

    def decision_id(self, match_id: str, seat: int) -> int:
        return self.open_decision

    def register_bot(
        self,
        key: str,
        entry: str,
        *,
        authenticator: Authenticator | None = None,
        max_matches: int | None = None,
    ) -> None:
        self._key = key
        self._entry = entry
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._start_up_s, self._start_up_over)

    def remove_bot(self, key: str, reason: str) -> None:
        if self._session is not None:
            self._session.close(goodbye_bytes(reason))

    def mark_lost(
        self, key: str, detail: str, absence: Termination = Termination.NEVER_STARTED
    ) -> None:
        self._fail(AskedBotError(f"ended {self._when()}: {detail}"))

    def mark_unstarted(self, key: str, why: str) -> None:
        self._fail(MachineError(why))

    def expel_bot(self, key: str, error: StreamError) -> None:
        self._fail(self._violation(error))

    def is_connected(self, key: str) -> bool:
        return self._session is not None

    def awaits(self, key: str) -> bool:
        """Always return True: the only bot plays one match and is never frozen."""
        return True

    def before_send(self, key: str, called: Callable[[], None] | None) -> None:
        """Do nothing: the bot is never frozen."""

    def open_session(
        self,
        context: Context,
        authenticator: Authenticator | None = None,
        socket: BotSocket | None = None,
    ) -> Session:
        return Session(context, self, self.limits, self._clock, authenticator, socket)

    # The stream

    def on_hello(self, session: Session, hello: Hello) -> None:
        authenticator = session.authenticator
        if authenticator is None or authenticator.authenticate(hello.token) != self._key:
            raise StreamError(ErrorKind.UNKNOWN_TOKEN, "no bot with this token may connect")
        if self._session is not None:
            self._session.abort(
                StreamError(ErrorKind.REPLACED, "a new stream with this token came")
            )
        self._session = session
        session.send(
            welcome_bytes(
                protocol_version=PROTOCOL_VERSION,
                referee=f"asara/{version('asara')}",
                entry=self._entry,
                limits=self.limits.message(1),
            )
        )
        authenticator.connections_changed()
        if self._questions is None:
            self._stop_timer()
            presence = Presence(hello.live_updates, hello.omit_public_view)
            self._questions = questions(self._replay, self._seat, presence)
            self._ask_next()
        elif self._open is not None:  # its stream broke; it recognises repeated messages
            self._send(self._open)

    def on_reply(self, session: Session, reply: PlainReply | Reply) -> None:
        asked = self._open
        if asked is None or reply.decision_id != asked.decision.decision_id:
            return  # answered before
        if reply.match_id != asked.decision.match_id:
            return
        seconds = time.monotonic() - self._asked_at_s
        if seconds > self._allowed_s + self._grace_s:
            self._time_out()
            return
        self._stop_timer()
        if reply.decision_id == self._number:
            self._open = None
            record = asked.judge(list(reply.actions))
            if not self.answer.done():
                answer = AskedAnswer(record, asked.recorded, seconds, self._different)
                self.answer.set_result(answer)
            return
        if asked.differs(reply.actions):
            self._different.append(reply.decision_id)
        self._ask_next()

    def on_request(self, session: Session, request: PlayRequest) -> None:
        match request.WhichOneof("request"):
            case "reply":
                self.on_reply(session, request.reply)
            case "nonce":
                raise StreamError(ErrorKind.NONCE, "no nonce was asked for")
            case "hello":
                raise StreamError(ErrorKind.SECOND_HELLO, "Hello may come only once in a stream")
            case _:
                raise StreamError(ErrorKind.EMPTY_REQUEST, "a request with no member set")

    def on_violation(self, session: Session, error: StreamError) -> None:
        self._fail(self._violation(error))

    def on_failure(self, session: Session, error: Exception) -> None:
        self._fail(error)

    def on_closed(self, session: Session) -> None:
        if self._session is session:
            self._session = None
            if session.authenticator is not None:
                session.authenticator.connections_changed()

    # Asking

    def _ask_next(self) -> None:
        assert self._questions is not None
        try:
            self._open = next(self._questions)
        except (ReplayError, StopIteration) as error:
            self._open = None
            self._fail(error)
            return
        self._asked_at_s = time.monotonic()
        self._allowed_s = self._limit_s or self._open.decision.clock_us / SECOND_US
        delay_s = self._allowed_s + self._grace_s + _REPORT_S
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._time_out)
        self._send(self._open)

    @property
    def _grace_s(self) -> float:
        return self._replay.header.clocks.grace_us / SECOND_US

    def _send(self, question: Question) -> None:
        if self._session is None:
            return
        *before, decision = question.messages
        for message in before:
            self._session.send(message)
        if self._limit_s is not None:
            response = PlayResponse.FromString(decision)
            response.decision.clock_us = round(self._limit_s * SECOND_US)
            decision = serialize(response)
        self._session.send(decision)

    def _time_out(self) -> None:
        ending = f"did not reply to decision {self.open_decision} within {self._allowed_s:g} s"
        self._fail(AskedBotError(ending))

    def _start_up_over(self) -> None:
        ending = f"did not connect within {self._start_up_s:g} s"
        self._fail(AskedBotError(ending))

    def _violation(self, error: StreamError) -> AskedBotError:
        return AskedBotError(f"violated the protocol {self._when()}: {error.detail}")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _when(self) -> str:
        if self._questions is None:
            return "without connecting"
        if self._open is None:
            return "before it was asked a decision"
        return f"before it replied to decision {self.open_decision}"

    def _fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)
