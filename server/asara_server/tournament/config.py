"""The tournament file: its keys, its defaults, and errors that name file, key and remedy.

    title = "Spring cup"               # left out: the name of the file
    seats = [2, 4]                     # 2, 3 or 4, or several of them
    rule_sets = ["basic", "pro+gifts"] # one or several; basic is part of all
    rounds = 2                         # 1
    seed = "spring"                    # left out: drawn, and recorded in run.json
    concurrency = 2                    # matches at once; left out: one per processor core
    deals = "committed"                # or "joint": every bot adds a nonce to every deal
    processes = "run"                  # a bot's process lives for the run, or for one "match"
    transport = "unix"                 # or "tcp", for languages that have no unix sockets

    [clocks]                           # seconds; left out: as here
    start_up_s = 30                    # from its start until a bot must have dialled in
    bank_s = 60                        # for a whole match
    increment_s = 0.5                  # added with every decision
    grace_s = 0.05                     # not charged, per decision
    reconnect_s = 10                   # how long a bot may stay away after a break

    [limits]                           # left out: as here
    log_bytes = 1_000_000              # kept of what a process prints
    failed_starts = 3                  # in a row; then the entry forfeits the rest at once
    idle_processes = 64                # kept waiting for their next match

    [[entries]]
    name = "greedy"
    command = "python bots/greedy/main.py"   # or a list of words
    directory = "."                    # where it runs; relative to this file
    environment = { LEVEL = "3" }

A bot starts in its `directory`, and its command is read from there. `python` means the interpreter
that runs asara. Whoever knows the seed can compute every deal: leave it out of a competition.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from asara_game.rules import format_rule_sets, parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.spec import ClockSettings
from asara_server.tournament.commands import CommandError, check_command, split_command
from asara_server.tournament.problems import describe, problem

SEATS = (2, 3, 4)
MAX_NAME = 40
"""Characters of an entry's name; it becomes part of file names and of tables."""

_CLOCKS = ClockSettings()


class ConfigError(ValueError):
    """A tournament file that cannot be used; one line for each thing that is wrong."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _listed(value: object) -> list[object]:
    """One value stands for a list of one. No value may occur twice."""
    items = value if isinstance(value, list) else [value]
    if not items:
        raise problem("is empty; name at least one")
    return items


def _distinct(items: Sequence[object], what: str) -> None:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise problem(f"names {what} {item!r} twice")


def _seats(value: object) -> tuple[int, ...]:
    seats = [item for item in _listed(value) if type(item) is int and item in SEATS]
    if len(seats) < len(_listed(value)):
        raise problem(f"should be 2, 3, 4 or a list of these, not {value!r}")
    _distinct(seats, "the number")
    return tuple(seats)


def _rule_sets(value: object) -> tuple[frozenset[RuleSet], ...]:
    found = []
    for text in _listed(value):
        if not isinstance(text, str):
            raise problem(f"should be a text such as 'pro+gifts', not {text!r}")
        try:
            found.append(parse_rule_sets(text))
        except ValueError as error:
            raise problem(str(error)) from None
    _distinct([format_rule_sets(rules) for rules in found], "the rules")
    return tuple(found)


def _name(name: str) -> str:
    if not name or name != name.strip() or len(name) > MAX_NAME:
        raise problem(f"should have 1 to {MAX_NAME} characters and no blanks around it")
    strange = sorted({char for char in name if not (char.isalnum() or char in " ._+-")})
    if strange or not name[0].isalnum():
        what = f"{strange[0]!r}" if strange else f"{name[0]!r} at its start"
        raise problem(f"{name!r} cannot name files because of {what}; use letters, digits, . _ + -")
    return name


def _setting(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _directory(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str | Path):
        raise problem(f"should be the path of a directory, not {value!r}")
    base: Path = (info.context or {}).get("base", Path.cwd())
    path = (base / Path(value).expanduser()).resolve()
    if not path.is_dir():
        what = "is a file, not a directory" if path.exists() else "does not exist"
        raise problem(f"{str(path)!r} {what}")
    return path


Directory = Annotated[Path, BeforeValidator(_directory)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
SecondsOrNone = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]


class Entry(_Table):
    """One bot that takes part."""

    name: Annotated[str, AfterValidator(_name)]
    directory: Directory = Field(default=".", validate_default=True)
    command: tuple[str, ...]
    environment: Mapping[str, Annotated[str, BeforeValidator(_setting)]] = {}

    @field_validator("command", mode="before")
    @classmethod
    def _command(cls, value: object, info: ValidationInfo) -> object:
        try:
            if isinstance(value, str):
                words = split_command(value)
            elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
                words = tuple(value)
            else:
                raise CommandError("should be a command line or a list of words")
            directory = info.data.get("directory")
            if isinstance(directory, Path):
                check_command(words, directory)
        except CommandError as error:
            raise problem(str(error)) from None
        return words

    @field_validator("environment")
    @classmethod
    def _environment(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, setting in value.items():
            if not name or "=" in name or "\0" in name + setting:
                raise problem(f"{name!r} cannot be an environment variable")
            if name.startswith("ASARA_") and name != "ASARA_TRANSCRIPT":
                raise problem(f"{name!r} is set by the runner; choose a name without ASARA_")
        return value


class Clocks(_Table):
    """The time a bot has; see `ClockSettings`."""

    start_up_s: Seconds = _CLOCKS.start_up_s
    bank_s: Seconds = _CLOCKS.bank_s
    increment_s: SecondsOrNone = _CLOCKS.increment_s
    grace_s: SecondsOrNone = _CLOCKS.grace_s
    reconnect_s: SecondsOrNone = _CLOCKS.reconnect_s

    def settings(self) -> ClockSettings:
        """The same, as the referee takes it."""
        return ClockSettings(**self.model_dump())


class Limits(_Table):
    """What the runner puts up with."""

    log_bytes: Annotated[int, Field(ge=1_000, le=1_000_000_000)] = 1_000_000
    """Bytes kept of the output of one log file; then it is cut, with a mark."""
    failed_starts: Annotated[int, Field(ge=1, le=100)] = 3
    """Processes in a row that may end or hang before they dial in; then the entry forfeits the
    rest of its matches at once, without another wait of start_up_s for each."""
    idle_processes: Annotated[int, Field(ge=0, le=10_000)] = 64
    """Bot processes kept waiting for their next match, where processes = "run"."""


class Tournament(_Table):
    """A whole tournament, checked."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    seats: Annotated[tuple[int, ...], BeforeValidator(_seats)]
    rule_sets: Annotated[tuple[frozenset[RuleSet], ...], BeforeValidator(_rule_sets)]
    rounds: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    seed: str | None = None
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = Field(default_factory=cores)
    deals: Literal["committed", "joint"] = "committed"
    """Whether the referee alone makes the deals, bound beforehand, or every bot adds a nonce."""
    processes: Literal["run", "match"] = "run"
    transport: Literal["unix", "tcp"] = "unix"
    """How bots reach the referee: a unix socket, or TCP on this machine for languages without."""
    clocks: Clocks = Clocks()
    limits: Limits = Limits()
    entries: Annotated[tuple[Entry, ...], Field(strict=False)]

    @field_validator("seed", mode="before")
    @classmethod
    def _seed(cls, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value == "":
            raise problem("is empty; leave it out to have one drawn")
        return value

    @field_validator("entries")
    @classmethod
    def _names(cls, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        seen: dict[str, int] = {}
        for index, entry in enumerate(entries):
            first = seen.setdefault(entry.name.casefold(), index)
            if first != index:
                raise problem(
                    f"entries[{first}] and entries[{index}] are both named {entry.name!r}; "
                    "names must differ by more than case"
                )
        return entries

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if len(self.entries) < max(self.seats):
            raise problem(
                f"seats: {max(self.seats)} seats need as many entries, and there are "
                f"{len(self.entries)}; add [[entries]] or play with fewer seats"
            )
        return self


def load_tournament(path: Path) -> Tournament:
    """Read and check a tournament file. ConfigError says all that is wrong with it."""
    name = path.name
    try:
        with path.open("rb") as file:
            data: dict[str, Any] = tomllib.load(file)
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except IsADirectoryError:
        raise ConfigError([f"{path}: is a directory; name the tournament file in it"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{name}: is not a text file in UTF-8"]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"{name}: is not valid TOML: {error}"]) from None
    data.setdefault("title", path.stem)
    return check_tournament(data, name=name, base=path.resolve().parent)


def check_tournament(data: Mapping[str, Any], *, name: str, base: Path) -> Tournament:
    """Check the tables of a tournament file called `name`, whose paths are relative to `base`."""
    try:
        return Tournament.model_validate(data, context={"base": base})
    except ValidationError as error:
        raise ConfigError([f"{name}: {line}" for line in describe(error, Tournament)]) from None
