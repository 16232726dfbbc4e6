"""The bot's side of the protocol, without any transport: a response comes in, a request goes out.

It outlives the streams: after a break the same conversation goes on over the next one.
"""

from __future__ import annotations

import logging
import platform
import secrets
from collections.abc import Callable
from typing import TypeAlias

from asara.bot import Answer, Bot, Match
from asara.settings import Settings
from asara.text import format_action
from asara.v1.play_pb2 import (
    DealCommitted,
    Decision,
    DecisionKind,
    Hello,
    LastEvent,
    MatchEnded,
    MatchStarted,
    PlayRequest,
    PlayResponse,
    Rejection,
    RejectionReason,
    Update,
    Welcome,
)
from asara.v1.vocabulary_pb2 import Action
from asara.witness import Witness, make_nonce

PROTOCOL_VERSION = 1
_NAME_BYTES = 64  # of Hello.bot_name

_KINDS = {number: name for name, number in DecisionKind.items()}
_REASONS = {number: name for name, number in RejectionReason.items()}

_News: TypeAlias = Update | Decision | MatchEnded

log = logging.getLogger("asara")


class _Table:
    """A running match: its bot, how far it has heard, and the decision asked last."""

    def __init__(self, bot: Bot, witness: Witness, sequence: int) -> None:
        self.bot = bot
        self.witness = witness
        self.sequence = sequence
        self.decision = Decision()
        self.request = PlayRequest()


class Conversation:
    """Keeps one bot per running match and finds the request that answers a response."""

    def __init__(self, make_bot: Callable[[], Bot], settings: Settings) -> None:
        self._make_bot = make_bot
        self._settings = settings
        seed = settings.seed
        self._seed = secrets.token_hex(16) if seed is None or seed == "" else str(seed)
        self._welcome = Welcome()
        self._transcripts = settings.transcript_folder()
        self._tables: dict[str, _Table] = {}
        #: Of matches that have not begun: the referee waits for other bots' nonces.
        self._promised: dict[str, Witness] = {}
        self.welcomed = False
        """The referee has answered Hello; for the transport to set back before every stream."""
        self.over = False
        """The referee said goodbye."""

    def hello(self) -> PlayRequest:
        """First request of every stream."""
        settings = self._settings
        return PlayRequest(
            hello=Hello(
                protocol_version=PROTOCOL_VERSION,
                token=settings.token,
                bot_name=settings.bot_name.encode()[:_NAME_BYTES].decode(errors="ignore"),
                language=f"Python {platform.python_version()}",
                max_matches=settings.max_matches,
                live_updates=settings.live_updates,
                omit_public_view=settings.omit_public_view,
                last_events=[
                    LastEvent(match_id=match_id, sequence=table.sequence)
                    for match_id, table in self._tables.items()
                ],
            )
        )

    def answer(self, message: bytes) -> PlayRequest | None:
        """Pass a response on to the bot concerned; the request to send, if it asked for one."""
        response = PlayResponse.FromString(message)
        match response.WhichOneof("response"):
            case "decision":
                return self._decide(response.decision, message)
            case "update":
                table = self._tables.get(response.update.match_id)
                if table:
                    table.witness.hear(message)
                    _tell(table, response.update)
            case "match_started":
                self._start(response.match_started, message)
            case "match_ended":
                self._end(response.match_ended, message)
            case "rejection":
                return self._answer_again(response.rejection, message)
            case "deal_committed":
                return self._add_nonce(response.deal_committed, message)
            case "welcome":
                self._welcome = response.welcome
                self.welcomed = True
                log.info("asara: entered as %r", response.welcome.entry)
            case "goodbye":
                self.over = True
                log.info("asara: goodbye: %s", response.goodbye.reason)
        return None

    def close(self) -> None:
        """No further response will be passed on."""
        for witness in (*self._promised.values(), *(t.witness for t in self._tables.values())):
            witness.close()

    def _add_nonce(self, committed: DealCommitted, message: bytes) -> PlayRequest | None:
        match_id, seat = committed.match_id, committed.seat
        if match_id in self._tables:
            log.warning("asara: %s: asked for a nonce after the match began", match_id)
            return None
        if match_id not in self._promised:
            self._promised[match_id] = Witness(match_id, seat, self._transcripts)
        nonce = make_nonce(self._settings.seed, match_id, seat)
        return self._promised[match_id].promised(committed, message, nonce)

    def _start(self, started: MatchStarted, message: bytes) -> None:
        match_id = started.match_id
        table = self._tables.get(match_id)
        if table:  # back after a break, which the bot need not notice
            table.witness.hear(message)
            table.witness.started(started)
            return
        witness = self._promised.pop(match_id, None)
        if witness is None:
            witness = Witness(match_id, started.seat, self._transcripts)
        witness.hear(message)
        witness.started(started)
        seat = self._settings.seat
        if seat is not None and seat != started.seat:
            log.warning(
                "asara: %s: seated at %d, not at %d as announced",
                started.match_id,
                started.seat,
                seat,
            )
        bot = self._make_bot()
        bot.match = Match(started, self._welcome.entry, self._welcome.limits, self._seed, witness)
        self._tables[match_id] = _Table(bot, witness, started.sequence)
        bot.started()

    def _end(self, ended: MatchEnded, message: bytes) -> None:
        promised = self._promised.pop(ended.match_id, None)
        if promised:  # called off before it began
            promised.hear(message)
            promised.close()
        table = self._tables.pop(ended.match_id, None)
        if table:
            table.witness.hear(message)
            table.witness.ended(ended)
            _tell(table, ended)
            table.bot.ended(ended)

    def _decide(self, decision: Decision, message: bytes) -> PlayRequest | None:
        table = self._tables.get(decision.match_id)
        if table is None:
            log.warning("asara: %s: a decision before the match began", decision.match_id)
            return None
        table.witness.hear(message)
        try:
            _tell(table, decision)
            if decision.decision_id != table.decision.decision_id:
                table.decision = decision
                table.request = _reply(decision, table.bot.decide(decision))
        except Exception as error:
            kind = _KINDS.get(decision.kind, decision.kind)
            error.add_note(f"in {decision.match_id}, decision {decision.decision_id} ({kind})")
            raise
        return table.request  # asked again after a break: answered as before

    def _answer_again(self, rejection: Rejection, message: bytes) -> PlayRequest | None:
        table = self._tables.get(rejection.match_id)
        if table:
            table.witness.hear(message)
        if table is None or table.decision.decision_id != rejection.decision_id:
            return None
        log.warning(
            "asara: %s: decision %d: the referee refused %r (%s: %s); %d more refusals forgiven",
            rejection.match_id,
            rejection.decision_id,
            [format_action(action) for action in table.request.reply.actions],
            _REASONS.get(rejection.reason, rejection.reason),
            rejection.detail,
            rejection.forgiven,
        )
        table.request = _reply(table.decision, table.bot.rejected(table.decision, rejection))
        return table.request


def _tell(table: _Table, news: _News) -> None:
    """Hand over the events that the bot has not heard: after a break some come twice."""
    count = len(news.events)
    unheard = news.sequence - table.sequence
    if count == 0 or unheard <= 0:
        return
    table.sequence = news.sequence
    table.bot.updated(news.events if unheard >= count else news.events[-unheard:])


def _reply(decision: Decision, answer: Answer) -> PlayRequest:
    request = PlayRequest()
    reply = request.reply
    reply.match_id = decision.match_id
    reply.decision_id = decision.decision_id
    actions = (answer,) if isinstance(answer, Action) else answer
    try:
        reply.actions.extend(actions)
        usable = len(reply.actions) > 0
    except TypeError:
        usable = False
    if not usable:
        raise TypeError(f"expected an asara.Action or a list of them as answer, not {answer!r}")
    return request
