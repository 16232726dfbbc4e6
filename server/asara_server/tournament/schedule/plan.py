"""The matches of a tournament: listed, counted, and an estimate of how long they take."""

import math
from dataclasses import dataclass

from asara_game.vocabulary import RuleSet
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.layout import Layout, TableKind, table_kinds
from asara_server.tournament.schedule.legs import group_size
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

START_S = 0.3
"""Assumed core seconds to start a Python bot."""

EXCHANGE_S = 0.001
"""Assumed core seconds of the referee and a bot's client for each decision."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected size and duration of a tournament."""

    kinds: tuple[TableKind, ...]
    legs: int
    """Number of legs in which the blocks of a group are played."""
    group: int
    """Approximate number of blocks in a group."""
    likely_s: float
    """Seconds if a bot takes a millisecond for every decision, with its starts and the referee."""
    slow_s: float
    """Seconds if a bot takes 100 ms for every decision, with its starts and the referee."""
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
    longest_decision_s = clocks.increment_s + clocks.grace_s
    likely = slow = longest = 0.0
    for kind in kinds:
        decisions = _DECISIONS[kind.seats]
        if RuleSet.PROFESSIONAL in kind.rule_sets:
            decisions = round(decisions * _PROFESSIONAL)
        likely += kind.matches * kind.seats * decisions * (0.001 + EXCHANGE_S)
        slow += kind.matches * kind.seats * decisions * (0.1 + EXCHANGE_S)
        seat_s = clocks.time_bank_s + decisions * longest_decision_s
        longest += kind.matches * (clocks.start_up_s + kind.seats * seat_s)
    jobs, blocks = tournament.jobs, sum(kind.blocks for kind in kinds)
    legs, group = 1, blocks
    if tournament.blocks != "independent":
        legs = max(-(-kind.matches // kind.blocks) for kind in kinds if kind.blocks)
        group = group_size(blocks, jobs, likely / max(sum(kind.matches for kind in kinds), 1))
    seats, entries = sum(kind.matches * kind.seats for kind in kinds), len(tournament.entries)
    kept = min(legs * math.ceil(blocks / max(group, 1)) * entries, seats)  # none outlives a leg
    starts = sum(kept if one == "run" else seats for one in tournament.process_policies.values())
    start = START_S * starts / entries
    return Estimate(
        tuple(kinds), legs, group, (likely + start) / jobs, (slow + start) / jobs, longest / jobs
    )
