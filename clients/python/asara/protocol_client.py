"""The bot's side of the protocol, independent of any transport: responses in, requests out."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

from google.protobuf.message import DecodeError, Message

from asara.author_code import code_of, place
from asara.bot import Answer, Bot, Match, author_function
from asara.errors import AsaraError, BotError
from asara.return_line import ReturnLine
from asara.settings import Settings
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
from asara.verifier import Verifier, make_nonce
from asara.watchdog import Watchdog

PROTOCOL_VERSION = 1
_NAME_BYTES = 64  # of Hello.bot_name
_LONGEST_ANSWER = 80  # characters, in messages

_KINDS = {
    number: name.removeprefix("DECISION_KIND_").lower().replace("_", " ")
    for name, number in DecisionKind.items()
}
_REASONS = {number: name for name, number in RejectionReason.items()}

_MessageWithEvents: TypeAlias = Update | Decision | MatchEnded

log = logging.getLogger("asara")


class _ActiveMatch:
    """A running match and its bot.

    `sequence` is the number of the last event passed to the bot. `decision` is the latest decision,
    and `request` is the reply, which `answered_by` returned at `answered_at`.
    """

    def __init__(self, bot: Bot, verifier: Verifier, sequence: int) -> None:
        self.bot = bot
        self.follows_events = type(bot).updated is not Bot.updated
        self.verifier = verifier
        self.sequence = sequence
        self.decision = Decision()
        self.request = PlayRequest()
        self.answered_by = ReturnLine(author_function(bot))
        self.answered_at = -1


class ProtocolClient:
    """Passes responses to the bots of the running matches and returns the requests to send.

    One instance serves all streams of a process, so matches continue after a reconnection.
    """

    def __init__(self, make_bot: Callable[[], Bot], settings: Settings) -> None:
        self._make_bot = make_bot
        self._settings = settings
        seed = settings.seed
        self._seed = os.urandom(16).hex() if seed is None or seed == "" else str(seed)
        self._welcome = Welcome()
        self._transcripts = settings.transcript_folder()
        self._matches: dict[str, _ActiveMatch] = {}
        # Verifiers of joint deals whose match has not started.
        self._pending: dict[str, Verifier] = {}
        self.welcomed = False
        """True once the referee has answered Hello; the transport resets it for every stream."""
        self.finished = False
        """True once the referee has sent Goodbye."""
        self._watchdog = Watchdog()

    def hello(self) -> PlayRequest:
        """Return the first request of a stream."""
        settings = self._settings
        return PlayRequest(
            hello=Hello(
                protocol_version=PROTOCOL_VERSION,
                token=settings.token,
                bot_name=settings.bot_name.encode()[:_NAME_BYTES].decode(errors="ignore"),
                language=f"Python {sys.version.split(maxsplit=1)[0]}",
                max_matches=settings.max_matches,
                live_updates=settings.live_updates,
                omit_public_view=settings.omit_public_view,
                last_events=[
                    LastEvent(match_id=match_id, sequence=active.sequence)
                    for match_id, active in self._matches.items()
                ],
            )
        )

    def handle(self, message: bytes) -> PlayRequest | None:
        """Process one serialized PlayResponse; return the request to send in response, if any."""
        try:
            response = PlayResponse.FromString(message)
        except DecodeError:
            raise AsaraError("the referee sent a message that cannot be read") from None
        match response.WhichOneof("response"):
            case "decision":
                return self._decide(response.decision, message)
            case "update":
                active = self._matches.get(response.update.match_id)
                if active:
                    active.verifier.record(message)
                    _deliver_events(active, response.update)
            case "match_started":
                self._start_match(response.match_started, message)
            case "match_ended":
                self._end_match(response.match_ended, message)
            case "rejection":
                return self._handle_rejection(response.rejection, message)
            case "deal_committed":
                return self._send_nonce(response.deal_committed, message)
            case "welcome":
                self._welcome = response.welcome
                self.welcomed = True
                log.info("asara: connected as entry %r", response.welcome.entry)
            case "goodbye":
                self.finished = True
                log.info("asara: goodbye: %s", response.goodbye.reason)
        return None

    @property
    def open_matches(self) -> list[str]:
        """Names of the matches that have begun but not ended."""
        return list(self._matches)

    def close(self) -> None:
        """Close the transcripts of all matches that have not ended."""
        self._watchdog.close()
        active = (active.verifier for active in self._matches.values())
        for verifier in (*self._pending.values(), *active):
            verifier.close()

    def _send_nonce(self, committed: DealCommitted, message: bytes) -> PlayRequest | None:
        match_id, seat = committed.match_id, committed.seat
        if match_id in self._matches:
            log.warning("asara: %s: nonce requested after the match started", match_id)
            return None
        if match_id not in self._pending:
            self._pending[match_id] = Verifier(match_id, seat, self._transcripts)
        nonce = make_nonce(self._settings.seed, match_id, seat)
        return self._pending[match_id].deal_committed(committed, message, nonce)

    def _start_match(self, started: MatchStarted, message: bytes) -> None:
        match_id = started.match_id
        active = self._matches.get(match_id)
        if active:  # resumed after a reconnection, which the bot need not notice
            active.verifier.record(message)
            active.verifier.match_started(started)
            return
        verifier = self._pending.pop(match_id, None)
        if verifier is None:
            verifier = Verifier(match_id, started.seat, self._transcripts)
        verifier.record(message)
        verifier.match_started(started)
        expected = self._settings.seat
        if expected is not None and expected != started.seat:
            log.warning("asara: %s: seat %d, expected seat %d", match_id, started.seat, expected)
        bot = self._make_bot()
        bot.match = Match(started, self._welcome.entry, self._welcome.limits, self._seed, verifier)
        self._matches[match_id] = _ActiveMatch(bot, verifier, started.sequence)
        self._watchdog.begin(f"started() in {match_id}", started.clocks.bank_us)
        with _noting(f"in started() of {match_id}"):
            bot.started()
        self._watchdog.end()

    def _end_match(self, ended: MatchEnded, message: bytes) -> None:
        pending = self._pending.pop(ended.match_id, None)
        if pending:  # the match was cancelled before it started
            pending.record(message)
            pending.finish()
        active = self._matches.pop(ended.match_id, None)
        if active:
            active.verifier.record(message)
            active.verifier.match_ended(ended)
            with _noting(f"in ended() of {ended.match_id}, whose result stands"):
                _deliver_events(active, ended)
                active.bot.ended(ended)

    def _decide(self, decision: Decision, message: bytes) -> PlayRequest | None:
        active = self._matches.get(decision.match_id)
        if active is None:
            log.warning("asara: %s: decision for an unknown match", decision.match_id)
            return None
        active.verifier.record(message)
        self._watchdog.begin(decision, decision.clock_us)
        try:
            _deliver_events(active, decision)
            if decision.decision_id != active.decision.decision_id:
                active.decision = decision
                answer = active.answered_by.call(active.bot.decide, decision)
                active.answered_at = active.answered_by.offset
                active.request = _reply(active, "decide", answer)
        except BotError:
            raise
        except Exception as error:
            kind = _KINDS.get(decision.kind, decision.kind)
            error.add_note(f"in {decision.match_id}, decision {decision.decision_id} ({kind})")
            raise
        finally:
            self._watchdog.end()
        return active.request  # a decision repeated after a reconnection gets the same reply

    def _handle_rejection(self, rejection: Rejection, message: bytes) -> PlayRequest | None:
        active = self._matches.get(rejection.match_id)
        if active:
            active.verifier.record(message)
        if active is None or active.decision.decision_id != rejection.decision_id:
            return None
        log.warning(
            "asara: %sthe reply to decision %d of %s was rejected (%s); %s; "
            "return one of decision.legal_actions as it is",
            _prefix(active.answered_by.place(active.answered_at)),
            rejection.decision_id,
            rejection.match_id,
            rejection.detail or _REASONS.get(rejection.reason, rejection.reason),
            forgiveness(rejection.forgiven),
        )
        self._watchdog.begin(active.decision, rejection.clock_us)
        answer = active.bot.rejected(active.decision, rejection)
        self._watchdog.end()
        active.request = _reply(active, "rejected", answer)
        return active.request


@contextlib.contextmanager
def _noting(note: str) -> Iterator[None]:
    """Add a note to exceptions raised in the author's code."""
    try:
        yield
    except Exception as error:
        error.add_note(note)
        raise


def _deliver_events(active: _ActiveMatch, message: _MessageWithEvents) -> None:
    """Pass on events that are new to the bot; a reconnection may repeat events."""
    sequence = message.sequence
    new = sequence - active.sequence
    if new <= 0:
        return
    events = message.events
    count = len(events)
    if count == 0:
        return
    active.sequence = sequence
    if active.follows_events:
        active.bot.updated(events if new >= count else events[-new:])


def _reply(active: _ActiveMatch, method: str, answer: Answer) -> PlayRequest:
    """Return the reply for an answer from the author's method; raise BotError if it is invalid."""
    decision = active.decision
    request = PlayRequest()
    reply = request.reply
    reply.match_id = decision.match_id
    reply.decision_id = decision.decision_id
    actions = reply.actions
    try:
        actions.extend((answer,) if isinstance(answer, Action) else answer)
        usable = len(actions) > 0
    except TypeError:
        usable = False
    if usable:
        return request
    if method == "decide":
        where = active.answered_by.place(active.answered_at)
    else:
        where = place(code_of(active.bot.rejected))
    raise BotError(
        f"{_prefix(where)}{method} returned {_described(answer)} for decision "
        f"{decision.decision_id} of {decision.match_id}; {_remedy(answer)}"
    )


def _prefix(where: str) -> str:
    return f"{where}: " if where else ""


def forgiveness(more: int) -> str:
    """Tell the author what follows if `more` rejections are still forgiven in this match."""
    if not more:
        return "the next rejection forfeits the match"
    return f"{more} more {'is' if more == 1 else 'are'} forgiven in this match"


def _described(answer: object) -> str:
    if isinstance(answer, type):
        return f"the class {answer.__name__}"
    if isinstance(answer, (list, tuple)):
        wrong = next((each for each in answer if not isinstance(each, Action)), None)
        return f"a list with {_described(wrong)}" if answer else "an empty list"
    if isinstance(answer, Message):
        return f"a message of type {type(answer).__name__}"
    text = repr(answer)
    return text if len(text) <= _LONGEST_ANSWER else f"{text[:_LONGEST_ANSWER]}…"


def _remedy(answer: object) -> str:
    """Explain what the author should return instead of an invalid answer."""
    if isinstance(answer, int):
        return f"return the action itself: decision.legal_actions[{int(answer)}]"
    if inspect.isawaitable(answer):
        return "write `def` without `async`"
    found = answer[0] if isinstance(answer, (list, tuple)) and answer else answer
    if type(found).__module__.startswith("asara_game."):
        return "return asara_search.to_message(action), or to_messages(actions) for several"
    return "return one of decision.legal_actions, or a list that begins with one"
