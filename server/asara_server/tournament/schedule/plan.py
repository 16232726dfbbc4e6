"""The matches of a tournament: listed, counted, and an estimate of how long they take."""

from dataclasses import dataclass

from asara_game.vocabulary import RuleSet
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.layout import Layout, TableKind, table_kinds
from asara_server.tournament.schedule.schedule import ScheduledMatch, list_matches


def planned_matches(tournament: Tournament) -> list[ScheduledMatch]:
    """Return all matches of a tournament, in the order of play."""
    return list_matches(
        [entry.name for entry in tournament.entries],
        tournament.seats,
        tournament.rules,
        Layout.of(tournament.teams, tournament),
        remote=tournament.remote_entries,
    )


def planned_table_kinds(tournament: Tournament) -> list[TableKind]:
    """Count the blocks and matches of each kind of table, without listing them."""
    layout = Layout.of(tournament.teams, tournament)
    return table_kinds(layout, tournament.seats, tournament.rules)


MOST_MATCHES = 1_000_000
"""Maximum number of matches in a schedule that can be listed and played."""

_DECISIONS = {2: 70, 3: 60, 4: 50}
"""Approximate decisions per random bot in a basic match, by number of seats."""

_PROFESSIONAL = 1.3
"""Factor for the number of decisions under the professional rules."""

_START_S = 0.3
"""Core seconds to start a Python bot, if each match has its own process."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected size and duration of a tournament."""

    kinds: tuple[TableKind, ...]
    likely_s: float
    """Seconds if a bot takes a millisecond for every decision."""
    slow_s: float
    """Seconds if a bot takes 100 ms for every decision."""
    longest_s: float
    """Seconds if every bot uses up its clock in every match."""

    @property
    def blocks(self) -> int:
        return sum(kind.blocks for kind in self.kinds)

    @property
    def matches(self) -> int:
        return sum(kind.matches for kind in self.kinds)


def estimate(tournament: Tournament) -> Estimate:
    """Estimate the size and duration of a tournament."""
    kinds = planned_table_kinds(tournament)
    clocks = tournament.clocks
    policies = tournament.process_policies.values()
    start = _START_S * sum(one == "match" for one in policies) / len(tournament.entries)
    longest_decision_s = clocks.increment_s + clocks.grace_s
    likely = slow = longest = 0.0
    for kind in kinds:
        decisions = _DECISIONS[kind.seats]
        if RuleSet.PROFESSIONAL in kind.rule_sets:
            decisions = round(decisions * _PROFESSIONAL)
        likely += kind.matches * kind.seats * (start + decisions * 0.001)
        slow += kind.matches * kind.seats * (start + decisions * 0.1)
        seat_s = clocks.time_bank_s + decisions * longest_decision_s
        longest += kind.matches * (clocks.start_up_s + kind.seats * seat_s)
    jobs = tournament.jobs
    return Estimate(tuple(kinds), likely / jobs, slow / jobs, longest / jobs)
