"""Describes faults that pydantic finds in a configuration file, in words for the file's author."""

import difflib
import re
from collections.abc import Mapping
from datetime import date, time
from types import MappingProxyType
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from asara_server.text import plain
from asara_server.tournament.config.names import name_fault

_LONGEST_VALUE = 60
_LONGEST_LINE = 1_000
_MOST_FAULTS = 20
_EXPECTED: Final = {
    "bool_type": "must be true or false",
    "dict_type": "must be a table of keys and values",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "model_type": "must be a table of keys and values",
    "string_type": "must be a text in quotes",
    "tuple_type": "must be a list",
}
"""Plain words for Python types in pydantic's messages."""
_UNQUOTED: Final = {"bool_type", "float_type", "int_type"}


def describe(
    error: ValidationError, model: type[BaseModel], data: Mapping[str, Any] = MappingProxyType({})
) -> list[str]:
    """Return one line per fault: the key as the file writes it, the fault, and the remedy.

    The text of a ValueError that a validator raised is shown unchanged.

    List entries are identified by their number, counted from 1, and their name in `data`.
    """
    found = [
        details
        for details in error.errors(include_url=False)
        if details["type"] != "default_factory_not_called"  # a default derived from a faulty key
    ]
    misspelt = {
        (*details["loc"][:-1], _meant(details["loc"], model))
        for details in found
        if details["type"] == "extra_forbidden"
    }
    found = [one for one in found if one["type"] != "missing" or one["loc"] not in misspelt]
    lines = [_line(details, model, data) for details in found[:_MOST_FAULTS]]
    more = len(found) - len(lines)
    return [*lines, f"{more:,} more faults"] if more > 0 else lines


def numbered(index: int, name: object) -> str:
    """Return the wording for an entry in messages, such as `entry 2 'greedy'`."""
    text = f"entry {index + 1}"
    return f"{text} {name!r}" if isinstance(name, str) and name and not name_fault(name) else text


def _line(details: ErrorDetails, model: type[BaseModel], data: Mapping[str, Any]) -> str:
    key = _key(details["loc"], data)
    fault = _fault(details, model)
    return plain(f"{key}: {fault}" if key else fault, longest=_LONGEST_LINE)


def _key(location: tuple[int | str, ...], data: Mapping[str, Any]) -> str:
    if len(location) > 1 and location[0] == "entries" and isinstance(location[1], int):
        entries = data.get("entries", ())
        entry = entries[location[1]] if location[1] < len(entries) else None
        name = entry.get("name") if isinstance(entry, dict) else getattr(entry, "name", None)
        rest = _key(location[2:], {})
        return ": ".join(filter(None, (numbered(location[1], name), rest)))
    key = ""
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def _fault(details: ErrorDetails, model: type[BaseModel]) -> str:
    match details["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return _unknown_key(details["loc"], model)
        case "value_error":
            return str(details["ctx"]["error"])
    given = details["input"]
    message = _EXPECTED.get(details["type"]) or re.sub("^(Input|String) ", "", details["msg"])
    message = message.replace("should", "must")
    message = message.replace("greater than or equal to", "at least")
    message = message.replace("less than or equal to", "at most")
    if isinstance(given, str) and details["type"] in _UNQUOTED:
        message += ", without quotes"
    return f"{message}, not {as_written(given)}"


def as_written(value: object) -> str:
    """Return a value as its author would write it in TOML, shortened if it is long."""
    text = _toml(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case date() | time():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
        case _:
            return repr(value)


def _unknown_key(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    *parents, key = location
    if parents and key in model.model_fields:
        header = f"[[{parents[0]}]]" if len(parents) > 1 else f"[{parents[0]}]"
        return (
            f"is a key of the whole file, and belongs to {header} because it is written below "
            f"that line; move it above the first line in brackets"
        )
    lines = _lines_above(model)
    if key in lines:
        return f"unknown setting here; it belongs below the line {lines[key]}"
    if meant := _meant(location, model):
        return f"unknown setting; did you mean {meant!r}?"
    if close := difflib.get_close_matches(str(key), lines, n=1):
        return f"unknown setting; did you mean {close[0]!r} below the line {lines[close[0]]}?"
    known = _section_of(location, model).model_fields
    return f"unknown setting; the settings here are {', '.join(known)}"


def _meant(location: tuple[int | str, ...], model: type[BaseModel]) -> str | None:
    """Return the key that is probably misspelt in an unknown key; None if none is similar."""
    key = str(location[-1])
    if key in model.model_fields or key in _lines_above(model):
        return None
    known = _section_of(location, model).model_fields
    return next(iter(difflib.get_close_matches(key, known, n=1)), None)


def _section_of(location: tuple[int | str, ...], model: type[BaseModel]) -> type[BaseModel]:
    """Return the model of the table that contains a key."""
    section = model
    for part in location[:-1]:
        if isinstance(part, str):
            section = _table_of(section, part) or section
    return section


def _lines_above(model: type[BaseModel]) -> dict[str, str]:
    """Return the line in brackets above each key in the tables of a file."""
    lines: dict[str, str] = {}
    for name, field in model.model_fields.items():
        if table := _table_of(model, name):
            line = f"[[{name}]]" if get_origin(field.annotation) is tuple else f"[{name}]"
            lines |= dict.fromkeys(table.model_fields, line)
    return lines


def _table_of(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """Return the model of the tables with this key; None if the key has another kind of value."""
    annotation = model.model_fields[key].annotation
    kinds = (annotation, *get_args(annotation))
    tables = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return tables[0] if tables else None
