"""Shows a tournament file with all its keys: values, defaults, and a sentence about each."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from asara_game.rules import format_rule_sets
from asara_server.cli.display.console import out
from asara_server.tournament.config.tournament_file import Entry, Tournament


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
