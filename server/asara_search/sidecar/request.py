"""A request: one line with a JSON object, whose members are read one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, Final, NoReturn, TypeVar

__all__ = ["Request", "RequestError", "quoted", "read_request"]

_LONGEST_QUOTE = 60  # characters
_LONGEST_SEED = 200  # characters

_DIGITS: Final = re.compile(r"[1-9][0-9]{0,18}")
_T = TypeVar("_T")


class RequestError(ValueError):
    """Raised for a request that cannot be carried out; the text gives the reason in one line."""


class Request:
    """The members of a request. Reading a member of the wrong kind raises RequestError."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def value(self, name: str) -> Any:
        """Return a member that the request must have."""
        self._read.add(name)
        if name not in self.members:
            raise RequestError(f"member {name!r} is missing")
        return self.members[name]

    def text(self, name: str, default: str | None = None) -> str:
        if name not in self.members and default is not None:
            self._read.add(name)
            return default
        value = self.value(name)
        if not isinstance(value, str):
            _refuse(name, "a string", value)
        return value

    def integer(self, name: str, lowest: int, highest: int, default: int | None = None) -> int:
        """Return an integer within limits; both limits are allowed values."""
        if name not in self.members and default is not None:
            self._read.add(name)
            return default
        value = self.value(name)
        if not _is_integer(value):
            _refuse(name, "an integer", value)
        if not lowest <= value <= highest:
            raise RequestError(f"{name}: {_number(value)} is not within {lowest:,} to {highest:,}")
        return int(value)

    def decision_id(self) -> int:
        """Return the number of a decision, or 0. JSON forms of messages have it as a string."""
        value = self.members.get("decision_id")
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            self._read.add("decision_id")
            return int(value)
        return self.integer("decision_id", 1, 2**63 - 1, 0)

    def list(self, name: str, most: int) -> list[Any]:
        """Return a list; it is empty if the member is missing."""
        if name not in self.members:
            self._read.add(name)
            return []
        value = self.value(name)
        if not isinstance(value, list):
            _refuse(name, "a list", value)
        if len(value) > most:
            raise RequestError(f"{name}: {len(value):,} entries, but the limit is {most:,}")
        return value

    def choice(self, name: str, known: Collection[str], default: str) -> str:
        """Return a member that must be one of these words."""
        value = self.text(name, default)
        if value not in known:
            raise RequestError(f"{name}: no {quoted(value)}; there is {', '.join(known)}")
        return value

    def seed(self) -> str | None:
        """Return the seed as text, or None if the request has no seed."""
        if "seed" not in self.members:
            return None
        value = self.value("seed")
        if not (isinstance(value, str) or _is_integer(value)):
            _refuse("seed", "an integer or a string", value)
        if isinstance(value, str) and len(value) > _LONGEST_SEED:
            raise RequestError(f"seed: more than {_LONGEST_SEED} characters")
        return str(value)

    def check_read(self) -> None:
        """Refuse members that nothing has read: they are usually mistakes."""
        unknown = self.members.keys() - self._read - {"id", "method"}
        if unknown:
            name = min(unknown)
            raise RequestError(f"member {quoted(name)} does not belong to this method")


def read_request(line: bytes) -> Request:
    """Parse the request on a line. Raise RequestError if it is not a JSON object."""
    if not line.strip():
        raise RequestError("the line is empty")
    try:
        value = json.loads(
            line.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as error:
        raise RequestError(f"not valid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise RequestError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RequestError:
        raise
    except (RecursionError, ValueError):
        raise RequestError(
            "not JSON that can be read: it is nested too deeply, or a number has too many digits"
        ) from None
    if not isinstance(value, dict):
        raise RequestError(f"a JSON object is needed, not {quoted(value)}")
    return Request(value)


def quoted(value: Any) -> str:
    """Return a JSON value, shortened for an error message."""
    try:
        text = json.dumps(value)
    except (RecursionError, ValueError):
        return "this value"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def _refuse(name: str, expected: str, value: Any) -> NoReturn:
    raise RequestError(f"{name}: {expected} is needed, not {quoted(value)}")


def _refuse_constant(name: str) -> NoReturn:
    raise RequestError(f"not JSON: {name} is not a number of JSON")


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members as a dict. Raise RequestError for a duplicate name."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError(f"member {quoted(twice)} is there more than once")
    return found


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: int) -> str:
    return f"{value:,}" if abs(value) < 10**20 else "a number of more than 20 digits"
