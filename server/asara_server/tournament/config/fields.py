"""Field types of the tournament file, with their validation.

Paths are relative to the file's directory, which is called `base` in the validation context.

Each entry belongs to a team; an entry without a team counts as a team of its own. Team-mates never
sit at one table, and never play the same deal at the same time.
"""

import errno
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from asara_game.rules import format_rule_sets, parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.bounded_file import open_ordinary
from asara_server.network.addresses import split_address
from asara_server.text import plain
from asara_server.tournament.config.names import name_fault
from asara_server.tournament.config.validation_errors import as_written

SEATS = (2, 3, 4)
"""Numbers of seats that the game allows."""
MOST_SECONDS = 86_400
MOST_JOBS = 10_000

_NEVER_VISIBLE = tuple(map(Path, ("/", "/etc", "/home", "/run", "/tmp", "/var")))  # noqa: S108


def base_directory(info: ValidationInfo) -> Path:
    """Return the directory to which the file's paths are relative."""
    base: Path = (info.context or {}).get("base", Path.cwd())
    return base


def exposes_too_much(path: Path) -> bool:
    """Return True if no bot may see this whole directory, for example a home, /etc or /proc."""
    try:
        home = Path.home()
    except RuntimeError:  # this user has none
        home = Path("/home")
    never = (*_NEVER_VISIBLE, home, *home.parents)
    return path in never or bool({"dev", "proc"} & set(path.parts[1:2]))


def _as_list(value: object) -> list[object]:
    """Return a list unchanged, and any other value as a list with one element."""
    items = value if isinstance(value, list) else [value]
    if not items:
        raise ValueError("is empty; name at least one")
    return items


def _check_distinct(items: Sequence[object], kind: str) -> None:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise ValueError(f"names {kind} {item!r} twice")


def _seat_counts(value: object) -> tuple[int, ...]:
    seats = [item for item in _as_list(value) if type(item) is int and item in SEATS]
    if len(seats) < len(_as_list(value)):
        raise ValueError(f"must be 2, 3, 4 or a list of these, not {as_written(value)}")
    _check_distinct(seats, "the number")
    return tuple(seats)


def _rules(value: object) -> tuple[frozenset[RuleSet], ...]:
    found = []
    for text in _as_list(value):
        if not isinstance(text, str):
            raise ValueError(f"must be a text such as 'pro+gifts', not {as_written(text)}")
        found.append(parse_rule_sets(text))
    _check_distinct([format_rule_sets(rules) for rules in found], "the rules")
    return tuple(found)


def _checked_name(name: str) -> str:
    if fault := name_fault(name):
        raise ValueError(fault)
    return name


def _checked_title(title: str) -> str:
    if title != plain(title, None):
        raise ValueError(f"{title!r} has characters that are not visible; leave them out")
    return title


def _variable_text(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _directory(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str | Path):
        raise ValueError(f"must be the path of a folder, not {as_written(value)}")
    path = _resolved(value, info)
    if not path.is_dir():
        fault = "is a file, not a folder" if path.exists() else "does not exist"
        raise ValueError(f"{str(path)!r} {fault}")
    return path


def _resolved(value: str | Path, info: ValidationInfo) -> Path:
    """Return an absolute path without links, provided that the system can access it."""
    try:
        path = Path(os.path.realpath(base_directory(info) / Path(value).expanduser()))
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except RuntimeError:
        fault = "names a user who does not exist"
    except ValueError:
        fault = "cannot be a path"
    except OSError as error:  # a loop, too long, or not permitted
        looped = error.errno == errno.ELOOP
        fault = "is a loop of links" if looped else f"cannot be a path: {error.strerror}"
    else:
        return path
    raise ValueError(f"{plain(repr(str(value)), longest=302)} {fault}")


def _readable_paths(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, list) or not all(isinstance(path, str | Path) for path in value):
        raise ValueError(f"must be a list of paths, not {as_written(value)}")
    paths = []
    for text in value:
        target = _resolved(text, info)
        if not target.exists():
            raise ValueError(f"{str(target)!r} does not exist")
        if exposes_too_much(target):
            raise ValueError(f"{str(target)!r} is more than a bot may see; name only what it needs")
        path = base_directory(info) / Path(text).expanduser()
        # Removing ".." from a path through a link would change where the path leads.
        paths.append(target if ".." in path.parts else Path(os.path.normpath(path)))
    return tuple(paths)


def _file_path(value: object, info: ValidationInfo) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError(f"must be the path of a file, not {as_written(value)}")
    return _resolved(value, info)


def _readable_file(value: object, info: ValidationInfo) -> Path:
    path = _file_path(value, info)
    try:
        with open_ordinary(path):
            return path
    except IsADirectoryError:
        raise ValueError(f"{str(path)!r} is not a file") from None
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error.strerror}") from None


def _listen_address(address: str) -> str:
    split_address(address)
    return address


Name = Annotated[str, AfterValidator(_checked_name)]
Title = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_checked_title)]
"""A line of visible characters."""
SeatCounts = Annotated[tuple[int, ...], BeforeValidator(_seat_counts)]
"""Distinct numbers of seats; a single number is accepted as a list."""
RulesList = Annotated[tuple[frozenset[RuleSet], ...], BeforeValidator(_rules)]
"""Distinct combinations of rule sets; a single combination is accepted as a list."""
Orders = Literal["rotations", "all"]
"""Seat orders that a group plays: each entry once in each seat, or all permutations."""
BlockKind = Literal["mirrored", "independent", "duplicate"]
"""How the matches of a block share deals.

- `mirrored`: one group plays the same deal in all its seat orders.
- `independent`: each match has a deal of its own.
- `duplicate`: several tables play the same deal at once. An entry sits at one of these tables only.
"""
Directory = Annotated[Path, BeforeValidator(_directory)]
"""An existing directory, resolved."""
ReadablePaths = Annotated[tuple[Path, ...], BeforeValidator(_readable_paths)]
"""Absolute paths of existing files, directories, and links to either, which a bot may read."""
FilePath = Annotated[Path, BeforeValidator(_file_path)]
"""The resolved path of a file, which need not exist."""
ReadableFile = Annotated[Path, BeforeValidator(_readable_file)]
"""The resolved path of a file that can be read."""
ListenAddress = Annotated[str, AfterValidator(_listen_address)]
"""`host:port`."""
VariableText = Annotated[str, BeforeValidator(_variable_text)]
"""Value of an environment variable; a number is converted to text."""
Jobs = Annotated[int, Field(ge=1, le=MOST_JOBS)]
"""A number of matches in parallel."""
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS, allow_inf_nan=False)]
"""A duration in seconds: above 0, up to a day."""
SecondsOrZero = Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]
"""A duration in seconds: from 0 up to a day."""

# Blocks and teams

DEFAULT_TABLES = 4
"""Default number of tables in a duplicate block. They remove about three quarters of the luck of
the deal; twice as many would remove only half of the rest.
"""


def team_numbers(teams: Sequence[str]) -> tuple[int, ...]:
    """Return each entry's team number. Team names that differ only by case are the same team."""
    numbers: dict[str, int] = {}
    return tuple(
        numbers.setdefault(team.casefold() or f"\0{place}", len(numbers))
        for place, team in enumerate(teams)
    )


def largest_team(teams: Sequence[str]) -> tuple[str, int]:
    """Return the name and the size of the largest team; if several are equally large, the first.

    The name is empty if the entry has no team.
    """
    numbers = team_numbers(teams)
    number, size = Counter(numbers).most_common(1)[0]
    return teams[numbers.index(number)], size


def tables_per_block(teams: Sequence[str], seats: int, tables: int) -> int:
    """Return the number of tables in the largest possible duplicate block; below two, none is
    possible.

    Every entry has the same number of blocks, and a block has at most one entry of a team. A team
    of s among n entries therefore needs at least s/n of all seats, but gets at most one seat per
    block. So a block has at most n/s seats.
    """
    if not teams:
        return 0
    _, size = largest_team(teams)
    return min(tables, len(teams) // (seats * size))


def needed_for_duplicate(teams: Sequence[str], seats: Sequence[int]) -> str:
    """Return how many entries duplicate blocks need, the reason, and how many entries there are."""
    team, size = largest_team(teams)
    most = max(seats)
    condition = f"for {most} seats"
    if size > 1:
        condition += f" and a team of {size} ({team!r})"
    return f"at least {2 * most * size} entries {condition}; there are only {len(teams)}"
