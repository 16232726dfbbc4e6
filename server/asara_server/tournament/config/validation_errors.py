"""Faults that pydantic found in a configuration file, in words for its author."""

import difflib
from collections.abc import Iterable

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from asara_server.text import plain

_LONGEST_VALUE = 60
_LONGEST_LINE = 1_000
_MOST_FAULTS = 20


def problem(text: str) -> PydanticCustomError:
    """Return an error for a validator to raise; the user reads its text unchanged."""
    return PydanticCustomError("problem", "{text}", {"text": text})


def describe(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return one line per fault: the key as the file writes it, the fault and the remedy."""
    found = [
        details
        for details in error.errors(include_url=False)
        if details["type"] != "default_factory_not_called"  # a default that follows from a fault
    ]
    lines = [_line(details, model) for details in found[:_MOST_FAULTS]]
    more = len(found) - len(lines)
    return [*lines, f"{more:,} more faults"] if more > 0 else lines


def _line(details: ErrorDetails, model: type[BaseModel]) -> str:
    key = _key(details["loc"])
    fault = _fault(details, model)
    return plain(f"{key}: {fault}" if key else fault, longest=_LONGEST_LINE)


def _key(location: Iterable[int | str]) -> str:
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
        case "problem":
            return details["msg"]
    given = details["input"]
    value = str(given).lower() if isinstance(given, bool) else repr(given)  # as TOML has it
    if len(value) > _LONGEST_VALUE:
        value = value[: _LONGEST_VALUE - 1] + "…"
    return f"{details['msg'].replace('Input should', 'should')}, not {value}"


def _unknown_key(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    *parents, key = location
    known = list(_section(model, parents).model_fields)
    close = difflib.get_close_matches(str(key), known, n=1)
    if close:
        return f"unknown key; did you mean {close[0]!r}?"
    return f"unknown key; known are {', '.join(known)}"


def _section(model: type[BaseModel], parents: Iterable[int | str]) -> type[BaseModel]:
    """Return the model of the section at this path."""
    for part in parents:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        while not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            annotation = annotation.__args__[0]  # type: ignore[union-attr]
        model = annotation
    return model
