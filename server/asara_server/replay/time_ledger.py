"""The time that each decision cost its bot and the referee, and the replies that were late."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.decode import UnknownAction, action_from_proto
from asara_codec.results import Termination
from asara_game.actions import Action
from asara_server.eventlog.replay import Replay
from asara_server.eventlog.resimulate import resimulated
from asara_server.match.inputs import LateReplyRecord, Record, ReplyRecord, UnreadRecord
from asara_server.match.match import Match


class Cost(NamedTuple):
    """The time that one reply took."""

    record: int
    """Number of the reply's record; the header is number 1."""
    seat: int
    decision_id: int
    bot_us: int
    referee_us: int
    actions: str


class Forfeit(NamedTuple):
    """A forfeit, with the number of the record that caused it."""

    record: int
    seat: int
    time_us: int
    termination: Termination
    detail: str


class Unread(NamedTuple):
    """The unread bytes at a bot's socket when its time had run out."""

    record: int
    time_us: int
    bytes: int


class LateReply(NamedTuple):
    """A reply to a decision for which the time had run out."""

    record: int
    time_us: int
    """When the referee received the reply."""
    socket_us: int | None
    """When the bot's last bytes had arrived at the socket; None if unknown."""
    answer: str
    """The first action of the reply, and whether it was legal."""


@dataclass(slots=True)
class TimeOut:
    """A decision for which a seat's time ran out; times are since the start of the match."""

    seat: int
    decision_id: int
    asked_us: int
    expired_us: int
    """First moment that was too late."""
    unread: Unread | None = None
    """The bytes unread at that moment; None if the system did not report them."""
    late_reply: LateReply | None = None


class Ledger(NamedTuple):
    costs: tuple[Cost, ...]
    forfeits: tuple[Forfeit, ...]
    time_outs: tuple[TimeOut, ...]

    def of(self, seat: int) -> tuple[Cost, ...]:
        """Return the costs of one seat's decisions."""
        return tuple(cost for cost in self.costs if cost.seat == seat)

    def largest(self, number: int) -> Iterable[Cost]:
        """Return the decisions that took their bots longest, longest first."""
        return sorted(self.costs, key=lambda cost: (-cost.bot_us, cost.record))[:number]


def ledger(replay: Replay) -> Ledger:
    """Return the costs and forfeits of a match; raises ReplayError if a record does not hold."""
    reader = _Reader()
    for number, (match, record) in enumerate(resimulated(replay), 1):
        reader.add(number, match, record)
    return Ledger(tuple(reader.costs), tuple(reader.forfeits), tuple(reader.time_outs.values()))


class _Asked(NamedTuple):
    """A decision that is open, or was open until it was answered."""

    seat: int
    decision_id: int
    time_us: int
    legal: Sequence[Action]


@dataclass(slots=True)
class _Reader:
    """Collects the ledger, record by record."""

    costs: list[Cost] = field(default_factory=list)
    forfeits: list[Forfeit] = field(default_factory=list)
    time_outs: dict[int, TimeOut] = field(default_factory=dict)
    asked: _Asked | None = None
    missed: dict[int, _Asked] = field(default_factory=dict)
    faults: int = 0

    def add(self, number: int, match: Match, record: Record | None) -> None:
        if isinstance(record, ReplyRecord):
            played = ", ".join(map(str, record.actions))
            decision_id = self.asked.decision_id if self.asked else 0
            self.costs.append(
                Cost(number, record.seat, decision_id, record.bot_us, record.referee_us, played)
            )
        elif isinstance(record, UnreadRecord):
            self.time_outs[record.seat].unread = Unread(number, record.time_us, record.bytes)
        elif isinstance(record, LateReplyRecord):
            answer = _answer(record, self.missed[record.seat].legal)
            late = LateReply(number, record.time_us, record.socket_us, answer)
            self.time_outs[record.seat].late_reply = late
        if record is not None:
            self._add_forfeits(number, match, record)
        self._note_asked(match, 0 if record is None else record.time_us)

    def _add_forfeits(self, number: int, match: Match, record: Record) -> None:
        for seat, reason, detail in match.faults[self.faults :]:
            if isinstance(reason, Termination):
                self.forfeits.append(Forfeit(number, seat, record.time_us, reason, detail))
            expired_us = match.expired_us(seat)
            if expired_us is not None and self.asked is not None:
                asked = self.missed[seat] = self.asked
                self.time_outs[seat] = TimeOut(seat, asked.decision_id, asked.time_us, expired_us)
        self.faults = len(match.faults)

    def _note_asked(self, match: Match, time_us: int) -> None:
        if match.asked is None:
            return
        decision_id = match.decision_id(match.asked)
        if self.asked is None or self.asked[:2] != (match.asked, decision_id):
            self.asked = _Asked(match.asked, decision_id, time_us, tuple(match.state.legal))


def _answer(record: LateReplyRecord, legal: Sequence[Action]) -> str:
    if not record.actions:
        return "no action"
    try:
        action = action_from_proto(ActionMessage.FromString(record.actions[0]))
    except UnknownAction as error:
        return f"an unknown action ({error})"
    return f"'{action}', which was {'legal' if action in legal else 'not legal'}"
