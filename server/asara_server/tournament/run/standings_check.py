"""Compares `standings.json` with the standings that follow from the results."""

import json
import math
from typing import Any, Final

from asara_server.text import plain
from asara_server.tournament.run.directory import standings_bytes
from asara_server.tournament.run.run_files import STANDINGS
from asara_server.tournament.standings.model import Standings

_TOLERANCE: Final = 2e-6
"""Difference of two numbers that other versions of numerical libraries may cause."""

_LONGEST: Final = 60
"""Characters of a value, or of a key."""


def standings_fault(found: bytes, computed: Standings) -> str | None:
    """Return the first value of `standings.json` that does not follow from the results.

    These are the standings that were computed from them.
    """
    expected = standings_bytes(computed)
    if expected == found:
        return None
    try:
        values = json.loads(found)
    except (ValueError, RecursionError):
        return f"{STANDINGS}: cannot be read: not JSON"
    difference = _difference("", json.loads(expected), values)
    if difference is not None:
        return f"{STANDINGS}: {difference}"
    if _form(found) == _form(expected):
        return None  # numbers within the tolerance
    return f"{STANDINGS}: not written as asara writes it: its text was changed"


def _difference(place: str, expected: Any, found: Any) -> str | None:
    """Return the first difference of two JSON values, with its place."""
    if isinstance(expected, float) and isinstance(found, int | float):
        if math.isclose(expected, found, rel_tol=0, abs_tol=_TOLERANCE):
            return None
    elif type(expected) is not type(found):
        pass
    elif isinstance(expected, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            inner = f"{place}.{plain(key, _LONGEST)}".lstrip(".")
            if key not in found or key not in expected:
                return f"{inner}: {'missing' if key in expected else 'extra'}"
            if difference := _difference(inner, expected[key], found[key]):
                return difference
        return None
    elif isinstance(expected, list):
        if len(expected) != len(found):
            return f"{place}: expected {len(expected)} by the results; found {len(found)}"
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            if difference := _difference(f"{place}[{index}]", one, other):
                return difference
        return None
    elif expected == found:
        return None
    return f"{place}: expected {_short(expected)} by the results; found {_short(found)}"


def _form(text: bytes) -> bytes:
    """Return a JSON text with every digit replaced, to compare its form."""
    return b"".join(line.split(b":")[0] + b"\n" for line in text.split(b"\n"))


def _short(value: object) -> str:
    return plain(json.dumps(value, ensure_ascii=False), _LONGEST)
