"""Shows the plan of a tournament, and its file with all keys."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from asara_game.rules import format_rule_sets
from asara_server.cli.display.console import out, show_table
from asara_server.cli.display.quantities import duration
from asara_server.text import count
from asara_server.tournament.config.fields import (
    needed_for_duplicate,
    tables_per_block,
    team_numbers,
)
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.schedule.layout import Balance, Layout, Span, balance
from asara_server.tournament.schedule.schedule import (
    EXCHANGE_S,
    START_S,
    Estimate,
    looks_at,
    planned_matches,
)


def heading(tournament: Tournament, matches: int, at_once: str) -> str:
    """Return a tournament's title and size; `at_once` is the number of matches at a time, in
    words.
    """
    entries = count(len(tournament.entries), "entry")
    return f"{tournament.title}: {entries}, {count(matches, 'match')}, {at_once}"


def show_plan(tournament: Tournament, expected: Estimate) -> None:
    """Print blocks, matches and their balance for each kind of table, and the expected duration."""
    layout = Layout.of(tournament.teams, tournament)
    balances = {seats: balance(layout, seats) for seats in tournament.seats}
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
        ("rules", ">seats", ">blocks", ">matches", ">blocks per entry", ">blocks per pair"),
        rows,
    )
    out.print()
    out.print(_block_text(tournament))
    if tournament.blocks != "independent":
        out.print(_legs_text(expected))
    if tournament.until:
        out.print(_looks_text(tournament))
    if text := _team_text(tournament, balances[tournament.seats[0]]):
        out.print(text)
    quick, slow, longest = (
        duration(max(seconds, 1.0), whole_s=True)
        for seconds in (expected.likely_s, expected.slow_s, expected.longest_s)
    )
    out.print(
        f"Expected duration: {quick} if bots need 1 ms per decision, {slow} if they need 100 ms. "
        f"This assumes {START_S:g} s to start a bot, and {EXCHANGE_S * 1000:g} ms per decision for "
        "the referee and the bot's client."
    )
    out.print(f"Maximum duration: {longest}, if every bot uses up start-up time and clock.")
    if any(entry.build for entry in tournament.entries):
        out.print("This excludes builds; `asara tournament check` measures them.")


def _span(span: Span) -> str:
    return f"{span.least:,}" if span.least == span.most else f"{span.least:,}–{span.most:,}"


def _block_text(tournament: Tournament) -> str:
    if tournament.blocks == "duplicate":
        tables = {
            tables_per_block(tournament.teams, seats, tournament.tables)
            for seats in tournament.seats
        }
        text = (
            f"In each block, up to {max(tables)} tables with different entries play the same deal."
        )
    else:
        rotations = tournament.orders == "rotations"
        shared = tournament.blocks == "mirrored"
        until = "they have played in every order of the seats"
        if rotations:
            until = "each entry has played once in every seat"
        text = f"A block repeats one deal with the same entries until {until}."
        if not shared:
            text = f"In a block, the same entries play until {until}, with a new deal each time."
    if "blocks" not in tournament.model_fields_set:
        text += f" {_default_text(tournament)}"
    if tournament.blocks == "mirrored" and tournament.remote_entries:
        text += " If an entry is on another machine, every match of its blocks has a new deal."
    return text


def _legs_text(expected: Estimate) -> str:
    """Return how blocks that share deals are played; see `schedule`."""
    groups, leg = f"in groups of about {expected.group:,}, each", " in the group"
    if expected.group >= expected.blocks:
        groups, leg = "together,", ""
    return (
        f"The blocks are played {groups} in {expected.legs} legs; a leg consists of one match from "
        f"every block{leg}. All bots restart between legs, so that they cannot remember a deal."
    )


def _looks_text(tournament: Tournament) -> str:
    """Return when the run may end early; see `schedule.schedule`."""
    looks = [f"{number:,}" for number in looks_at(planned_matches(tournament))[:-1]]
    ranks = "all ranks are" if tournament.places is None else f"{tournament.places} ranks are"
    return (
        f"The run ends early if {'the first ' if tournament.places else ''}{ranks} settled. It "
        f"checks this after {', '.join(looks)} matches."
    )


def _default_text(tournament: Tournament) -> str:
    """Return which kind of block was chosen by default, and why."""
    if tournament.blocks == "duplicate":
        return (
            'Such blocks are called "duplicate", and are the default if there are enough entries.'
        )
    needed = needed_for_duplicate(tournament.teams, tournament.seats)
    return (
        'Such blocks are called "mirrored". "Duplicate" blocks (one deal at several tables) '
        f"need {needed}."
    )


def _team_text(tournament: Tournament, balance: Balance) -> str:
    if not balance.pairs_apart:
        return ""
    sizes = Counter(team_numbers(tournament.teams)).values()
    teams = count(sum(size > 1 for size in sizes), "team")
    return (
        f"{teams} with several entries; {count(balance.pairs_apart, 'pair')} of team-mates never "
        "meet. `blocks per pair` counts only entries from different teams."
    )


# The keys of the file


def show_keys(tournament: Tournament) -> None:
    """Print every key of the tournament file, in the syntax of the file."""
    for line in _lines(tournament):
        out.print(line, soft_wrap=True)


def _lines(tournament: Tournament) -> Iterator[str]:
    tables = {"clocks": tournament.clocks, "limits": tournament.limits, "remote": tournament.remote}
    yield from _keys(tournament, {*tables, "entries"})
    for name, table in tables.items():
        if table is not None:
            yield f"\n[{name}]"
            yield from _keys(table)
    for number, entry in enumerate(tournament.entries):
        yield "\n[[entries]]"
        implied = {"directory", "build", "command"} if entry.bot else set()
        # The first entry explains the keys; for the others, only keys that are set are shown.
        keys = set(Entry.model_fields)
        shown = entry.model_fields_set & keys - implied if number else keys
        own = entry.model_copy(update=dict.fromkeys(implied))
        yield from _keys(own, keys - shown, explained=not number)


def _keys(
    table: BaseModel, hidden: Collection[str] = (), *, explained: bool = True
) -> Iterator[str]:
    for key, field in type(table).model_fields.items():
        if key in hidden:
            continue
        value = getattr(table, key)
        if explained:
            yield f"# {' '.join((field.description or '').split())}"
        default = "" if key in table.model_fields_set else "  # default"
        empty = value is None or value in ("", ())
        yield f"# {key}: not set" if empty else f"{key} = {_toml(value)}{default}"


def _toml(value: Any) -> str:
    """Return a value in TOML, the syntax of a tournament file."""
    if isinstance(value, frozenset):
        return json.dumps(format_rule_sets(value))
    if isinstance(value, bool | int | float):
        return f"{value:g}" if isinstance(value, float) else json.dumps(value)
    if isinstance(value, Mapping):
        pairs = (f"{key} = {_toml(one)}" for key, one in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False)
