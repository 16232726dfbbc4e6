"""The time that each decision of a match cost its bot and the referee."""

from collections.abc import Iterable
from typing import NamedTuple

from asara_codec.results import Termination
from asara_server.eventlog.replay import Replay
from asara_server.eventlog.resimulate import resimulated
from asara_server.match.inputs import ReplyRecord


class Cost(NamedTuple):
    """The time that one reply took."""

    record: int
    """Number of its record; the header is 1."""
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


class Ledger(NamedTuple):
    costs: tuple[Cost, ...]
    forfeits: tuple[Forfeit, ...]

    def of(self, seat: int) -> tuple[Cost, ...]:
        """Return the costs of one seat's decisions."""
        return tuple(cost for cost in self.costs if cost.seat == seat)

    def largest(self, number: int) -> Iterable[Cost]:
        """Return the decisions that took their bots longest, the longest first."""
        return sorted(self.costs, key=lambda cost: (-cost.bot_us, cost.record))[:number]


def ledger(replay: Replay) -> Ledger:
    """Return the costs and forfeits of a match; raises ReplayError if a record does not hold."""
    costs: list[Cost] = []
    forfeits: list[Forfeit] = []
    faults = 0
    decision_id = 0  # of the open decision
    for number, (match, record) in enumerate(resimulated(replay), 1):
        if isinstance(record, ReplyRecord):
            played = ", ".join(map(str, record.actions))
            costs.append(
                Cost(number, record.seat, decision_id, record.bot_us, record.referee_us, played)
            )
        if record is not None:
            forfeits.extend(
                Forfeit(number, fault.seat, record.time_us, fault.reason, fault.detail)
                for fault in match.faults[faults:]
                if isinstance(fault.reason, Termination)
            )
        faults = len(match.faults)
        if match.asked is not None:
            decision_id = match.decision_id(match.asked)
    return Ledger(tuple(costs), tuple(forfeits))
