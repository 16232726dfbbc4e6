"""A finished match as one viewer may see it, as a ReplayView message.

`journal.resimulate` plays the match again, and this determines what each viewer is shown:

- Everybody is shown the public events, turn by turn. There are no steps within a turn, because they
  would show whether the seat had to decide there, which depends on what it hides.
- A seat is also shown, within its own turns, its messages and its answers. The view depends only on
  the messages to the seat, its own replies and the results. So its last private view is the last
  one that it was sent, or follows from that one.
- The open view shows every reply of every seat, and all private views.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from asara.v1.play_pb2 import PlayResponse
from asara.v1.replay_view_pb2 import (
    VIEWER_KIND_EVERYBODY,
    VIEWER_KIND_OPEN,
    VIEWER_KIND_SEAT,
    ReplayDecision,
    ReplayMoment,
    ReplayView,
    ViewerKind,
)
from asara.v1.view_pb2 import PrivateView as PrivateViewMessage
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.editions import edition_message, rule_set_numbers
from asara_codec.encode import (
    action_bytes,
    clocks_message,
    enum_value,
    result_message,
)
from asara_codec.reflection import to_message
from asara_codec.results import SeatForfeited
from asara_codec.view_writer import ViewWriter
from asara_codec.wire_format import RepeatedField
from asara_game.actions import Action
from asara_game.engine import decision
from asara_game.events import (
    BuyersRecruited,
    Event,
    GiftTaken,
    LitWindowsDrawn,
    YearStarted,
)
from asara_game.state import Decision
from asara_game.view import PrivateView, private_view
from asara_server.journal.replay import Replay, ReplayError
from asara_server.journal.resimulate import resimulated
from asara_server.match.inputs import Record, RejectionRecord, ReplyRecord, StartRecord
from asara_server.match.match import Match

LONGEST_LOG: Final = 4_000
"""Maximum characters of a bot's log shown for a decision."""
_REJECTED_ACTIONS: Final = 64
"""Maximum actions shown of a rejected reply, which may contain thousands."""
_events: Final = RepeatedField(ReplayMoment, "events")
_legal_actions: Final = RepeatedField(ReplayDecision, "legal_actions")
_actions: Final = RepeatedField(ReplayDecision, "actions")
_build_steps: Final = RepeatedField(ReplayDecision, "build_steps")
_REVEALING: Final = (GiftTaken, BuyersRecruited, LitWindowsDrawn)
"""Events from which their own seat may learn something that the event does not contain."""

Logs = Mapping[tuple[int, int], str]
"""By seat and decision, the lines that the bot logged while it decided."""


class Viewer(NamedTuple):
    """A viewer of a match: everybody, one seat, or "open", from whom nothing is hidden."""

    kind: ViewerKind
    seat: int = 0

    def sees(self, seat: int) -> bool:
        """Return True if the viewer is shown the seat's own information."""
        return self.kind == VIEWER_KIND_OPEN or (
            self.kind == VIEWER_KIND_SEAT and self.seat == seat
        )

    def __str__(self) -> str:
        if self.kind == VIEWER_KIND_SEAT:
            return f"seat-{self.seat}"
        return "open" if self.kind == VIEWER_KIND_OPEN else "everybody"


EVERYBODY: Final = Viewer(VIEWER_KIND_EVERYBODY)
OPEN: Final = Viewer(VIEWER_KIND_OPEN)


def seat_viewer(seat: int) -> Viewer:
    return Viewer(VIEWER_KIND_SEAT, seat)


def parse_viewer(text: str) -> Viewer:
    """Parse "everybody", "open" or "seat-N" as a viewer (inverse of `str`); raises ValueError."""
    for viewer in (EVERYBODY, OPEN, *map(seat_viewer, range(4))):
        if text == str(viewer):
            return viewer
    raise ValueError("not a viewer: use everybody, open, or seat- and a number, such as seat-0")


def replay_view(replay: Replay, viewer: Viewer, logs: Logs | None = None) -> ReplayView:
    """Return the match as the viewer may see it.

    Raises ReplayError if there is no such seat, and at the first record that does not hold.
    """
    header = replay.header
    seats = len(header.entries)
    if not 0 <= viewer.seat < seats:
        raise ReplayError(f"there is no seat {viewer.seat}; this match has seats 0 to {seats - 1}")
    rules = header.rules()
    own = tuple(filter(viewer.sees, range(seats)))
    made = _Moments(own, viewer.kind == VIEWER_KIND_OPEN, logs or {})
    moments, match = made.of(replay)
    return ReplayView(
        match_id=header.match_id,
        viewer=viewer.kind,
        viewer_seat=viewer.seat,
        entries=header.entries,
        rule_sets=rule_set_numbers(rules),
        edition=edition_message(rules),
        clocks=clocks_message(header.clocks),
        started_unix_ms=header.started_unix_ms,
        deal_commitment=match.spec.commitment,
        shared_deal=header.shared_deal,
        moments=moments,
        results=map(result_message, match.results),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """An open decision of a seat whose information is shown."""

    decision_id: int
    asked: Decision
    legal: tuple[Action, ...]
    asked_at_us: int
    clock_us: int


@dataclass(slots=True)
class _OwnViews:
    """The private views of one seat, each with the number of the moment after which it holds.

    - `certain`: number of views, from the first, that the seat was sent or could derive
    - `follows`: True while the next view follows from the last one sent and the events since
    """

    views: list[tuple[int, PrivateView]] = field(default_factory=list)
    certain: int = 0
    follows: bool = False

    def add(self, moment: int, private: PrivateView) -> None:
        self.views.append((moment, private))
        if self.follows:
            self.certain = len(self.views)

    def sent(self) -> None:
        """Note that the seat was sent its latest view, so that all earlier ones are certain."""
        self.certain = len(self.views)
        self.follows = True


class _Moments:
    """The moments of a match, made record by record.

    - `own`: seats whose information is shown
    - `shown`: number of events in the moments so far
    - `asked`: the open decision of an own seat, if the viewer is shown it
    - `answered`: a moment with an own reply whose events have not been shown yet
    - `resting`: by number of events, the private views of own seats when no turn was running
    - `lit_stack`: the stack of lit windows when all private views were last noted within a turn
    """

    def __init__(self, own: Sequence[int], is_open: bool, logs: Logs) -> None:
        self.own = own
        self.open = is_open
        self.logs = logs
        self.moments: list[ReplayMoment] = []
        self.shown = 0
        self.asked: _Asked | None = None
        self.answered: ReplayMoment | None = None
        self.resting: dict[int, list[PrivateView]] = {}
        self.lit_stack: list[int] = []
        self.views = {seat: _OwnViews(follows=is_open) for seat in own}
        self.numbers: dict[int, int] = {}

    def of(self, replay: Replay) -> tuple[list[ReplayMoment], Match]:
        """Return the moments of a match, and the match at its end; raises ReplayError."""
        playing: list[Match] = []

        def at_rest() -> None:
            match = playing[0]
            self.resting[match.feed.turn_ends[-1]] = self._private(match)

        for match, record in resimulated(replay, at_rest=at_rest):
            if record is None:
                playing.append(match)
                at_rest()
            else:
                self._add_record(match, record)
            self._show(match)
        self._add_private_views()
        return self.moments, playing[0]

    def _private(self, match: Match) -> list[PrivateView]:
        """Return the private views of the viewer's seats; only the open view has forfeited ones."""
        return [
            private_view(match.state, seat)
            for seat in self.own
            if self.open or not match.termination(seat).forfeit
        ]

    def _changed(self, match: Match) -> list[PrivateView]:
        """Return the private views that may have changed and were not noted when the turn ended."""
        if match.finished:
            return self._private(match)
        end = match.feed.turn_ends[-1]
        if end == len(match.feed.events):  # perhaps by an answer without an event
            return self.resting.pop(end, [])
        if match.state.lit_stack != self.lit_stack:  # others may know places in it (ruling R9)
            self.lit_stack = match.state.lit_stack[:]
            return self._private(match)
        return [private_view(match.state, match.state.seat)]

    # Decisions

    def _add_record(self, match: Match, record: Record) -> None:
        """Add a moment for a reply, a rejection, or a decision that ends without an answer."""
        if isinstance(record, StartRecord):
            for seat, _ in record.present:
                if seat in self.own:
                    self.views[seat].sent()  # the view after the set-up
        elif isinstance(record, ReplyRecord) and record.seat in self.own:
            self._add_decision(self._reply(record))
            self.asked = None
        elif isinstance(record, RejectionRecord) and record.seat in self.own:
            self._add_decision(self._rejection(record))
            if match.asked != record.seat and self._asks(record.seat):
                self.asked = None
        if self.asked is not None and not self._asks(match.asked):
            self._add_decision(self._ended(self.asked, record.time_us))
            self.asked = None

    def _asks(self, seat: int | None) -> bool:
        return self.asked is not None and self.asked.asked.seat == seat

    def _add_decision(self, given: ReplayDecision) -> None:
        self._add_answered()
        self.answered = ReplayMoment(sequence=self.shown, decision=given)

    def _add_answered(self) -> None:
        if self.answered is not None:
            self.moments.append(self.answered)
            self.answered = None

    def _reply(self, record: ReplyRecord) -> ReplayDecision:
        if self.asked is not None:
            message = self._ended(self.asked, record.time_us)
        else:  # the decision was opened while its bot was away
            number = self.numbers[record.seat]
            message = ReplayDecision(seat=record.seat, decision_id=number, time_us=record.time_us)
        message.MergeFromString(_actions.encode(map(action_bytes, record.actions)))
        message.bot_us = record.bot_us
        return message

    def _rejection(self, record: RejectionRecord) -> ReplayDecision:
        if self.asked is not None and self._asks(record.seat):
            message = self._ended(self.asked, record.time_us)
            message.ClearField("log")  # shown once, with the end of the decision
        else:
            message = ReplayDecision(seat=record.seat, time_us=record.time_us)
        message.decision_id = record.decision_id
        message.rejection = enum_value(record.reason)
        message.detail = record.detail
        for data in record.actions[:_REJECTED_ACTIONS]:
            message.actions.append(ActionMessage.FromString(data))
        message.DiscardUnknownFields()
        return message

    def _ended(self, asked: _Asked, time_us: int) -> ReplayDecision:
        """Return a decision that was closed without an answer."""
        seat, kind, space, sections, steps, gifts, windows = asked.asked
        log = self.logs.get((seat, asked.decision_id), "")
        message = ReplayDecision(
            seat=seat,
            decision_id=asked.decision_id,
            kind=enum_value(kind),
            time_us=time_us,
            bot_us=time_us - asked.asked_at_us,
            clock_us=asked.clock_us,
            space=None if space is None else to_message(space),
            log=log if len(log) <= LONGEST_LOG else f"{log[: LONGEST_LOG - 1]}…",
            sections_to_build=sections,
            gifts=map(to_message, gifts),
            lit_windows_to_keep=windows,
        )
        message.MergeFromString(_legal_actions.encode(map(action_bytes, asked.legal)))
        message.MergeFromString(_build_steps.encode(map(action_bytes, steps)))
        return message

    # Events

    def _show(self, match: Match) -> None:
        """Add the events that the viewer may see by now, and the views that were sent to seats."""
        sent = [seat for seat in self.own if not self.open and _was_sent_its_view(match, seat)]
        asked = match.asked
        if asked is not None and asked in self.own:
            self.numbers[asked] = match.decision_id(asked)
            if (self.open or asked in sent) and not self._asks(asked):
                self.asked = _open_decision(match, asked)
        feed = match.feed
        at_once = self.open or self.asked is not None or match.finished
        limit = max(len(feed.events) if at_once else feed.turn_ends[-1], self.shown)
        ends = [end for end in feed.turn_ends if self.shown < end < limit]
        for end in [*ends, limit] if limit > self.shown else ends:
            self._show_turn(match, end)
        if self.answered is not None and (at_once or self.answered.decision.rejection):
            self._add_answered()
        if self.open:
            for private in self._changed(match):
                self._note_private(private)
        else:
            for seat in sent:
                self._note_private(private_view(match.state, seat))
                self.views[seat].sent()

    def _show_turn(self, match: Match, end: int) -> None:
        """Add a turn up to this event, or the part of a turn that a reply has caused."""
        feed = match.feed
        events, parts = feed.events[self.shown : end], feed.event_parts[self.shown : end]
        if self.answered is None:
            self.answered = ReplayMoment()
        self.answered.sequence = self.shown = end
        self.answered.MergeFromString(_events.encode(parts))
        self._add_answered()
        if not self.open:
            for seat, own in self.views.items():
                own.follows = own.follows and not any(_reveals(event, seat) for event in events)
        for private in self.resting.pop(end, ()):
            self._note_private(private)

    # Private views

    def _note_private(self, private: PrivateView) -> None:
        self.views[private.seat].add(len(self.moments) - 1, private)

    def _add_private_views(self) -> None:
        """Add to the moments the private views that seats were sent or could derive."""
        writer = ViewWriter()
        for own in self.views.values():
            held = dict(own.views[: own.certain])  # the last view at each moment
            last: PrivateView | None = None
            for moment, private in held.items():
                if private != last:
                    data = writer.private(private)
                    self.moments[moment].private_views.append(PrivateViewMessage.FromString(data))
                last = private


def _open_decision(match: Match, seat: int) -> _Asked:
    asked_at_us = match.asked_at_us
    return _Asked(
        match.decision_id(seat),
        decision(match.state),
        tuple(match.state.legal),
        asked_at_us,
        match.clock_us(asked_at_us),
    )


def _was_sent_its_view(match: Match, seat: int) -> bool:
    """Return True if the record caused a message to the seat with its current view."""
    for receiver, data in match.outbox:
        if receiver == seat:
            message = PlayResponse.FromString(data)
            if message.HasField("decision") or message.match_started.resumed:
                return True
    return False


def _reveals(event: Event | SeatForfeited, seat: int) -> bool:
    """Return True if the event may teach the seat something that the event does not contain."""
    return isinstance(event, YearStarted) or (isinstance(event, _REVEALING) and event.seat == seat)
