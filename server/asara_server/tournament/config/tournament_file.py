"""The tournament file: its keys, its defaults, and errors that name file, key and remedy.

    title = "Spring cup"               # left out: the name of the file
    seats = [2, 4]                     # 2, 3 or 4, or several of them
    rule_sets = ["basic", "pro+gifts"] # one or several; basic is part of all
    rounds = 2                         # 1
    blocks_per_entry = 30              # instead of rounds: not all groups meet, but evenly many
    blocks = "mirrored"                # one deal in all seat orders; or "independent": a deal each
    orders = "rotations"               # the seat orders of a block; or "all"
    seed = "spring"                    # left out: drawn, and recorded in run.json
    concurrency = 2                    # matches at once; left out: one per processor core
    deals = "committed"                # or "joint": every bot adds a nonce to every deal;
                                       # independent blocks only
    processes = "match"                # a bot's process lives for one match, or for the "run"
    transport = "unix"                 # or "tcp", for languages that have no unix sockets

    [clocks]                           # seconds; left out: as here
    start_up_s = 30                    # from its start until a bot must have dialled in
    bank_s = 60                        # for a whole match
    increment_s = 0.5                  # added with every decision
    grace_s = 0.05                     # not charged, per decision
    reconnect_s = 10                   # how long a bot may stay away after a break

    [limits]                           # left out: as here
    log_bytes = 100_000                # kept of what a bot prints in a match
    failed_starts = 3                  # in a row; then the entry forfeits the rest at once
    idle_processes = 64                # kept waiting for their next match
    suspend_share = 0.5                # of its matches that an entry may forfeit,
    suspend_after = 10                 # once it has played so many
    memory_mb = 1_024                  # these hold in the sandbox only; see `Limits`
    processes = 256
    open_files = 1_024
    cpu_s = 3_600
    disk_mb = 64
    build_s = 300                      # and for a build
    build_memory_mb = 2_048
    build_mb = 1_024

    [[entries]]
    name = "greedy"
    command = "python bots/greedy/main.py"   # or a list of words
    directory = "."                    # where it runs; relative to this file
    environment = { LEVEL = "3" }
    build = "make"                     # runs once, in a copy of the directory; left out: nothing
    readable = ["models"]              # what else bots see in the sandbox; relative to this file

    [[entries]]
    name = "far"
    token = "far"                      # instead of a command: its bot dials in from another machine

    [remote]                           # where such bots dial in; all paths relative to this file
    listen = "0.0.0.0:50051"
    certificate = "cert.pem"           # TLS, which there is no way around
    key = "key.pem"
    tokens = "tokens.json"             # of `asara token`; left out: beside the referee's key
    wait_s = 600                       # that matches wait for a bot; then it never started
    matches_at_once = 16               # of a bot, if it says that it can

A bot starts in its `directory`, and its command is read from there. `python` means the interpreter
that runs asara. A mirrored block plays one deal several times, so its bots are started anew for
every match: none may recognise a deal. With independent blocks `processes` is "run" where it is
left out. A bot on another machine plays on in one process, and several matches at once: whatever
`blocks` says, each match of a block that it is in has a deal of its own. Whoever knows the seed can
compute every deal: leave it out of a competition.
"""

import os
import re
import shlex
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
from asara_server.match.spec import ClockSettings
from asara_server.network.addresses import ServeError, split_address
from asara_server.tournament.config.commands import CommandError, check_command, split_command
from asara_server.tournament.config.names import name_fault
from asara_server.tournament.config.token_store import (
    TokenError,
    Tokens,
    default_tokens_path,
    read_tokens,
)
from asara_server.tournament.config.validation_errors import describe, problem

SEATS = (2, 3, 4)
_NEVER_SEEN = tuple(map(Path, ("/", "/etc", "/home", "/run", "/tmp", "/var")))  # noqa: S108
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

Orders = Literal["rotations", "all"]
"""Seat orders that a group plays: each entry once in each seat, or all permutations."""

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
    if fault := name_fault(name):
        raise problem(fault)
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


def too_much_to_see(path: Path) -> bool:
    """Whether no bot may see this directory as a whole in the sandbox: homes, /etc and the like."""
    try:
        home = Path.home()
    except RuntimeError:  # this user has none
        home = Path("/home")
    return path in (*_NEVER_SEEN, home) or bool({"dev", "proc"} & set(path.parts[1:2]))


def _readable(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, list) or not all(isinstance(path, str | Path) for path in value):
        raise problem(f"should be a list of paths, not {value!r}")
    base: Path = (info.context or {}).get("base", Path.cwd())
    paths = []
    for text in value:
        try:
            path = (base / Path(text).expanduser()).resolve()
            there = path.exists()
        except (OSError, RuntimeError, ValueError):  # too long, ~nobody, or with a zero byte
            raise problem(f"{str(text)!r} cannot be a path") from None
        if not there:
            raise problem(f"{str(path)!r} does not exist")
        if too_much_to_see(path):
            raise problem(f"{str(path)!r} is more than a bot may see; name what it needs")
        paths.append(path)
    return tuple(paths)


def _path(value: object, info: ValidationInfo) -> Path:
    if not isinstance(value, str | Path):
        raise problem(f"should be the path of a file, not {value!r}")
    base: Path = (info.context or {}).get("base", Path.cwd())
    try:
        return Path(os.path.realpath(base / Path(value).expanduser()))
    except (RuntimeError, ValueError):  # ~nobody, or with a zero byte
        raise problem(f"{str(value)!r} cannot be a path") from None


def _file(value: object, info: ValidationInfo) -> Path:
    path = _path(value, info)
    if path.exists() and not path.is_file():
        raise problem(f"{str(path)!r} is no file")
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise problem(f"{str(path)!r} cannot be read: {error.strerror}") from None


def _listen(address: str) -> str:
    try:
        split_address(address)
    except ServeError as error:
        raise problem(str(error)) from None
    return address


def _words(value: object) -> tuple[str, ...]:
    """A command: a line, or a list of words. May raise CommandError."""
    if isinstance(value, str):
        return split_command(value)
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise CommandError("should be a command line or a list of words")


Directory = Annotated[Path, BeforeValidator(_directory)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
SecondsOrNone = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]


class Entry(_Table):
    """One bot that takes part."""

    name: Annotated[str, AfterValidator(_name)]
    directory: Directory = Field(default=".", validate_default=True)
    build: tuple[str, ...] = ()
    """Runs once before the first match, in a copy of the directory, which the bots then run in."""
    command: tuple[str, ...] = ()
    token: Annotated[str, AfterValidator(_name)] = ""
    """Instead of a command, the name of the token by which its bot dials in from elsewhere."""
    environment: Mapping[str, Annotated[str, BeforeValidator(_setting)]] = {}
    readable: Annotated[tuple[Path, ...], BeforeValidator(_readable)] = ()
    """What bots see in the sandbox besides their own files: files or directories."""

    @field_validator("build", mode="before")
    @classmethod
    def _build(cls, value: object, info: ValidationInfo) -> object:
        directory = info.data.get("directory")
        if value == () or not isinstance(directory, Path):
            return ()
        base: Path = (info.context or {}).get("base", Path.cwd())
        if base.is_relative_to(directory):
            raise problem("works in a copy of the entry's directory; give it one of its own")
        try:
            words = _words(value)
            check_command(words, directory)
        except CommandError as error:
            raise problem(str(error)) from None
        return words

    @field_validator("command", mode="before")
    @classmethod
    def _command(cls, value: object, info: ValidationInfo) -> object:
        try:
            words = _words(value)
            directory = info.data.get("directory")
            if isinstance(directory, Path) and info.data.get("build") == ():
                check_command(words, directory)  # else the build makes what it starts
        except CommandError as error:
            raise problem(str(error)) from None
        return words

    @field_validator("environment")
    @classmethod
    def _environment(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, setting in value.items():
            if not _VARIABLE.fullmatch(name) or "\0" in setting:
                raise problem(f"{name!r} cannot be an environment variable")
            if name.startswith("ASARA_") and name != "ASARA_TRANSCRIPT":
                raise problem(f"{name!r} is set by the runner; choose a name without ASARA_")
        return value

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if not self.token:
            if not self.command:
                raise problem(
                    "needs a command that starts its bot, or the name of a token by which its bot "
                    "dials in from another machine"
                )
            return self
        for key in type(self).model_fields:
            if key in self.model_fields_set - {"name", "token"}:
                raise problem(
                    f"has a token, so that its bot is not started here: leave out {key}, or token"
                )
        return self

    @property
    def remote(self) -> bool:
        """Whether its bot dials in from elsewhere."""
        return bool(self.token)


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

    log_bytes: Annotated[int, Field(ge=1_000, le=1_000_000_000)] = 100_000
    """Bytes kept of what a bot prints in one match; then its log is cut, with a mark."""
    failed_starts: Annotated[int, Field(ge=1, le=100)] = 3
    """Processes in a row that may end or hang before they dial in; then the entry forfeits the
    rest of its matches at once, without another wait of start_up_s for each."""
    idle_processes: Annotated[int, Field(ge=0, le=10_000)] = 64
    """Bot processes kept waiting for their next match, where processes is "run"."""
    suspend_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of its matches that an entry may forfeit; beyond it forfeits the rest at once."""
    suspend_after: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """Matches of an entry before its share of forfeits counts."""
    memory_mb: Annotated[int, Field(ge=16, le=1 << 20)] = 1_024
    """MiB of memory of a bot in the sandbox: of all its processes together, /tmp included, where
    there are control groups; else of each process."""
    processes: Annotated[int, Field(ge=4, le=30_000)] = 256
    """Processes and threads of a bot in the sandbox."""
    open_files: Annotated[int, Field(ge=32, le=1 << 20)] = 1_024
    """Open files of each process in the sandbox."""
    cpu_s: Annotated[int, Field(ge=1, le=1 << 30)] = 3_600
    """Seconds of processor time of each process in the sandbox, over all its matches."""
    disk_mb: Annotated[int, Field(ge=1, le=1 << 20)] = 64
    """MiB of files that a bot may leave in /tmp, and as many in /dev/shm, which both are memory."""
    build_s: Seconds = 300
    """Seconds that a build may take."""
    build_memory_mb: Annotated[int, Field(ge=16, le=1 << 20)] = 2_048
    """MiB of memory of a build; as `memory_mb`."""
    build_mb: Annotated[int, Field(ge=1, le=1 << 20)] = 1_024
    """MiB of an entry's directory once it is built, and of /tmp meanwhile."""


class Remote(_Table):
    """Where bots dial in that are started on other machines."""

    listen: Annotated[str, AfterValidator(_listen)]
    """`host:port`; port 0 takes a free one."""
    certificate: Annotated[Path, BeforeValidator(_file)]
    """With its chain; PEM."""
    key: Annotated[Path, BeforeValidator(_file)]
    """Of the certificate; PEM, without a password."""
    tokens: Annotated[Path, BeforeValidator(_path)] = Field(default_factory=default_tokens_path)
    """The file that `asara token` keeps."""
    wait_s: Seconds = 600
    """Seconds that matches wait for a bot that is not there; then they count as never started."""
    matches_at_once: Annotated[int, Field(ge=1, le=1_024)] = 16
    """Of each bot, where its Hello does not say fewer."""


class Tournament(_Table):
    """A whole tournament, checked."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    seats: Annotated[tuple[int, ...], BeforeValidator(_seats)]
    rule_sets: Annotated[tuple[frozenset[RuleSet], ...], BeforeValidator(_rule_sets)]
    rounds: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    blocks: Literal["mirrored", "independent"] = "mirrored"
    """Whether all matches of a block have one deal, or each its own."""
    orders: Orders = "rotations"
    blocks_per_entry: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Of each kind of table; without it, all groups of entries meet, in every round."""
    seed: str | None = None
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = Field(default_factory=cores)
    deals: Literal["committed", "joint"] = "committed"
    """Whether the referee alone makes the deals, bound beforehand, or every bot adds a nonce."""
    processes: Literal["run", "match"] = "match"
    """How long a bot's process lives; "run" where left out with independent blocks."""
    transport: Literal["unix", "tcp"] = "unix"
    """How bots reach the referee: a unix socket, or TCP on this machine for languages without."""
    clocks: Clocks = Clocks()
    limits: Limits = Limits()
    remote: Remote | None = None
    """Given exactly where there are entries with a token."""
    entries: Annotated[tuple[Entry, ...], Field(strict=False)]

    @model_validator(mode="before")
    @classmethod
    def _processes(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        if data.get("blocks") == "independent":
            return {"processes": "run", **data}
        return data

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
    def _compatible(self) -> Self:
        if self.blocks_per_entry is not None and self.rounds > 1:
            raise problem(
                "rounds: blocks_per_entry already says how much is played; leave out one of them"
            )
        if self.blocks == "independent":
            return self
        if self.processes == "run":
            raise problem(
                "processes: a mirrored block plays one deal several times, and a bot whose process "
                "lives for the run could recognise it; leave processes out, or set blocks to "
                "'independent'"
            )
        if self.deals == "joint":
            raise problem(
                "deals: a joint deal cannot be mirrored, for the nonces of each match make another "
                "deal; set blocks to 'independent'"
            )
        return self

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if len(self.entries) < max(self.seats):
            raise problem(
                f"seats: {max(self.seats)} seats need as many entries, and there are "
                f"{len(self.entries)}; add [[entries]] or play with fewer seats"
            )
        return self

    @model_validator(mode="after")
    def _received(self) -> Self:
        if not self.remote_entries:
            if self.remote is not None:
                raise problem(
                    "remote: no entry has a token, so nobody would dial in there; leave it out"
                )
            return self
        if self.remote is None:
            raise problem(
                "remote: is missing; it says where bots of entries with a token dial in: listen, "
                "certificate, key"
            )
        try:
            tokens = read_tokens(self.remote.tokens)
        except TokenError as error:
            raise problem(f"remote.tokens: {error}") from None
        faults = [
            fault
            for index, entry in enumerate(self.entries)
            if entry.remote
            and (fault := _token_fault(self.entries, index, tokens, self.remote.tokens))
        ]
        if faults:
            raise problem("; ".join(faults))
        return self

    @property
    def remote_entries(self) -> tuple[str, ...]:
        """Names of the entries whose bots dial in from elsewhere."""
        return tuple(entry.name for entry in self.entries if entry.remote)


def _token_fault(entries: Sequence[Entry], index: int, tokens: Tokens, path: Path) -> str:
    """Why nobody could come in by an entry's token; empty where somebody can."""
    name = entries[index].token
    place = f"entries[{index}].token"
    first = next(number for number, entry in enumerate(entries) if entry.token == name)
    if first != index:
        return f"{place}: {name!r} is the token of entries[{first}]; give each one of its own"
    if tokens.good(name) is not None:
        return ""
    revoked = tokens.revoked(name)
    why = "was revoked" if revoked else "is not there"
    make = shlex.join(["asara", "token", "new", name, "--file", str(path)])
    return f"{place}: the token {name!r} {why}; make one with `{make}`"


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
