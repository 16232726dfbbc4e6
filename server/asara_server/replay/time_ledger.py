"""Where the time of a match went: what each decision cost its bot and the referee."""

from collections.abc import Iterable
from typing import NamedTuple

from asara_codec.results import Termination
from asara_server.eventlog.header import Replay
from asara_server.eventlog.resimulate import resimulate_record
from asara_server.match.inputs import ReplyRecord
from asara_server.match.match import Match


class Cost(NamedTuple):
    """One reply."""

    record: int
    """Number of its record, the header being 1."""
    seat: int
    decision_id: int
    bot_us: int
    referee_us: int
    actions: str


class Out(NamedTuple):
    """A forfeit."""

    record: int
    seat: int
    time_us: int
    termination: Termination
    detail: str


class Ledger(NamedTuple):
    costs: tuple[Cost, ...]
    forfeits: tuple[Out, ...]

    def of(self, seat: int) -> tuple[Cost, ...]:
        """What one seat's decisions cost."""
        return tuple(cost for cost in self.costs if cost.seat == seat)

    def largest(self, number: int) -> Iterable[Cost]:
        """The decisions that took longest, the longest first."""
        return sorted(self.costs, key=lambda cost: (-cost.bot_us, cost.record))[:number]


def ledger(replay: Replay) -> Ledger:
    """The costs and forfeits of a match; raises ReplayError where a record does not hold."""
    match = Match(replay.header.spec(), replay.header.limits())
    costs: list[Cost] = []
    forfeits: list[Out] = []
    faults = 0
    for index, record in enumerate(replay.records):
        if isinstance(record, ReplyRecord):
            decision_id = match.decision_id(record.seat)
            played = ", ".join(map(str, record.actions))
            cost = Cost(
                index + 2, record.seat, decision_id, record.bot_us, record.referee_us, played
            )
            costs.append(cost)
        resimulate_record(match, index, record)
        match.outbox.clear()
        for fault in match.faults[faults:]:
            if isinstance(fault.reason, Termination):
                out = Out(index + 2, fault.seat, record.time_us, fault.reason, fault.detail)
                forfeits.append(out)
        faults = len(match.faults)
    return Ledger(tuple(costs), tuple(forfeits))
