"""Says in words for people what pydantic found wrong in a configuration file."""

import difflib
from collections.abc import Iterable

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

_LONGEST_VALUE = 60


def problem(text: str) -> PydanticCustomError:
    """An error for a validator to raise, whose text reaches the user as it is."""
    return PydanticCustomError("problem", "{text}", {"text": text})


def describe(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """One line per problem: the key as it stands in the file, then what is wrong and what to do."""
    return [_line(details, model) for details in error.errors(include_url=False)]


def _line(details: ErrorDetails, model: type[BaseModel]) -> str:
    place = _place(details["loc"])
    words = _words(details, model)
    return f"{place}: {words}" if place else words


def _place(location: Iterable[int | str]) -> str:
    place = ""
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return place


def _words(details: ErrorDetails, model: type[BaseModel]) -> str:
    match details["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return _unknown_key(details["loc"], model)
        case "problem":
            return details["msg"]
    value = repr(details["input"])
    if len(value) > _LONGEST_VALUE:
        value = value[: _LONGEST_VALUE - 1] + "…"
    return f"{details['msg'].replace('Input should', 'should')}, not {value}"


def _unknown_key(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    *parents, key = location
    known = list(_table(model, parents).model_fields)
    close = difflib.get_close_matches(str(key), known, n=1)
    if close:
        return f"unknown key; did you mean {close[0]!r}?"
    return f"unknown key; known are {', '.join(known)}"


def _table(model: type[BaseModel], parents: Iterable[int | str]) -> type[BaseModel]:
    """The model of the table that the path leads to."""
    for part in parents:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        while not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            annotation = annotation.__args__[0]  # type: ignore[union-attr]
        model = annotation
    return model
