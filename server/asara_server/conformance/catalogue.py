"""All cases, read from the files in the `cases` folder."""

import shlex
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

import yaml
from pydantic import TypeAdapter

from asara_server.conformance.case import Case, Level
from asara_server.text import plain
from asara_server.user_error import UserError


class SelectionError(UserError, ValueError):
    """Raised when a pattern or a list of known failures refers to a case that does not exist."""


def all_cases() -> list[Case]:
    """Return all cases, sorted by level and file name; the order within each file is kept."""
    folder = files("asara_server.conformance") / "cases"
    adapter = TypeAdapter(list[Case])
    cases: list[Case] = []
    for level in Level:
        for file in sorted((folder / level).iterdir(), key=lambda file: file.name):
            data: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
            cases += adapter.validate_python([{"level": level, **case} for case in data])
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    return cases


def selected(cases: list[Case], run: list[str], level: Level | None = None) -> list[Case]:
    """Return the cases up to a level that match a pattern of `run`; without patterns, all of them.

    A pattern is a case name in which `*` stands for any text. Raises SelectionError if a pattern
    matches no case. Without a level, `run` selects from all levels; without `run` as well, the
    level is `protocol`.
    """
    for pattern in run:
        if not any(fnmatchcase(case.name, pattern) for case in cases):
            shown = shlex.quote(pattern)
            raise SelectionError(f"--case {shown}: no case has such a name; see --list")
    highest = level or (Level.KIT if run else Level.PROTOCOL)
    levels = list(Level)[: list(Level).index(highest) + 1]
    return [case for case in cases if case.level in levels and (not run or _matches(case, run))]


def known_failing(text: str, cases: list[Case]) -> frozenset[str]:
    """Return the case names in a list of known failures: one per line, with comments after `#`.

    Raises SelectionError for a name that belongs to no case.
    """
    names = {case.name for case in cases}
    found = set()
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "see --list"
            raise SelectionError(f"line {number}: there is no case {plain(name)!r}; {hint}")
        found.add(name)
    return frozenset(found)


def _matches(case: Case, patterns: list[str]) -> bool:
    return any(fnmatchcase(case.name, pattern) for pattern in patterns)
