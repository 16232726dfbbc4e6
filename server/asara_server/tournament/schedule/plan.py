"""The matches of a tournament, listed or counted."""

from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.layout import Layout, TableKind, table_kinds
from asara_server.tournament.schedule.schedule import (
    ScheduledMatch,
    list_matches,
)


def planned_layout(tournament: Tournament) -> Layout:
    """Return everything that determines the schedule, except the kinds of tables."""
    return Layout(
        tournament.teams,
        rounds=tournament.rounds,
        blocks_per_entry=tournament.blocks_per_entry,
        orders=tournament.orders,
        blocks=tournament.blocks,
        tables=tournament.tables,
    )


def planned_matches(tournament: Tournament) -> list[ScheduledMatch]:
    """Return all matches of a tournament, in the order of play."""
    return list_matches(
        [entry.name for entry in tournament.entries],
        tournament.seats,
        tournament.rules,
        planned_layout(tournament),
        remote=tournament.remote_entries,
    )


def planned_table_kinds(tournament: Tournament) -> list[TableKind]:
    """Count the blocks and matches of each kind of table, without listing them."""
    return table_kinds(planned_layout(tournament), tournament.seats, tournament.rules)
