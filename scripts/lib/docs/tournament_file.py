"""Generates the reference of the tournament file from its models."""

import json
from collections.abc import Iterator
from typing import Any, Final

from asara_server.tournament.config.tournament_file import Tournament

_TABLES: Final = {
    "Tournament": "The file",
    "ClockSettings": "`[clocks]`",
    "Limits": "`[limits]`",
    "Remote": "`[remote]`",
    "Entry": "`[[entries]]`",
}
"""Headings of the tables, by class."""

_WITHIN: Final = ("clocks", "limits", "remote", "entries")

COMPUTED: Final = {
    "title": "the file's name",
    "seed": "a new secret",
    "places": "all",
    "blocks": '`"duplicate"`',
    "jobs": "number of CPU cores",
    "tokens": "beside the referee's key",
}
"""Defaults that are computed, so the models do not contain them."""


_HEAD: Final = """\
# The tournament file

Every key, with the values that it takes. For examples, see
[](/server/asara_server/tournament/README.md). To see all settings of a file of your own, run
`asara tournament plan FILE.toml --explain`.
"""


def page() -> str:
    """Return the reference page, with a table of keys for each table of the file."""
    schema = Tournament.model_json_schema()
    models = {"Tournament": schema, **schema["$defs"]}
    return _HEAD + "".join(line for name in _TABLES for line in _table(name, models[name]))


def _table(name: str, model: dict[str, Any]) -> Iterator[str]:
    yield f"\n## {_TABLES[name]}\n\n"
    yield "{.stacked}\n| key | values | default | meaning |\n|---|---|---|---|\n"
    for key, field in model["properties"].items():
        if name != "Tournament" or key not in _WITHIN:
            default = "required" if key in model.get("required", ()) else _default(field)
            default = COMPUTED.get(key, default)
            meaning = " ".join(field["description"].split())
            yield f"| `{key}` | {_values(field)} | {default} | {meaning} |\n"


def _values(field: dict[str, Any]) -> str:
    """Return the values that a key accepts, as far as its type shows them."""
    choices = [one for one in field.get("anyOf", [field]) if one.get("type") != "null"]
    (one,) = choices
    if "enum" in one or "const" in one:
        return " or ".join(f'`"{value}"`' for value in one.get("enum", [one.get("const")]))
    match one.get("type"):
        case "boolean":
            return "`true` or `false`"
        case "integer" | "number" as kind:
            return f"{'integer' if kind == 'integer' else 'number'}{_bounds(one)}"
        case "string":
            return "path" if one.get("format") == "path" else "text"
    return ""


def _bounds(field: dict[str, Any]) -> str:
    lowest, above = field.get("minimum"), field.get("exclusiveMinimum")
    start = f"more than {above}" if above is not None else f"{lowest}"
    return f", {start} to {field['maximum']:,}" if "maximum" in field else f", {start} or more"


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    if default in (None, "", [], {}):
        return "none"
    if isinstance(default, bool | str):
        return f"`{json.dumps(default)}`"
    return f"{default:,}".removesuffix(".0")
