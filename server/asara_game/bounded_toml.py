"""Reads TOML from untrusted sources in bounded time.

`tomllib` alone needs quadratic time for a key with many parts, and recurses into nested values.
"""

import re
import tomllib
from typing import Any, Final

_DOTS_IN_A_LINE: Final = 32
"""Maximum number of dots in one line, including dots in strings. A key never spans two lines."""

_LARGEST_NUMBER: Final = 1 << 512
"""Far more than the 64 bits that TOML promises. Python cannot show much larger numbers."""


def parse_toml(data: bytes, largest: int) -> dict[str, Any]:
    """Parse a TOML file of at most `largest` bytes. Raise ValueError if it is larger or invalid."""
    if len(data) > largest:
        raise ValueError(f"is larger than {largest:,} bytes")
    try:
        text = data.decode("utf-8-sig")  # some editors of Windows begin with a byte order mark
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
        raise ValueError(f"is not valid TOML: {_short(_explained(str(error), text))}") from None
    except RecursionError:
        raise ValueError("is not valid TOML: it is nested too deeply") from None
    except ValueError:  # of a number that Python refuses to read, or of a date out of range
        raise ValueError("is not valid TOML: it has a number or a date out of range") from None
    _check_numbers(tables)
    return tables


def _check_numbers(tables: dict[str, Any]) -> None:
    """Raise ValueError for an integer with more digits than Python can print."""
    values: list[Any] = [tables]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, int) and not -_LARGEST_NUMBER <= value < _LARGEST_NUMBER:
            raise ValueError("is not valid TOML: it has an integer of more than 512 bits")


_OVERWRITTEN: Final = re.compile(
    r"Cannot overwrite a value \(at line (\d+),|Cannot declare .* twice \(at line (\d+),"
)


def _explained(fault: str, text: str) -> str:
    """Describe a tomllib error for people, including the name of a duplicate key or table."""
    found = _OVERWRITTEN.match(fault)
    if found is None:
        return fault
    number = int(found[1] or found[2])
    line = text.split("\n")[number - 1].strip()
    if line.startswith("["):
        table = line.partition("#")[0].strip()
        single = table.strip("[]").strip()
        return (
            f"{table} in line {number} is there already; write its keys below the first, or begin "
            f"each one with [[{single}]] if there are several"
        )
    key = line.partition("=")[0].strip()
    return f"the key {key} in line {number} has a value already, in the same table; leave out one"


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:150]} … {text[-45:]}"
