"""The time that each decision cost its bot and the referee, and the replies that were late."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.decode import UnknownAction, action_from_proto
from asara_codec.results import Termination
from asara_game.actions import Action
from asara_server.journal.replay import Replay
from asara_server.journal.resimulate import resimulated
from asara_server.match.inputs import LateReplyRecord, Record, ReplyRecord
from asara_server.match.match import Fault, Match


class Cost(NamedTuple):
    """A reply, which tells the time that it took."""

    number: int
    """Number of the reply's record; the header is number 1."""
    decision_id: int
    reply: ReplyRecord


class Asked(NamedTuple):
    """A decision that was requested, with its time since the start of the match."""

    seat: int
    decision_id: int
    time_us: int
    legal: Sequence[Action]


@dataclass(slots=True)
class Forfeit:
    """A forfeit, with the number and the time of the record that caused it."""

    number: int
    time_us: int
    fault: Fault
    asked: Asked | None
    """The decision that was open; None if the match had not asked any seat."""
    expired_us: int | None
    """First moment that was too late; None if the forfeit was no timeout."""
    late_reply: tuple[int, LateReplyRecord] | None = None
    """The number of the record, and the reply."""

    def answer(self, late: LateReplyRecord) -> str:
        """Return the first action of the late reply, and whether it was legal."""
        if not late.actions:
            return "no action"
        try:
            action = action_from_proto(ActionMessage.FromString(late.actions[0]))
        except UnknownAction as error:
            return f"an unknown action ({error})"
        legal = self.asked is not None and action in self.asked.legal
        return f"'{action}', which was {'legal' if legal else 'not legal'}"


@dataclass(slots=True)
class Ledger:
    """The costs and forfeits of a match, collected record by record."""

    costs: list[Cost] = field(default_factory=list)
    forfeits: dict[int, Forfeit] = field(default_factory=dict)
    """By seat, in the order of the records."""
    _asked: Asked | None = None
    _faults: int = 0

    def of(self, seat: int) -> list[ReplyRecord]:
        """Return the replies of one seat."""
        return [cost.reply for cost in self.costs if cost.reply.seat == seat]

    def largest(self, number: int) -> Iterable[Cost]:
        """Return the decisions that took their bots longest, longest first."""
        return sorted(self.costs, key=lambda cost: (-cost.reply.bot_us, cost.number))[:number]

    def add(self, number: int, match: Match, record: Record | None) -> None:
        """Add the next record, and the match as it was afterwards."""
        if isinstance(record, ReplyRecord):
            decision_id = self._asked.decision_id if self._asked else 0
            self.costs.append(Cost(number, decision_id, record))
        elif isinstance(record, LateReplyRecord):
            self.forfeits[record.seat].late_reply = number, record
        if record is not None:
            self._add_forfeits(number, match, record)
        self._note_asked(match, 0 if record is None else record.time_us)

    def _add_forfeits(self, number: int, match: Match, record: Record) -> None:
        for fault in match.faults[self._faults :]:
            if isinstance(fault.reason, Termination):
                expired_us = match.expired_us(fault.seat)
                self.forfeits[fault.seat] = Forfeit(
                    number, record.time_us, fault, self._asked, expired_us
                )
        self._faults = len(match.faults)

    def _note_asked(self, match: Match, time_us: int) -> None:
        if match.asked is None:
            return
        decision_id = match.decision_id(match.asked)
        if self._asked is None or self._asked[:2] != (match.asked, decision_id):
            self._asked = Asked(match.asked, decision_id, time_us, tuple(match.state.legal))


def ledger(replay: Replay) -> Ledger:
    """Return the costs and forfeits of a match; raises ReplayError if a record does not hold."""
    found = Ledger()
    for number, (match, record) in enumerate(resimulated(replay), 1):
        found.add(number, match, record)
    return found
