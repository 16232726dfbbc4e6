"""The plan of a tournament."""

from asara_game.rules import format_rule_sets
from asara_server.cli.display.console import out, show_table
from asara_server.cli.display.quantities import count, duration
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.estimate import Estimate
from asara_server.tournament.schedule.schedule import Span, balance


def heading(tournament: Tournament, matches: int, at_once: str) -> str:
    """Return title and size of a tournament; `at_once` says how many matches play at once."""
    entries = count(len(tournament.entries), "entry")
    return f"{tournament.title}: {count(matches, 'match')} of {entries}, {at_once}"


def show_plan(tournament: Tournament, expected: Estimate, decision_ms: float) -> None:
    """Print blocks, matches and their balance for each kind of table, and the duration."""
    balances = {
        seats: balance(
            len(tournament.entries),
            seats,
            rounds=tournament.rounds,
            blocks_per_entry=tournament.blocks_per_entry,
        )
        for seats in tournament.seats
    }
    rows = [
        (
            format_rule_sets(kind.rule_sets),
            str(kind.seats),
            f"{kind.blocks:,}",
            f"{kind.matches:,}",
            _span(balances[kind.seats].blocks_per_entry),
            _span(balances[kind.seats].meetings_per_pair),
        )
        for kind in expected.kinds
    ]
    if len(rows) > 1:
        rows.append(("all", "", f"{expected.blocks:,}", f"{expected.matches:,}", "", ""))
    show_table(
        heading(tournament, expected.matches, f"{tournament.concurrency} at once"),
        ("rules", ">seats", ">blocks", ">matches", ">blocks per entry", ">meetings per pair"),
        rows,
    )
    out.print(f"\n{_block_text(tournament)}")
    out.print(f"Duration: about {duration(expected.likely_s)}, at {decision_ms:g} ms per decision;")
    out.print(f"at most {duration(expected.longest_s)}, if every bot uses up its clock.")


def _span(span: Span) -> str:
    return f"{span.least:,}" if span.least == span.most else f"{span.least:,}–{span.most:,}"


def _block_text(tournament: Tournament) -> str:
    orders = "rotation" if tournament.orders == "rotations" else "order"
    deals = "one deal" if tournament.blocks == "mirrored" else "a new deal for each match"
    text = f"Each block plays every {orders} of its seats, with {deals}."
    if tournament.blocks == "mirrored" and tournament.remote_entries:
        text += "\nIn blocks with an entry on another machine, each match has its own deal."
    return text
