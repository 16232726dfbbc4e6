"""The matches of a tournament, listed or counted."""

from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.schedule import (
    ScheduledMatch,
    TableKind,
    list_matches,
    table_kinds,
)


def planned_matches(tournament: Tournament) -> list[ScheduledMatch]:
    """Return all matches of a tournament, in the order of play."""
    return list_matches(
        [entry.name for entry in tournament.entries],
        tournament.seats,
        tournament.rule_sets,
        rounds=tournament.rounds,
        blocks_per_entry=tournament.blocks_per_entry,
        orders=tournament.orders,
        mirrored=tournament.blocks == "mirrored",
        never_mirrored=tournament.remote_entries,
    )


def planned_table_kinds(tournament: Tournament) -> list[TableKind]:
    """Return the number of blocks and matches of each kind of table, without listing them."""
    return table_kinds(
        len(tournament.entries),
        tournament.seats,
        tournament.rule_sets,
        rounds=tournament.rounds,
        blocks_per_entry=tournament.blocks_per_entry,
        orders=tournament.orders,
    )
