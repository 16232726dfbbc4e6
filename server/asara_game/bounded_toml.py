"""Reads TOML of unknown origin in bounded time.

`tomllib` takes time in the square of the number of parts of a key, and recursion for nested values.
"""

import tomllib
from typing import Any, Final

_DOTS_IN_A_LINE: Final = 32
"""Dots in one line, those in its texts included. A key ends in the line in which it begins."""

_LARGEST_NUMBER: Final = 1 << 63
"""TOML promises integers of 64 bits."""


def parse_toml(data: bytes, largest: int) -> dict[str, Any]:
    """Return the tables of a TOML file of at most `largest` bytes; raise ValueError."""
    if len(data) > largest:
        raise ValueError(f"is larger than {largest:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError("is not a text file in UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _DOTS_IN_A_LINE:
            raise ValueError(
                f"has more than {_DOTS_IN_A_LINE} dots in line {number}; divide it, or use tables"
            )
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not valid TOML: {_short(str(error))}") from None
    except RecursionError:
        raise ValueError("is not valid TOML: it is nested too deeply") from None
    except ValueError:  # of a number that Python refuses to read, or of a date out of range
        raise ValueError("is not valid TOML: it has a number or a date out of range") from None
    _check_numbers(tables)
    return tables


def _check_numbers(tables: dict[str, Any]) -> None:
    """Raise ValueError for an integer that has more than 64 bits."""
    values: list[Any] = [tables]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, int) and not -_LARGEST_NUMBER <= value < _LARGEST_NUMBER:
            raise ValueError("is not valid TOML: it has an integer of more than 64 bits")


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:150]} … {text[-45:]}"
