"""How many matches a tournament has, and how long it may take. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from asara_server.tournament.config import Tournament
from asara_server.tournament.schedule import TableKind, table_kinds

MOST_MATCHES = 1_000_000
"""More than these are not listed; a run of them would never end."""

_DECISIONS_PER_SEAT = 60
"""In a match, roughly; more by the professional rules than by the basic ones."""

_START_S = 0.7
"""Seconds until a bot's process has dialled in, where it is started for every match."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What to expect of a tournament."""

    kinds: tuple[TableKind, ...]
    likely_s: float
    """If each decision takes a bot as long as was assumed."""
    longest_s: float
    """If every bot used up its clock in every match."""

    @property
    def matches(self) -> int:
        return sum(kind.matches for kind in self.kinds)


def estimate(tournament: Tournament, decision_s: float) -> Estimate:
    kinds = table_kinds(
        len(tournament.entries), tournament.seats, tournament.rule_sets, tournament.rounds
    )
    clocks = tournament.clocks
    start = _START_S if tournament.processes == "match" else 0.0
    return Estimate(
        tuple(kinds),
        _time(kinds, tournament.concurrency, start, _DECISIONS_PER_SEAT * decision_s),
        _time(
            kinds,
            tournament.concurrency,
            clocks.start_up_s,
            clocks.bank_s + _DECISIONS_PER_SEAT * (clocks.increment_s + clocks.grace_s),
        ),
    )


def _time(kinds: Sequence[TableKind], at_once: int, per_match_s: float, per_seat_s: float) -> float:
    return sum(kind.matches * (per_match_s + kind.seats * per_seat_s) for kind in kinds) / at_once
