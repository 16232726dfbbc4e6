"""One match: whose decision it is, every seat's clock, and the ladder of faults.

Nothing here waits, reads a clock or sends. Whoever drives a match says what happened and when, in
microseconds since the match began, and never goes back; then takes what `outbox` holds to the
seats' bots, and calls `expire` when `deadline_us` has come. What bots are told is up to `feed`.

A match follows from what it was told, to the last byte of what its bots are told. It keeps that in
`records`: who tells another match the same (`replay.drive`) gets the same match.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.decode import UnknownAction, action_from_proto
from asara_codec.encode import action_message, serialize
from asara_codec.limits import Limits
from asara_codec.results import RejectionReason, SeatForfeited, SeatResult, Termination
from asara_game.actions import Action, ChooseSpace, Decline
from asara_game.deal import Deal
from asara_game.engine import apply, new_match, outcome
from asara_game.view import view
from asara_game.vocabulary import Area, DecisionKind
from asara_server.match.feed import MatchFeed
from asara_server.match.inputs import (
    Absence,
    EnterRecord,
    ExpiryRecord,
    ForfeitRecord,
    HaltRecord,
    LeaveRecord,
    Presence,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.spec import SECOND_US, MatchSpec
from asara_server.outcome import rank_seats

NEVER: Final = 2**63 - 1
"""The deadline of a match that waits for nobody."""

_NOBODY: Final = -1
_DECLINE: Final = Decline()


Given = Action | ActionMessage
"""An action of a reply; a message may be no action."""


class Answer(Enum):
    """What became of a reply."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    IGNORED = "ignored"
    """Its decision is answered already, or its seat forfeited."""
    LATE = "late"
    """The clock had run out."""


class Fault(NamedTuple):
    """A rejected reply or a forfeit."""

    seat: int
    reason: RejectionReason | Termination
    detail: str


class _Seat:
    """A seat's clock and faults."""

    __slots__ = (
        "away_since_us",
        "bank_us",
        "charged_us",
        "decision_id",
        "detail",
        "forgiven",
        "termination",
    )

    def __init__(self, bank_us: int, forgiven: int) -> None:
        #: When its bot lost its stream; NEVER while it has one.
        self.away_since_us = NEVER
        self.bank_us = bank_us
        #: For the decision answered last.
        self.charged_us = 0
        #: Of the decision asked last.
        self.decision_id = 0
        self.forgiven = forgiven
        self.termination = Termination.UNSPECIFIED
        self.detail = ""


class Match:
    """A running match; the module says how it is driven."""

    def __init__(self, spec: MatchSpec, limits: Limits) -> None:
        self.spec = spec
        self.clocks = spec.clocks.in_microseconds()
        self.state, events = new_match(spec.rules, Deal(spec.deal_secret))
        self.feed = MatchFeed(
            spec.match_id,
            spec.rules.seats,
            self.clocks,
            spec.commitment,
            spec.nonces,
            self.state,
            events,
            mirrored=spec.mirrored,
        )
        self.outbox = self.feed.outbox
        self.limits = limits
        self.records: list[Record] = []
        #: Rejections and forfeits so far.
        self.faults: list[Fault] = []
        self.deadline_us = NEVER
        self.finished = False
        self.void = False
        self.results: tuple[SeatResult, ...] = ()
        self._seats = [_Seat(self.clocks.bank_us, limits.rejections_forgiven) for _ in spec.players]
        #: Seats that have not forfeited.
        self._left = len(self._seats)
        #: Whether any seat's bot has lost its stream and may still come back.
        self._away = False
        self._asked = _NOBODY
        self._asked_at_us = 0
        #: Bank and increment for the open decision.
        self._allowed_us = 0
        self._halted = False
        #: The reply accepted last, until `record_reply`: time, seat, actions, time it took the bot.
        self._accepted: tuple[int, int, tuple[Action, ...], int] | None = None

    @property
    def asked(self) -> int | None:
        """The seat that has to decide, if any does."""
        return None if self._asked == _NOBODY else self._asked

    def termination(self, seat: int) -> Termination:
        """How a seat's part in the match ended; UNSPECIFIED while it plays."""
        return self._seats[seat].termination

    def decision_id(self, seat: int) -> int:
        """The number of the decision that a seat was asked last; 0 before the first."""
        return self._seats[seat].decision_id

    # What happens

    def start(self, present: Mapping[int, Presence], absent: Mapping[int, Absence]) -> None:
        """Begin with the bots that are there; the other seats forfeit, all at once."""
        start = StartRecord(tuple(sorted(present.items())), tuple(sorted(absent.items())))
        self.records.append(start)
        for number, presence in start.present:
            self.feed.start(number, presence, self.state)
        for number, (termination, detail) in start.absent:
            self._forfeit(number, termination, detail)
        self._go_on(0)

    def reply(self, number: int, decision_id: int, actions: Sequence[Given], now_us: int) -> Answer:
        """A seat's bot answers a decision, with actions, or with messages as they came.

        `record_reply` follows every reply that is accepted.
        """
        seat = self._seats[number]
        if now_us >= self.deadline_us:
            was_open = number == self._asked and decision_id == seat.decision_id
            self.expire(now_us)
            if was_open and number != self._asked:
                return Answer.LATE
        if number != self._asked or decision_id != seat.decision_id:
            fault = self._stray(number, decision_id)
        elif not 0 < len(actions) <= self.limits.actions_per_reply:
            fault = self._wrong_number(len(actions))
        else:
            try:
                action = _action(actions[0])
            except UnknownAction as error:
                fault = RejectionReason.UNKNOWN_ACTION, str(error)
            else:
                if action in self.state.legal:
                    self._accept(seat, number, action, actions, now_us)
                    return Answer.ACCEPTED
                detail = f"'{action}' is not among the legal actions of decision {decision_id}"
                fault = RejectionReason.ILLEGAL_ACTION, detail
        if fault is None:
            return Answer.IGNORED
        carried = tuple(map(_carried, actions))
        self.records.append(RejectionRecord(now_us, number, decision_id, carried, *fault))
        self._reject(number, *fault, now_us)
        return Answer.REJECTED

    def record_reply(self, referee_us: int) -> None:
        """Record the reply just accepted, with the time that the referee itself took for it."""
        assert self._accepted is not None, "no reply was accepted since the last one was recorded"
        self.records.append(ReplyRecord(*self._accepted, referee_us))
        self._accepted = None

    def expire(self, now_us: int) -> None:
        """Forfeit every seat whose time has run out by now, in the order in which it ran out."""
        late: list[int] = []
        while not self.finished:
            limits = list(map(self._limit, range(len(self._seats))))
            first = min(limits)
            if first > now_us:
                break
            for number, limit in enumerate(limits):
                if limit == first:
                    self._forfeit(number, *self._lateness(number, limit))
                    late.append(number)
            self._go_on(now_us)
        if late:
            self.records.append(ExpiryRecord(now_us, tuple(late)))
        self._set_deadline()

    def _goes_on(self, now_us: int) -> bool:
        """Whether the match still runs after what ran out of time before anything else now."""
        if now_us >= self.deadline_us:
            self.expire(now_us)
        return not self.finished

    def leave(self, number: int, now_us: int) -> None:
        """A seat's bot has lost its stream."""
        if self._goes_on(now_us) and self.feed.present(number):
            self.records.append(LeaveRecord(now_us, number))
            self._leave(number, now_us)

    def _leave(self, number: int, now_us: int) -> None:
        self._seats[number].away_since_us = now_us
        self._away = True
        self.feed.left(number)
        self._set_deadline()

    def enter(self, number: int, presence: Presence, now_us: int) -> None:
        """A seat's bot is back; it is shown the table when its seat has to decide."""
        seat = self._seats[number]
        if not self._goes_on(now_us) or seat.termination is not Termination.UNSPECIFIED:
            return
        self.leave(number, now_us)  # the stream before, if there is one
        self.records.append(EnterRecord(now_us, number, presence))
        seat.away_since_us = NEVER
        self._away = any(other.away_since_us != NEVER for other in self._seats)
        self.feed.came_back(number, presence)
        self._set_deadline()
        if number == self._asked:
            clock = self._clock_us(now_us)
            self.feed.decision(number, self.state, seat.decision_id, clock, seat.charged_us)

    def forfeit(self, number: int, termination: Termination, detail: str, now_us: int) -> None:
        """A seat is out for a reason that lies outside the match."""
        seat = self._seats[number]
        if self._goes_on(now_us) and seat.termination is Termination.UNSPECIFIED:
            self.records.append(ForfeitRecord(now_us, number, termination, detail))
            self._forfeit(number, termination, detail)
            self._go_on(now_us)

    def halt(self, now_us: int) -> None:
        """Ask nothing more; the open decision may still be answered."""
        if self._goes_on(now_us):
            self.records.append(HaltRecord(now_us))
            self._halted = True

    def reopen(self, now_us: int) -> None:
        """The referee was started again: all streams are lost, and what was halted goes on.

        Nobody's time runs out first: the clocks stood still while there was no referee.
        """
        if self.finished:
            return
        self.records.append(ReopenRecord(now_us))
        self._halted = False
        for number in range(len(self._seats)):
            if self.feed.present(number):
                self._leave(number, now_us)
        self._go_on(now_us)

    def abandon(self) -> None:
        """End without a result, whatever state the match is in."""
        self.finished = self.void = True
        self._asked = _NOBODY
        self.deadline_us = NEVER
        self.feed.void()

    # Playing

    def _accept(
        self,
        seat: _Seat,
        number: int,
        action: Action,
        actions: Sequence[Given],
        now_us: int,
    ) -> None:
        """Play the actions of a reply, of which the first one is legal."""
        assert self._accepted is None, "record_reply was not called for the reply before"
        waited = now_us - self._asked_at_us
        charged = waited - self.clocks.grace_us
        seat.charged_us = charged if charged > 0 else 0
        seat.bank_us = self._allowed_us - seat.charged_us
        self._asked = _NOBODY
        self._play(action)
        played: tuple[Action, ...] = (action,)
        if len(actions) > 1:
            played += self._play_more(number, actions)
        self._accepted = (now_us, number, played, waited)
        self._go_on(now_us)

    def _play(self, action: Action) -> None:
        self.feed.happened(apply(self.state, action), self.state)

    def _play_more(self, number: int, actions: Sequence[Given]) -> tuple[Action, ...]:
        """Play the further actions of a reply as far as they go in this turn."""
        state = self.state
        played: list[Action] = []
        for given in actions[1:]:
            if state.seat != number or state.kind == DecisionKind.SPACE:
                break
            try:
                action = _action(given)
            except UnknownAction:
                break
            if action not in state.legal:
                break
            self._play(action)
            played.append(action)
        return tuple(played)

    def _go_on(self, now_us: int) -> None:
        """Let the steward decide for seats that forfeited; then ask the next seat, or end."""
        state = self.state
        seats = self._seats
        if self._left < len(seats):
            if self._left < 2:
                self._finish()
                return
            while state.seat >= 0 and seats[state.seat].termination.forfeit:
                self._play(steward_action(state.kind, state.legal))
        if self.feed.live:
            self.feed.turns_over()
        if state.seat < 0:
            self._finish()
        elif self._asked == _NOBODY and not self._halted:
            self._ask(state.seat, now_us)
        else:
            self._set_deadline()

    def _ask(self, number: int, now_us: int) -> None:
        seat = self._seats[number]
        seat.decision_id += 1
        self._asked = number
        self._asked_at_us = now_us
        allowed = self._allowed_us = seat.bank_us + self.clocks.increment_us
        self._set_deadline()
        self.feed.decision(number, self.state, seat.decision_id, allowed, seat.charged_us)

    # Faults

    def _stray(self, number: int, decision_id: int) -> tuple[RejectionReason, str] | None:
        """What is wrong with a reply to something else than the open decision, if anything is."""
        seat = self._seats[number]
        last = seat.decision_id
        if 0 < decision_id <= last or seat.termination is not Termination.UNSPECIFIED:
            return None
        still = f"decision {last} is open" if number == self._asked else "none is open"
        detail = f"decision {decision_id} was never asked; {still}"
        return RejectionReason.UNKNOWN_DECISION, detail

    def _wrong_number(self, actions: int) -> tuple[RejectionReason, str]:
        if not actions:
            detail = "the reply carries no action; send one of the legal actions"
            return RejectionReason.EMPTY, detail
        most = self.limits.actions_per_reply
        detail = f"the reply carries {actions} actions; {most} are allowed"
        return RejectionReason.TOO_MANY_ACTIONS, detail

    def _reject(self, number: int, reason: RejectionReason, detail: str, now_us: int) -> None:
        seat = self._seats[number]
        self.faults.append(Fault(number, reason, detail))
        if not seat.forgiven:
            self._forfeit(number, Termination.REJECTED_REPLIES, f"{reason.name}: {detail}")
            self._go_on(now_us)
            return
        seat.forgiven -= 1
        asked = number == self._asked
        self.feed.rejection(
            number,
            decision_id=seat.decision_id if asked else 0,
            reason=reason,
            detail=detail,
            legal=self.state.legal if asked else (),
            clock_us=self._clock_us(now_us) if asked else 0,
            forgiven=seat.forgiven,
        )

    def _forfeit(self, number: int, termination: Termination, detail: str) -> None:
        seat = self._seats[number]
        seat.termination = termination
        seat.detail = detail
        self._left -= 1
        self.faults.append(Fault(number, termination, detail))
        if number == self._asked:
            self._asked = _NOBODY
        self.feed.forfeited(SeatForfeited(number, termination))

    # Time

    def _clock_us(self, now_us: int) -> int:
        """What is left of the time for the open decision."""
        charged = max(now_us - self._asked_at_us - self.clocks.grace_us, 0)
        return max(self._allowed_us - charged, 0)

    def _decide_by_us(self) -> int:
        """The first moment that is too late for the open decision."""
        return self._asked_at_us + self._allowed_us + self.clocks.grace_us + 1

    def _limit(self, number: int) -> int:
        """When a seat forfeits unless it decides, or its bot comes back."""
        seat = self._seats[number]
        if seat.termination is not Termination.UNSPECIFIED:
            return NEVER
        back_by = self._back_by_us(seat)
        return min(back_by, self._decide_by_us()) if number == self._asked else back_by

    def _back_by_us(self, seat: _Seat) -> int:
        """The first moment that is too late for a bot that is away to come back."""
        return min(seat.away_since_us + self.clocks.reconnect_us + 1, NEVER)

    def _set_deadline(self) -> None:
        if self.finished:
            self.deadline_us = NEVER
            return
        if self._away:
            self.deadline_us = min(map(self._limit, range(len(self._seats))))
        else:
            self.deadline_us = NEVER if self._asked == _NOBODY else self._decide_by_us()

    def _lateness(self, number: int, limit_us: int) -> tuple[Termination, str]:
        seat = self._seats[number]
        decision = f"decision {seat.decision_id}"
        if seat.away_since_us == NEVER:
            allowed = _seconds(self._allowed_us)
            return Termination.TIME_OUT, f"did not answer {decision} within the {allowed} it had"
        if limit_us == self._back_by_us(seat):
            allowed = _seconds(self.clocks.reconnect_us)
            return Termination.CRASH, f"did not come back within {allowed} after its stream broke"
        return Termination.CRASH, f"was away when its time for {decision} ran out"

    # The end

    def _finish(self) -> None:
        if self.feed.live:
            self.feed.turns_over()
        self.finished = True
        self._asked = _NOBODY
        self.deadline_us = NEVER
        for seat in self._seats:
            if seat.termination is Termination.UNSPECIFIED:
                seat.termination = Termination.COMPLETED
        self.results = self._rank()
        secret = b"" if self.spec.mirrored else self.spec.secret  # matches to come have it as well
        self.feed.ended(self.state, self.results, secret)

    def _rank(self) -> tuple[SeatResult, ...]:
        result = outcome(self.state)
        prestige = tuple(self.state.prestige) if result is None else result.prestige
        forfeited = {n for n, seat in enumerate(self._seats) if seat.termination.forfeit}
        ranks = rank_seats(prestige, forfeited)
        results = []
        for number, seat in enumerate(self._seats):
            private = view(self.state, number).private
            results.append(
                SeatResult(
                    seat=number,
                    entry=self.spec.players[number].entry,
                    rank=ranks[number],
                    prestige=prestige[number],
                    termination=seat.termination,
                    detail=seat.detail,
                    asari=private.asari,
                    sections=private.sections,
                    lit_windows=private.lit_windows,
                )
            )
        return tuple(results)


def steward_action(kind: DecisionKind, legal: Sequence[Action]) -> Action:
    """What is played for a seat that forfeited: as little as the rules allow."""
    if kind == DecisionKind.SPACE:
        for action in legal:
            if isinstance(action, ChooseSpace) and action.space.area == Area.COLOURED_BUILDING:
                return action
    return _DECLINE if _DECLINE in legal else legal[0]


def _action(given: Given) -> Action:
    """Raises UnknownAction."""
    return action_from_proto(given) if isinstance(given, ActionMessage) else given


def _carried(given: Given) -> bytes:
    return serialize(given if isinstance(given, ActionMessage) else action_message(given))


def _seconds(microseconds: int) -> str:
    return f"{round(microseconds / SECOND_US, 3):g} s"
