"""One match: whose decision it is, each seat's clock, and the consequences of faults.

Nothing here waits, reads a clock or sends messages. The driver of a match calls a method for every
input, with its time in microseconds since the match began; times never decrease. The driver then
sends the messages in `outbox` to the seats' bots, and calls `expire` when `deadline_us` has come.
`feed` makes the messages.

These calls determine a match completely, to the last byte of its messages. The match keeps them as
`records`. Applying the same records to another match (`journal.resimulate`) gives the same match.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple, cast

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.decode import UnknownAction, action_from_proto
from asara_codec.encode import action_message, serialize
from asara_codec.results import (
    RejectionReason,
    SeatEnd,
    SeatForfeited,
    SeatResult,
    Termination,
)
from asara_game.actions import Action, ChooseSpace, Decline
from asara_game.deal import Deal
from asara_game.engine import apply, apply_one, new_match, outcome
from asara_game.view import private_view
from asara_game.vocabulary import Area, DecisionKind
from asara_server.match.feed import MatchFeed
from asara_server.match.inputs import (
    Absence,
    EnterRecord,
    ExpiryRecord,
    ForfeitRecord,
    HaltRecord,
    LateReplyRecord,
    LeaveRecord,
    PauseRecord,
    Presence,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.pauses import Pauses, could_have_had_a_choice
from asara_server.match.spec import SECOND_US, MatchLimits, MatchSpec
from asara_server.outcome import rank_seats

NEVER: Final = 2**63 - 1
"""Deadline of a match that waits for no bot."""

_NO_SEAT: Final = -1
_DECLINE: Final = Decline()
_new: Final = tuple.__new__
"""Makes a named tuple in a tenth of the time that calling the class takes; needs all fields."""

ReceivedAction = Action | ActionMessage
"""An action in a reply; decoding may show that the message is not a valid action."""


class Answer(Enum):
    """The outcome of a reply."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    IGNORED = "ignored"
    """The decision has been answered before, or the seat has forfeited."""
    LATE = "late"
    """The seat's time for the decision had run out."""


class Fault(NamedTuple):
    """A rejected reply or a forfeit."""

    seat: int
    reason: RejectionReason | Termination
    detail: str


class _Seat:
    """The clock and the faults of a seat.

    - `away_since_us`: when its bot lost its stream; NEVER while it has one
    - `bank_us`: time left in the bank
    - `charged_us`: time charged for the last answered decision
    - `decision_id`: number of the seat's last decision; 0 before the first
    - `expired_us`: when its time to decide ran out; NEVER until then
    - `forgiven`: number of further rejections that will not forfeit
    - `late`: True once the seat's late reply is recorded
    - `termination`, `detail`: how its part in the match ended; UNSPECIFIED and "" until then
    """

    __slots__ = (
        "away_since_us",
        "bank_us",
        "charged_us",
        "decision_id",
        "detail",
        "expired_us",
        "forgiven",
        "late",
        "termination",
    )

    def __init__(self, bank_us: int, forgiven: int) -> None:
        self.away_since_us = NEVER
        self.bank_us = bank_us
        self.charged_us = 0
        self.decision_id = 0
        self.forgiven = forgiven
        self.termination = Termination.UNSPECIFIED
        self.detail = ""
        self.expired_us = NEVER
        self.late = False


class Match:
    """The state machine of a running match; the module's docstring describes how to drive it.

    - `records`: all inputs so far
    - `faults`: rejections and forfeits so far
    - `asked_at_us`: when the open decision was sent
    - `deadline_us`: when `expire` has to be called, unless another input comes first
    - `results`: by seat, once the match is `finished`; empty if it is void
    - `void_reason`: why the match is void: it is finished, and has no result; "" if it counts
    """

    def __init__(
        self, spec: MatchSpec, limits: MatchLimits, at_rest: Callable[[], None] | None = None
    ) -> None:
        """`at_rest` is called whenever no turn is running, even between turns that are forced."""
        self._at_rest = at_rest
        self.spec = spec
        self.limits = limits
        self.clocks = spec.clocks
        self.state, events = new_match(spec.rules, Deal(spec.deal_secret))
        self.feed = MatchFeed(spec, self.state, events)
        self.outbox = self.feed.outbox
        self.records: list[Record] = []
        self.faults: list[Fault] = []
        self.deadline_us = NEVER
        self.asked_at_us = 0
        self.finished = False
        self.void_reason = ""
        self.results: tuple[SeatResult, ...] = ()
        self._seats = [_Seat(self.clocks.bank_us, limits.rejections_forgiven) for _ in spec.players]
        self._seats_playing = len(self._seats)  # seats that have not forfeited
        self._any_away = False  # a bot has lost its stream and may reconnect
        self._asked = _NO_SEAT
        self._allowed_us = 0  # bank and increment for the open decision
        self._halted = False
        self._pauses: Pauses | None = None  # None unless pauses are on
        if spec.hide_forced:
            self._pauses = Pauses(spec.secret, spec.match_id, len(spec.players))
        self._paused = _NO_SEAT  # its only legal action is played when the pause ends
        self._pause_ends_us = NEVER
        # The arguments of the ReplyRecord that `record_reply` will complete.
        self._accepted: tuple[int, int, tuple[Action, ...], int] | None = None
        self._late: LateReplyRecord | None = None  # `record_late_reply` completes it

    @property
    def asked(self) -> int | None:
        """The seat that has to decide; None if no decision is open."""
        return None if self._asked == _NO_SEAT else self._asked

    @property
    def last_us(self) -> int:
        """The time at the end of the last record; 0 before the start."""
        if not self.records:
            return 0
        last = self.records[-1]
        if type(last) is ReplyRecord:
            time_us, _, _, _, referee_us = last
            return time_us + referee_us
        return last.time_us

    def termination(self, seat: int) -> Termination:
        """Return how a seat's part in the match ended; UNSPECIFIED while it plays."""
        return self._seats[seat].termination

    def decision_id(self, seat: int) -> int:
        """Return the number of a seat's last decision; 0 before the first."""
        return self._seats[seat].decision_id

    def expired_us(self, seat: int) -> int | None:
        """Return the first moment that was too late for a seat that timed out; otherwise None."""
        expired_us = self._seats[seat].expired_us
        return None if expired_us == NEVER else expired_us

    def awaits_late_reply(self, seat: int) -> bool:
        """Return True if a seat timed out and has not replied to that decision since."""
        own = self._seats[seat]
        return own.expired_us != NEVER and not own.late

    # Inputs

    def start(self, present: Mapping[int, Presence], absent: Mapping[int, Absence]) -> None:
        """Begin the match with the bots that are present; the other seats forfeit immediately."""
        start = StartRecord(tuple(sorted(present.items())), tuple(sorted(absent.items())))
        self.records.append(start)
        for seat, presence in start.present:
            self.feed.send_start(seat, presence)
        for seat, (termination, detail) in start.absent:
            self._forfeit(seat, termination, detail)
        self.feed.add_forfeits()  # no turn has begun, so they reveal nothing
        self._advance(0)

    def reply(
        self, seat: int, decision_id: int, actions: Sequence[ReceivedAction], now_us: int
    ) -> Answer:
        """Take a bot's reply to a decision.

        Call `record_reply` after an accepted reply, and `record_late_reply` after a late reply.

        The first action has to be legal. Further actions are played as long as they are legal in
        the same turn. A reply after the timeout changes nothing. Only the first reply after a
        timeout counts as late, even if the match is over. Further ones are ignored.
        """
        own = self._seats[seat]
        if now_us >= self.deadline_us:
            self.expire(now_us)
        if seat != self._asked or decision_id != own.decision_id:
            if decision_id == own.decision_id and self.awaits_late_reply(seat):
                self._late = LateReplyRecord(
                    now_us, seat, decision_id, tuple(map(serialized, actions))
                )
                return Answer.LATE
            fault = self._wrong_decision(seat, decision_id)
        elif not 0 < len(actions) <= self.limits.actions_per_reply:
            fault = self._wrong_number_of_actions(len(actions))
        else:
            try:
                action = _action(actions[0])
            except UnknownAction as error:
                fault = RejectionReason.UNKNOWN_ACTION, str(error)
            else:
                if action in self.state.legal:
                    self._accept(seat, action, actions, now_us)
                    return Answer.ACCEPTED
                detail = f"'{action}' is not among the legal actions of decision {decision_id}"
                fault = RejectionReason.ILLEGAL_ACTION, detail
        if fault is None:
            return Answer.IGNORED
        received = tuple(map(serialized, actions))
        self.records.append(RejectionRecord(now_us, seat, decision_id, received, *fault))
        self._reject(seat, *fault, now_us)
        return Answer.REJECTED

    def record_reply(self, referee_us: int) -> None:
        """Record the reply just accepted, with the time that the referee itself spent on it.

        The driver calls this after every accepted reply, before anything else happens.
        """
        assert self._accepted is not None, "no accepted reply waits to be recorded"
        time_us, seat, actions, bot_us = self._accepted
        self.records.append(_new(ReplyRecord, (time_us, seat, actions, bot_us, referee_us)))
        self._accepted = None

    def record_late_reply(
        self, socket_us: int | None = None, unread_bytes: int | None = None
    ) -> None:
        """Record the late reply just taken, with the last fields of its record.

        The driver calls this after every late reply, before anything else happens.
        """
        assert self._late is not None, "no late reply waits to be recorded"
        self._seats[self._late.seat].late = True
        self.records.append(self._late._replace(socket_us=socket_us, unread_bytes=unread_bytes))
        self._late = None

    def expire(self, now_us: int) -> None:
        """Forfeit every seat whose time has run out, and end the current pause if it is over."""
        self.expire_seats(now_us)
        if now_us >= self._pause_ends_us:
            self.records.append(PauseRecord(now_us, self._paused))
            self._end_pause()
            self._play(self.state.legal[0])
            self._advance(now_us)

    def expire_seats(self, now_us: int) -> None:
        """Forfeit every seat whose time has run out, in the order in which the times ran out."""
        expired: list[int] = []
        while not self.finished:
            deadlines = list(map(self._forfeits_at_us, range(len(self._seats))))
            first = min(deadlines)
            if first > now_us:
                break
            for seat, deadline in enumerate(deadlines):
                if deadline == first:
                    termination, detail = self._expiry_reason(seat, deadline)
                    if termination is Termination.TIME_OUT:
                        self._seats[seat].expired_us = deadline
                    self._forfeit(seat, termination, detail)
                    expired.append(seat)
            self._advance(now_us)
        if expired:
            self.records.append(ExpiryRecord(now_us, tuple(expired)))

    def leave(self, seat: int, now_us: int) -> None:
        """Note that the seat's bot has lost its stream."""
        if self._runs_at(now_us) and self.feed.present(seat):
            self.records.append(LeaveRecord(now_us, seat))
            self._leave(seat, now_us)

    def enter(self, seat: int, presence: Presence, now_us: int) -> None:
        """Switch to a new stream of the seat's bot; an open decision of the seat is sent again."""
        own = self._seats[seat]
        if not self._runs_at(now_us) or own.termination is not Termination.UNSPECIFIED:
            return
        self.leave(seat, now_us)  # a new stream replaces an older one
        self.records.append(EnterRecord(now_us, seat, presence))
        own.away_since_us = NEVER
        self._any_away = any(other.away_since_us != NEVER for other in self._seats)
        self.feed.reconnect(seat, presence)
        self._set_deadline()
        if seat == self._asked:
            clock = self.clock_us(now_us)
            self.feed.send_decision(seat, own.decision_id, clock, own.charged_us)

    def forfeit(self, seat: int, termination: Termination, detail: str, now_us: int) -> None:
        """Forfeit a seat for a reason outside the match."""
        own = self._seats[seat]
        if self._runs_at(now_us) and own.termination is Termination.UNSPECIFIED:
            self.records.append(ForfeitRecord(now_us, seat, termination, detail))
            self._forfeit(seat, termination, detail)
            self._advance(now_us)

    def halt(self, now_us: int) -> None:
        """Open no further decisions, as the referee is stopping; the open one may be answered."""
        if self._runs_at(now_us):
            self.records.append(HaltRecord(now_us))
            self._halted = True

    def reopen(self, now_us: int) -> None:
        """Continue after a restart of the referee, in which all streams were lost.

        Nothing expires before the match continues: the clocks stood still while no referee was
        running.
        """
        if self.finished:
            return
        self.records.append(ReopenRecord(now_us))
        self._halted = False
        for seat in range(len(self._seats)):
            if self.feed.present(seat):
                self._leave(seat, now_us)
        self._advance(now_us)

    def abandon(self, reason: str) -> None:
        """End the match without a result, for this reason. This is not recorded."""
        assert reason, "a match is void for a reason"
        self.void_reason = reason
        self.finished = True
        self._asked = _NO_SEAT
        self._end_pause()
        self.deadline_us = NEVER
        self.feed.send_void()

    def _runs_at(self, now_us: int) -> bool:
        """Expire what is due; return True if the match is still running afterwards."""
        if now_us >= self.deadline_us:
            self.expire(now_us)
        return not self.finished

    def _leave(self, seat: int, now_us: int) -> None:
        self._seats[seat].away_since_us = now_us
        self._any_away = True
        self.feed.disconnect(seat)
        self._set_deadline()

    # Playing

    def _accept(
        self, seat: int, action: Action, actions: Sequence[ReceivedAction], now_us: int
    ) -> None:
        """Play the actions of a reply; `action` is the first one, and legal."""
        assert self._accepted is None, "the reply accepted last was not recorded"
        own = self._seats[seat]
        waited = now_us - self.asked_at_us
        charged = waited - self.clocks.grace_us
        own.charged_us = charged if charged > 0 else 0
        own.bank_us = self._allowed_us - own.charged_us
        self._asked = _NO_SEAT
        if self._pauses is not None:
            self._pauses.add_answer(seat, self.state.kind, waited)
        self._play(action)
        played: tuple[Action, ...] = (action,)
        if len(actions) > 1:
            played += self._play_further(seat, actions)
        self._accepted = (now_us, seat, played, waited)
        self._advance(now_us)

    def _play(self, action: Action) -> None:
        """Play an action and the forced actions after it; with pauses, only the action itself."""
        if self._at_rest is not None:
            self._play_stepwise(action, self._at_rest)
            return
        carry_out = apply if self._pauses is None else apply_one
        self.feed.add_events(carry_out(self.state, action), self.state)

    def _play_stepwise(self, action: Action, at_rest: Callable[[], None]) -> None:
        """Do the same as `_play`, but action by action, so that `at_rest` sees every turn's end."""
        state = self.state
        forced: Sequence[Action] = (action,)
        while len(forced) == 1:
            self.feed.add_events(apply_one(state, forced[0]), state)
            if self.feed.turn_ends[-1] == len(self.feed.events):
                at_rest()
            forced = state.legal if self._pauses is None else ()

    def _play_further(self, seat: int, actions: Sequence[ReceivedAction]) -> tuple[Action, ...]:
        """Play the further actions of a reply; return the actions that were played."""
        state = self.state
        played: list[Action] = []
        for received in actions[1:]:
            try:
                action = _action(received)
            except UnknownAction:
                break
            # With pauses, forced decisions in between are open; their actions join the reply.
            while len(state.legal) == 1 and state.legal[0] != action and self._turn_of(seat):
                played.append(self._play_at_once(seat, state.legal[0]))
            if action not in state.legal or not self._turn_of(seat):
                break
            played.append(self._play_at_once(seat, action))
        return tuple(played)

    def _turn_of(self, seat: int) -> bool:
        """Return True during a turn of the seat, after its dispatch."""
        return self.state.seat == seat and self.state.kind != DecisionKind.SPACE

    def _play_at_once(self, seat: int, action: Action) -> Action:
        """Play a further action of a reply, which takes no time of its own."""
        if self._pauses is not None:
            self._pauses.add_answer(seat, self.state.kind, 0)
        self._play(action)
        return action

    def _advance(self, now_us: int) -> None:
        """Play for seats that have forfeited; then ask the next seat, or finish."""
        state = self.state
        if self._seats_playing < 2:
            self._finish()
            return
        if self._pauses is not None or self._seats_playing < len(self._seats):
            self._play_unasked(now_us)
        if self.feed.live:
            self.feed.send_turns()
        if state.seat < 0:
            self._finish()
        elif self._asked == _NO_SEAT and self._paused == _NO_SEAT and not self._halted:
            self._ask(state.seat, now_us)
        else:
            self._set_deadline()

    def _play_unasked(self, now_us: int) -> None:
        """Play for seats that have forfeited or have one legal action, until the next pause."""
        state = self.state
        while state.seat >= 0:
            if self._seats[state.seat].termination.forfeit:
                self._end_pause()
                self._play(steward_action(state.kind, state.legal))
            elif len(state.legal) > 1 or self._pauses_at(now_us):
                return
            else:
                self._play(state.legal[0])

    def _pauses_at(self, now_us: int) -> bool:
        """Return True if a pause is running instead of the open decision, or begins now."""
        state = self.state
        if self._paused == _NO_SEAT and self._pauses is not None and could_have_had_a_choice(state):
            pause_us = self._pauses.draw(state.seat, state.kind)
            if pause_us:
                self._paused = state.seat
                self._pause_ends_us = now_us + pause_us
        return self._paused != _NO_SEAT

    def _end_pause(self) -> None:
        self._paused = _NO_SEAT
        self._pause_ends_us = NEVER

    def _ask(self, seat: int, now_us: int) -> None:
        own = self._seats[seat]
        own.decision_id += 1
        self._asked = seat
        self.asked_at_us = now_us
        allowed = self._allowed_us = own.bank_us + self.clocks.increment_us
        self._set_deadline()
        self.feed.send_decision(seat, own.decision_id, allowed, own.charged_us)

    # Faults. Replays contain the texts and re-simulation compares them, so don't change them.

    def _wrong_decision(self, seat: int, decision_id: int) -> tuple[RejectionReason, str] | None:
        """Return why a reply to any but the open decision is rejected; None to ignore the reply."""
        own = self._seats[seat]
        last = own.decision_id
        if 0 < decision_id <= last or own.termination is not Termination.UNSPECIFIED:
            return None
        still = f"decision {last} is open" if seat == self._asked else "none is open"
        detail = f"decision {decision_id} was never asked; {still}"
        return RejectionReason.UNKNOWN_DECISION, detail

    def _wrong_number_of_actions(self, actions: int) -> tuple[RejectionReason, str]:
        if not actions:
            detail = "the reply carries no action; send one of the legal actions"
            return RejectionReason.EMPTY, detail
        most = self.limits.actions_per_reply
        detail = f"the reply carries {actions} actions; {most} are allowed"
        return RejectionReason.TOO_MANY_ACTIONS, detail

    def _reject(self, seat: int, reason: RejectionReason, detail: str, now_us: int) -> None:
        own = self._seats[seat]
        self.faults.append(Fault(seat, reason, detail))
        if not own.forgiven:
            self._forfeit(seat, Termination.REJECTED_REPLIES, f"{reason.name}: {detail}")
            self._advance(now_us)
            return
        own.forgiven -= 1
        asked = seat == self._asked
        self.feed.send_rejection(
            seat,
            decision_id=own.decision_id if asked else 0,
            reason=reason,
            detail=detail,
            legal=self.state.legal if asked else (),
            clock_us=self.clock_us(now_us) if asked else 0,
            forgiven=own.forgiven,
        )

    def _forfeit(self, seat: int, termination: Termination, detail: str) -> None:
        own = self._seats[seat]
        own.termination = termination
        own.detail = detail
        self._seats_playing -= 1
        self.faults.append(Fault(seat, termination, detail))
        if seat == self._asked:
            self._asked = _NO_SEAT
        self.feed.hold_forfeit(SeatForfeited(seat, termination))

    # Time

    def clock_us(self, now_us: int) -> int:
        """Return the time left for the open decision."""
        charged = max(now_us - self.asked_at_us - self.clocks.grace_us, 0)
        return max(self._allowed_us - charged, 0)

    def _decision_expires_us(self) -> int:
        """Return the first moment that is too late to answer the open decision."""
        return self.asked_at_us + self._allowed_us + self.clocks.grace_us + 1

    def _absence_expires_us(self, own: _Seat) -> int:
        """Return the first moment that is too late for a seat's bot to reconnect."""
        return min(own.away_since_us + self.clocks.reconnect_us + 1, NEVER)

    def _forfeits_at_us(self, seat: int) -> int:
        """Return when a seat forfeits unless it decides or its bot reconnects."""
        own = self._seats[seat]
        if own.termination is not Termination.UNSPECIFIED:
            return NEVER
        absence = self._absence_expires_us(own)
        return min(absence, self._decision_expires_us()) if seat == self._asked else absence

    def _set_deadline(self) -> None:
        if self.finished:
            self.deadline_us = NEVER
            return
        if self._any_away:
            self.deadline_us = min(map(self._forfeits_at_us, range(len(self._seats))))
        else:
            self.deadline_us = NEVER if self._asked == _NO_SEAT else self._decision_expires_us()
        if self._pause_ends_us < self.deadline_us:
            self.deadline_us = self._pause_ends_us

    def _expiry_reason(self, seat: int, deadline_us: int) -> tuple[Termination, str]:
        own = self._seats[seat]
        decision = f"decision {own.decision_id}"
        if own.away_since_us == NEVER:
            allowed = _seconds(self._allowed_us)
            return Termination.TIME_OUT, f"did not reply to {decision} within the {allowed} it had"
        if deadline_us == self._absence_expires_us(own):
            allowed = _seconds(self.clocks.reconnect_us)
            return Termination.CRASH, f"did not come back within {allowed} after its stream broke"
        return Termination.CRASH, f"was away when its time for {decision} ran out"

    # The end

    def _finish(self) -> None:
        self._end_pause()
        while len(self.state.legal) == 1:
            self._play(self.state.legal[0])
        self.feed.close()
        if self.feed.live:
            self.feed.send_turns()
        self._asked = _NO_SEAT
        self.deadline_us = NEVER
        for own in self._seats:
            if own.termination is Termination.UNSPECIFIED:
                own.termination = Termination.COMPLETED
        results = self._rank()
        # A shared deal belongs to other matches too, now or later.
        secret = b"" if self.spec.shared_deal else self.spec.secret
        self.feed.send_end(results, secret)
        self.results = results
        self.finished = True  # last: if anything above fails, the match can still be abandoned

    def _rank(self) -> tuple[SeatResult, ...]:
        result = outcome(self.state)
        prestige = tuple(self.state.prestige) if result is None else result.prestige
        forfeited = {seat for seat, own in enumerate(self._seats) if own.termination.forfeit}
        ranks = rank_seats(prestige, forfeited)
        results = []
        for seat, own in enumerate(self._seats):
            private = private_view(self.state, seat)
            results.append(
                SeatResult(
                    seat=seat,
                    entry=self.spec.players[seat].entry,
                    end=SeatEnd(ranks[seat], prestige[seat], own.termination, own.detail),
                    asari=private.asari,
                    sections=private.sections,
                    lit_windows=private.lit_windows,
                )
            )
        return tuple(results)


def steward_action(kind: DecisionKind, legal: Sequence[Action]) -> Action:
    """Return the steward's action: the action with the smallest effect, chosen by a fixed rule.

    The steward is the referee itself, playing for a seat that has forfeited. It dispatches to the
    coloured building if it can, otherwise declines if it can, and otherwise takes the first legal
    action.
    """
    if kind == DecisionKind.SPACE:
        for action in legal:
            if isinstance(action, ChooseSpace) and action.space.area == Area.COLOURED_BUILDING:
                return action
    return _DECLINE if _DECLINE in legal else legal[0]


def _action(received: ReceivedAction) -> Action:
    """Return the decoded action; raises UnknownAction if the message is not a valid action."""
    if type(received) is ActionMessage:  # which has no subclasses; compiled, this needs no call
        return action_from_proto(received)
    return cast("Action", received)


def serialized(received: ReceivedAction) -> bytes:
    """Return the bytes of an action's message."""
    return serialize(received if isinstance(received, ActionMessage) else action_message(received))


def _seconds(microseconds: int) -> str:
    return f"{round(microseconds / SECOND_US, 3):g} s"
