"""The plan of a tournament."""

from collections import Counter

from asara_game.rules import format_rule_sets
from asara_server.cli.display.console import out, show_table
from asara_server.cli.display.quantities import count, duration
from asara_server.tournament.config.block_kinds import (
    needed_for_duplicate,
    tables_per_block,
    team_numbers,
)
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.estimate import Estimate
from asara_server.tournament.schedule.layout import Balance, Span, balance
from asara_server.tournament.schedule.legs import group_size
from asara_server.tournament.schedule.looks import looks_at
from asara_server.tournament.schedule.plan import planned_layout, planned_matches


def heading(tournament: Tournament, matches: int, at_once: str) -> str:
    """Return title and size of a tournament; `at_once` says how many matches play at once."""
    entries = count(len(tournament.entries), "entry")
    return f"{tournament.title}: {count(matches, 'match')} of {entries}, {at_once}"


def show_plan(tournament: Tournament, expected: Estimate) -> None:
    """Print blocks, matches and their balance for each kind of table, and the duration."""
    balances = {seats: balance(planned_layout(tournament), seats) for seats in tournament.seats}
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
        heading(tournament, expected.matches, f"{tournament.jobs} at a time"),
        ("rules", ">seats", ">blocks", ">matches", ">blocks per entry", ">matches per pair"),
        rows,
    )
    out.print(f"\n{_block_text(tournament)}")
    if tournament.blocks != "independent":
        out.print(_legs_text(tournament, expected))
    if tournament.until:
        out.print(_looks_text(tournament))
    if text := _team_text(tournament, balances[tournament.seats[0]]):
        out.print(text)
    quick, slow = duration(expected.likely_s), duration(expected.slow_s)
    out.print(f"Duration: about {quick} at 1 ms per decision, {slow} at 100 ms per decision;")
    out.print(f"at most {duration(expected.longest_s)}, if every bot uses up its clock.")
    if any(entry.build for entry in tournament.entries):
        out.print("Builds are not counted; `asara tournament check` measures them.")


def _span(span: Span) -> str:
    return f"{span.least:,}" if span.least == span.most else f"{span.least:,}–{span.most:,}"


def _block_text(tournament: Tournament) -> str:
    if tournament.blocks == "duplicate":
        tables = {
            tables_per_block(tournament.teams, seats, tournament.tables)
            for seats in tournament.seats
        }
        text = f"Each block plays a deal at up to {max(tables)} tables, each entry at one at most."
    else:
        orders = "rotation" if tournament.orders == "rotations" else "order"
        shared = tournament.blocks == "mirrored"
        deals = "all with the same deal" if shared else "each with a new deal"
        text = f"Each block plays every {orders} of the seats once, {deals}."
    if "blocks" not in tournament.model_fields_set:
        text += f"\n{_default_text(tournament)}"
    if tournament.blocks == "mirrored" and tournament.remote_entries:
        text += "\nIn blocks with an entry on another machine, each match has its own deal."
    return text


def _legs_text(tournament: Tournament, expected: Estimate) -> str:
    """Say how blocks that share deals are played; see `schedule.legs`."""
    legs = max(-(-kind.matches // kind.blocks) for kind in expected.kinds if kind.blocks)
    match_s = expected.likely_s * tournament.jobs / max(expected.matches, 1)
    size = group_size(expected.blocks, tournament.jobs, match_s)
    return (
        f"Blocks are played in groups of about {size:,}, and each group in {legs} legs: all bots\n"
        "are restarted between two matches with the same deal."
    )


def _looks_text(tournament: Tournament) -> str:
    """Say when the run may end early; see `schedule.looks`."""
    looks = [f"{number:,}" for number in looks_at(planned_matches(tournament))[:-1]]
    ranks = "all ranks are" if tournament.places is None else f"{tournament.places} ranks are"
    return (
        f"The run ends early if {'the first ' if tournament.places else ''}{ranks} settled after\n"
        f"{', '.join(looks)} matches."
    )


def _default_text(tournament: Tournament) -> str:
    """Say which kind of block was chosen by default, and why."""
    if tournament.blocks == "duplicate":
        return "Blocks are duplicate by default, as there are twice as many entries as seats."
    needed = needed_for_duplicate(tournament.teams, tournament.seats)
    return f"Blocks are mirrored, because\n{needed}."


def _team_text(tournament: Tournament, balance: Balance) -> str:
    if not balance.pairs_apart:
        return ""
    sizes = Counter(team_numbers(tournament.teams)).values()
    teams = count(sum(size > 1 for size in sizes), "team")
    return (
        f"{teams} of several entries; pairs that never meet: {balance.pairs_apart:,}.\n"
        "Meetings are counted between entries of different teams."
    )
