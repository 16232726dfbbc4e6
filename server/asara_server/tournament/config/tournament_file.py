"""The tournament file: its keys, its defaults, and errors that name file, key and remedy.

The text below each field is the sentence that users read about the key: in the table of the
documents, and for their own file in `asara tournament plan FILE --explain`. Pydantic makes it the
field's `description`.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from asara_codec.clocks import Clocks
from asara_game.bounded_toml import parse_toml
from asara_server.bounded_file import read_bounded
from asara_server.match.deal_secrets import bot_seed, check_seed
from asara_server.match.spec import SECOND_US, ProcessPolicy
from asara_server.network.addresses import LOCAL_TRANSPORT
from asara_server.network.tls import TlsFiles
from asara_server.system import usable_cores
from asara_server.text import plain
from asara_server.tournament.config.commands import check_command, command_words
from asara_server.tournament.config.entry_folders import (
    EntryFolder,
    LeftOut,
    built_in_table,
    find_entry_folders,
    with_bot_files,
)
from asara_server.tournament.config.fields import (
    DEFAULT_TABLES,
    BlockKind,
    Directory,
    FilePath,
    Jobs,
    ListenAddress,
    Name,
    Orders,
    ReadableFile,
    ReadablePaths,
    RulesList,
    SeatCounts,
    Seconds,
    SecondsOrZero,
    Title,
    VariableText,
    base_directory,
    largest_team,
    needed_for_duplicate,
    tables_per_block,
    team_numbers,
)
from asara_server.tournament.config.token_store import (
    TokenError,
    Tokens,
    default_tokens_path,
    read_tokens,
)
from asara_server.tournament.config.validation_errors import describe, numbered
from asara_server.user_error import UserError

LARGEST_FILE: Final = 256 * 1024
"""Maximum size of a tournament file, in bytes."""
_MOST_ENTRIES: Final = 1_000
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_CLOCKS = Clocks()
_THAWING_S: Final = 0.01
"""Minimum grace of a decision, in seconds, if bots must be thawed for it."""


class ConfigError(UserError, ValueError):
    """Raised if a tournament file cannot be used; the text has one line per fault."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class Entry(_Section):
    """One participant of the tournament."""

    name: Name
    """Name of the entry, up to 40 characters: letters of one script, digits, spaces, and the signs
    . _ + and -."""
    team: Name = ""
    """Team of the entry; entries of one team never sit at the same table."""
    bot: str = ""
    """Name of a built-in bot and its options, such as "greedy"; replaces `command`."""
    directory: Directory = Field(default=".", validate_default=True)
    """Folder in which the bot runs and where its command is looked up; relative to this file."""
    build: tuple[str, ...] = ()
    """Command that runs once before the first match, in a copy of the folder."""
    command: tuple[str, ...] = ()
    """Command that starts the bot: a command line, or a list of arguments."""
    token: Name = ""
    """Name of the token with which a bot on another machine connects; replaces `command`."""
    environment: Mapping[str, VariableText] = {}
    """Environment variables of the bot; names that begin with ASARA_ are reserved."""
    readable: ReadablePaths = ()
    """Other files and folders that the bot may read in the sandbox; relative to this file."""
    loopback: bool = False
    """If true, the bot's processes can reach each other over loopback in the sandbox."""
    process_per: ProcessPolicy | None = None
    """Like the tournament's `process_per`, but for this bot only."""

    _folder: EntryFolder | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _enter_built_in_bot(cls, table: Any) -> Any:
        is_built_in = isinstance(table, dict) and isinstance(table.get("bot"), str)
        return built_in_table(table) if is_built_in else table

    @field_validator("build", mode="before")
    @classmethod
    def _check_build(cls, value: object, info: ValidationInfo) -> object:
        directory = info.data.get("directory")
        if value == () or not isinstance(directory, Path):
            return ()
        if base_directory(info).is_relative_to(directory):
            raise ValueError(
                "works in a copy of the entry's folder, which holds the tournament file; "
                "give the entry a folder of its own"
            )
        words = command_words(value)
        check_command(words, directory)
        return words

    @field_validator("command", mode="before")
    @classmethod
    def _check_command(cls, value: object, info: ValidationInfo) -> object:
        words, directory = command_words(value), info.data.get("directory")
        if isinstance(directory, Path) and info.data.get("build") == ():
            check_command(words, directory)  # a build would make the program first
        return words

    @field_validator("environment")
    @classmethod
    def _check_environment(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, text in value.items():
            if not _VARIABLE.fullmatch(name) or "\0" in text:
                raise ValueError(f"{name!r} cannot be an environment variable")
            if name.startswith("ASARA_") and name != "ASARA_TRANSCRIPT":
                raise ValueError(f"{name!r} is set by the runner; choose a name without ASARA_")
        return value

    @model_validator(mode="after")
    def _check_command_or_token(self) -> Self:
        if not self.token:
            if not self.command:
                raise ValueError(
                    "needs `command`, `bot` (for a built-in bot), `directory` (a folder with a "
                    "bot.toml) or `token` (for a bot on another machine)"
                )
            return self
        for key in type(self).model_fields:
            if key in self.model_fields_set - {"name", "team", "token"}:
                raise ValueError(
                    f"has a token, so its bot is not started here: remove either {key} or token"
                )
        return self

    @property
    def remote(self) -> bool:
        """True if the bot is not started here but connects with a token."""
        return bool(self.token)

    @property
    def folder(self) -> EntryFolder | None:
        """The folder whose `bot.toml` has the entry's command; None if the file has it."""
        return self._folder


class ClockSettings(_Section):
    """Time limits of a bot in seconds; the rest of the program has them as `Clocks`."""

    start_up_s: Seconds = _CLOCKS.start_up_us / SECOND_US
    """Seconds that a bot has to start and connect."""
    time_bank_s: Seconds = _CLOCKS.bank_us / SECOND_US
    """Seconds on a bot's clock at the start of a match."""
    increment_s: SecondsOrZero = _CLOCKS.increment_us / SECOND_US
    """Seconds added to the clock for each decision."""
    grace_s: SecondsOrZero = _CLOCKS.grace_us / SECOND_US
    """Seconds per decision that are not deducted from the clock."""
    reconnect_s: SecondsOrZero = _CLOCKS.reconnect_us / SECOND_US
    """Seconds that a bot may stay disconnected before it forfeits."""
    hide_forced: bool = False
    """If true, forced moves are delayed, so that they look like any other decision."""

    def in_microseconds(self) -> Clocks:
        return Clocks(
            start_up_us=round(self.start_up_s * SECOND_US),
            bank_us=round(self.time_bank_s * SECOND_US),
            increment_us=round(self.increment_s * SECOND_US),
            grace_us=round(self.grace_s * SECOND_US),
            reconnect_us=round(self.reconnect_s * SECOND_US),
        )


class Limits(_Section):
    """Limits of the runner on entries and their processes."""

    output_bytes: Annotated[int, Field(ge=1_000, le=1_000_000_000)] = 100_000
    """Maximum number of bytes of a bot's output kept per match; anything beyond that is dropped."""
    failed_starts: Annotated[int, Field(ge=1, le=100)] = 3
    """An entry that fails to start this many times in a row forfeits its remaining matches."""
    idle_processes: Annotated[int, Field(ge=0, le=10_000)] = 64
    """Maximum number of bot processes kept waiting for their next match."""
    suspend_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """An entry that forfeits more than this share of its matches (0 to 1) is suspended."""
    suspend_after: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """Number of matches an entry plays before `suspend_share` applies."""
    memory_mib: Annotated[int, Field(ge=16, le=1 << 20)] = 1_024
    """Maximum memory of a bot in the sandbox, in MiB."""
    processes: Annotated[int, Field(ge=4, le=30_000)] = 256
    """Maximum number of processes and threads of a bot in the sandbox."""
    open_files: Annotated[int, Field(ge=32, le=1 << 20)] = 1_024
    """Maximum number of open files of each process in the sandbox."""
    cpu_s: Annotated[int, Field(ge=1, le=1 << 30)] = 3_600
    """Maximum processor time of each process in the sandbox, in seconds, over all its matches."""
    cores: Annotated[int, Field(ge=1, le=1_024)] = 1
    """Maximum number of processor cores shared by all processes of a bot in the sandbox."""
    disk_mib: Annotated[int, Field(ge=1, le=1 << 20)] = 64
    """Maximum size of a bot's files in each of /tmp, /dev/shm and its folder, in MiB."""
    directory_mib: Annotated[int, Field(ge=1, le=1 << 20)] = 128
    """Maximum size of an entry's folder, in MiB; each bot in the sandbox has a copy in memory."""
    build_s: Seconds = 900
    """Maximum duration of a build, in seconds."""
    build_memory_mib: Annotated[int, Field(ge=16, le=1 << 20)] = 2_048
    """Maximum memory of a build in the sandbox, in MiB, not counting the files that it writes."""
    build_mib: Annotated[int, Field(ge=1, le=1 << 20)] = 1_024
    """Maximum size of an entry's folder after its build, and of /tmp during the build, in MiB."""


class Remote(_Section):
    """The listener for bots on other machines.

    The guests of a match use no TLS. Their `certificate` and `key` are None, which TOML cannot say.
    """

    listen: ListenAddress
    """Address host:port at which bots on other machines connect; port 0 picks a free port."""
    certificate: ReadableFile | None
    """PEM file containing the TLS certificate and its chain; relative to this file."""
    key: ReadableFile | None
    """PEM file containing its private key, without a password; relative to this file."""
    tokens: FilePath = Field(default_factory=default_tokens_path)
    """File with the tokens, which `asara token` writes; relative to this file."""
    wait_s: Seconds = 600
    """Seconds that matches wait for an absent bot; then it forfeits them until it connects."""
    jobs_per_bot: Annotated[int, Field(ge=1, le=1_024)] = 16
    """Maximum number of matches that one bot plays in parallel; its client can ask for fewer."""

    @property
    def tls(self) -> TlsFiles | None:
        """The certificate and key; None without TLS."""
        if self.certificate is None or self.key is None:
            return None
        return TlsFiles(self.certificate, self.key)


def _default_blocks(data: Mapping[str, Any]) -> BlockKind:
    """Return the default kind of block, given the other keys, which must all be valid."""
    if data.get("blocks_per_entry") and data.get("orders") == "all":
        return "mirrored"  # no duplicate block plays all orders
    teams = [entry.team for entry in data["entries"]]
    enough = all(tables_per_block(teams, k, DEFAULT_TABLES) >= 2 for k in data["seats"])
    return "duplicate" if enough else "mirrored"


class Tournament(_Section):
    """A validated tournament file."""

    title: Title
    """Title of the tournament, shown above the standings."""
    seats: SeatCounts
    """Number of seats at a table: 2, 3 or 4, or a list of these."""
    rules: RulesList
    """Rules, such as "pro+gifts", or a list of these; `asara rules` lists all choices."""
    rounds: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Number of times the whole schedule is played."""
    orders: Orders = "rotations"
    """Seat orders to play: "rotations" (each entry plays once in every seat) or "all" (every
    order)."""
    blocks_per_entry: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Number of blocks per entry for each combination of `rules` and `seats`; replaces `rounds`."""
    until: Literal["ranks settled"] | None = None
    """With "ranks settled", the run ends when further matches are unlikely to change the ranks."""
    places: Annotated[int, Field(ge=1)] | None = None
    """With `until`, only this many ranks at the top of the standings have to be settled."""
    seed: str | None = None
    """Secret from which all deals are derived: 64 hexadecimal digits, generated at random."""
    jobs: Jobs = Field(default_factory=usable_cores)
    """Number of matches played in parallel."""
    deals: Literal["committed", "joint"] = "committed"
    """"committed": the referee fixes all deals before the first match; "joint": the bots add random
    numbers to each deal."""
    ponder: bool = True
    """If false, bots in the sandbox are frozen while it is not their turn."""
    transport: Literal["unix", "tcp"] = LOCAL_TRANSPORT
    """How local bots reach the referee: a "unix" socket, or "tcp" on this machine."""
    clocks: ClockSettings = ClockSettings()
    """Time limits of a bot."""
    limits: Limits = Limits()
    """Limits of entries and of the processes of their bots."""
    remote: Remote | None = None
    """The address for bots on other machines; only if an entry has a token."""
    entries_from: str | None = None
    """Pattern for folders, each of them a further entry, such as "submissions/*"; relative to this
    file."""
    entries: Annotated[tuple[Entry, ...], Field(strict=False, max_length=_MOST_ENTRIES)]
    """The participants."""
    tables: Annotated[int, Field(ge=3, le=50)] = DEFAULT_TABLES
    """Maximum number of tables in a duplicate block, 3 to 50."""
    blocks: BlockKind = Field(default_factory=_default_blocks)
    """Which matches share a deal: "duplicate" (matches at different tables), "mirrored" (the same
    entries in different seats) or "independent" (no two matches)."""
    process_per: ProcessPolicy = "run"
    """How long a bot process lives: for many matches ("run"), or for one ("match")."""

    _left_out: tuple[LeftOut, ...] = PrivateAttr(())
    _notes: tuple[str, ...] = PrivateAttr(())

    @field_validator("seed", mode="before")
    @classmethod
    def _check_seed(cls, value: object) -> object:
        return None if value is None else check_seed(value if isinstance(value, str) else "")

    @field_validator("entries")
    @classmethod
    def _check_names(cls, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        seen: dict[str, int] = {}
        for index, entry in enumerate(entries):
            first = seen.setdefault(entry.name.casefold(), index)
            if first != index:
                raise ValueError(
                    f"entry {first + 1} and entry {index + 1} are both named {entry.name!r}; "
                    "give one of them another `name` here (upper and lower case count as the same)"
                )
        return entries

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        if self.blocks_per_entry is not None and self.rounds > 1:
            raise ValueError("rounds: cannot be combined with blocks_per_entry; remove one of them")
        if self.blocks != "independent" and self.deals == "joint":
            raise ValueError(
                "deals: a joint deal cannot be shared by several matches, because the nonces of "
                "each match change the deal; set blocks to 'independent'"
            )
        if self.until and self.rounds == 1 and self.blocks_per_entry is None:
            raise ValueError(
                "until: needs rounds or blocks_per_entry, which limit how much is played"
            )
        if self.places is not None and not self.until:
            raise ValueError("places: needs until; add until, or remove places")
        if self.settled_places > len(self.entries):
            raise ValueError(f"places: must be at most {len(self.entries)}, the number of entries")
        if not self.ponder and self.clocks.grace_s < _THAWING_S:
            raise ValueError(
                f"clocks.grace_s: must be at least {_THAWING_S:g} if ponder is false, because bots "
                "are thawed in this time; set it higher, or remove ponder"
            )
        if self.blocks != "duplicate" and "tables" in self.model_fields_set:
            raise ValueError(
                f"tables: {self.blocks} blocks are played at one table at a time; leave it out, or "
                "set blocks to 'duplicate'"
            )
        if self.blocks == "duplicate" and self.blocks_per_entry and self.orders == "all":
            raise ValueError(
                "orders: a duplicate block seats its entries once, so with blocks_per_entry no "
                "group plays in all orders; leave out orders, or set blocks to 'mirrored'"
            )
        return self

    @model_validator(mode="after")
    def _check_enough_entries(self) -> Self:
        most = max(self.seats)
        if len(self.entries) < most:
            raise ValueError(
                f"seats: {most} seats need at least {most} entries, but there are only "
                f"{len(self.entries)}; add [[entries]] or play with fewer seats"
            )
        if (teams := len(set(team_numbers(self.teams)))) < most:
            raise ValueError(
                f"seats: {most} seats need at least {most} teams, because team-mates never sit at "
                f"the same table, but there are only {teams}; add [[entries]] from other teams or "
                "play with fewer seats"
            )
        team, size = largest_team(self.teams)
        if self.blocks == "duplicate":
            if any(tables_per_block(self.teams, k, self.tables) < 2 for k in self.seats):
                fewer = ", play with fewer seats," if most > 2 else ""
                raise ValueError(
                    "blocks: duplicate blocks need "
                    f"{needed_for_duplicate(self.teams, self.seats)}; "
                    f"add [[entries]]{fewer} or set blocks to 'mirrored'"
                )
        elif self.blocks_per_entry and size * most > len(self.entries):
            raise ValueError(
                f"blocks_per_entry: team {team!r} has {size} of {len(self.entries)} entries, too "
                f"many for each to play as often as the others at tables of {most}, which have one "
                f"of a team; leave out blocks_per_entry, add [[entries]] of other teams or play "
                "with fewer seats"
            )
        return self

    @model_validator(mode="after")
    def _check_remote(self) -> Self:
        if not self.remote_entries:
            if self.remote is not None:
                raise ValueError(
                    "remote: no entry has a token, so no bot would connect; leave it out"
                )
            return self
        if self.remote is None:
            raise ValueError(
                "remote: is missing; give listen, certificate and key of the address where bots "
                "of entries with a token connect"
            )
        try:
            tokens = read_tokens(self.remote.tokens)
        except TokenError as error:
            raise ValueError(f"remote.tokens: {error}") from None
        faults = [
            fault
            for index, entry in enumerate(self.entries)
            if entry.remote
            and (fault := _token_fault(self.entries, index, tokens, self.remote.tokens))
        ]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Folders that `entries_from` finds but that have no usable `bot.toml`."""
        return self._left_out

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each entry whose name differs from the name in its `bot.toml`."""
        return self._notes

    @property
    def teams(self) -> tuple[str, ...]:
        """Team of each entry, in entry order; "" for an entry without a team."""
        return tuple(entry.team for entry in self.entries)

    @property
    def process_policies(self) -> dict[str, ProcessPolicy]:
        """Lifetime of the processes of each entry whose bots are started here."""
        local = [entry for entry in self.entries if not entry.remote]
        return {entry.name: entry.process_per or self.process_per for entry in local}

    @property
    def settled_places(self) -> int:
        """Number of places that have to be settled before the run ends early."""
        return self.places or len(self.entries)

    @property
    def remote_entries(self) -> tuple[str, ...]:
        """Names of the entries whose bots run on other machines."""
        return tuple(entry.name for entry in self.entries if entry.remote)


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings shared by all matches of a run. They can be pickled, and reveal no deal."""

    entries: tuple[Entry, ...]
    processes: Mapping[str, ProcessPolicy]
    """Lifetime of the processes of each entry whose bots are started here."""
    clocks: Clocks = field(default_factory=Clocks)
    hide_forced: bool = False
    """True if a pause hides that a seat had no choice."""
    limits: Limits = field(default_factory=Limits)
    transport: Literal["unix", "tcp"] = LOCAL_TRANSPORT
    joint_deals: bool = False
    """True if every bot adds a nonce to every deal."""
    bot_seeds: Mapping[str, int] = field(default_factory=dict)
    """Seeds of the bots, by entry; empty if bots draw their own seeds."""
    build_directories: Mapping[str, Path] = field(default_factory=dict)
    """Directories made by builds, by entry."""
    ponder: bool = True
    """False to freeze sandboxed bots while no decision is requested from them."""

    @classmethod
    def of(
        cls,
        tournament: Tournament,
        seed: str | None,
        build_directories: Mapping[str, Path],
        opponents: Sequence[Entry] = (),
    ) -> Self:
        """Return the settings of a tournament, whose bots draw their own seeds if `seed` is None.

        `opponents` are further bots, which play all their matches in one process.
        """
        every = {one.name: one for one in (*tournament.entries, *opponents)}
        return cls(
            entries=tuple(every.values()),
            processes={**{one.name: "run" for one in opponents}, **tournament.process_policies},
            clocks=tournament.clocks.in_microseconds(),
            hide_forced=tournament.clocks.hide_forced,
            limits=tournament.limits,
            transport=tournament.transport,
            joint_deals=tournament.deals == "joint",
            bot_seeds={name: bot_seed(seed, name) for name in every} if seed else {},
            build_directories=build_directories,
            ponder=tournament.ponder,
        )

    def directory(self, entry: Entry) -> Path:
        """Return the directory that an entry's build has produced, or its own directory."""
        return self.build_directories.get(entry.name, entry.directory)


def _token_fault(entries: Sequence[Entry], index: int, tokens: Tokens, path: Path) -> str:
    """Return why no bot can connect with an entry's token, or "" if a bot can."""
    name = entries[index].token
    key = f"{numbered(index, entries[index].name)}: token"
    first = next(number for number, entry in enumerate(entries) if entry.token == name)
    if first != index:
        other = numbered(first, entries[first].name)
        return f"{key}: {name!r} is the token of {other}; give each entry its own"
    if tokens.valid(name) is not None:
        return ""
    fault = "was revoked" if tokens.revoked(name) else "does not exist"
    remedy = shlex.join(["asara", "token", "new", name, "--file", str(path)])
    return f"{key}: the token {name!r} {fault}; make one with `{remedy}`"


def load_tournament(path: Path) -> Tournament:
    """Read and validate a tournament file; raise ConfigError listing all its faults."""
    name = path.name
    try:
        data = parse_toml(read_bounded(path, LARGEST_FILE), LARGEST_FILE)
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except IsADirectoryError:
        raise ConfigError([f"{path}: is a folder; pass the tournament file in it"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except ValueError as error:
        raise ConfigError([f"{name}: {error}"]) from None
    data.setdefault("title", plain(path.stem))
    return check_tournament(data, name=name, base=path.resolve().parent)


def check_tournament(data: Mapping[str, Any], *, name: str, base: Path) -> Tournament:
    """Validate the tables of the tournament file `name`, with paths relative to `base`.

    Folders without a usable `bot.toml` are left out; they do not make the file invalid.
    """
    left_out, notes, folders = list[LeftOut](), list[str](), dict[int, EntryFolder]()
    pattern, tables = data.get("entries_from"), data.get("entries", [])
    if isinstance(tables, list) and all(isinstance(table, dict) for table in tables):
        try:
            entries, folders = with_bot_files(tables, base)
        except ValueError as error:
            raise ConfigError([f"{name}: {line}" for line in str(error).split("\n")]) from None
        if tables:
            data = {**data, "entries": entries}
        if isinstance(pattern, str):
            try:
                submitted, left_out, notes = find_entry_folders(pattern, base, entries)
            except ValueError as error:
                raise ConfigError([f"{name}: entries_from: {error}"]) from None
            data = {**data, "entries": [*entries, *_folder_entries(submitted, left_out, base)]}
    try:
        tournament = Tournament.model_validate(data, context={"base": base})
    except ValidationError as error:
        lines = [f"{name}: {line}" for line in describe(error, Tournament, data)]
        raise ConfigError([*lines, *(line for one in left_out for line in one.lines)]) from None
    for number, folder in folders.items():
        tournament.entries[number]._folder = folder
    tournament._left_out = tuple(left_out)
    tournament._notes = tuple(notes)
    return tournament


def _folder_entries(
    folders: Iterable[EntryFolder], left_out: list[LeftOut], base: Path
) -> list[Entry]:
    """Return the entries of these folders, adding folders without an entry to `left_out`."""
    entries: list[Entry] = []
    for folder in folders:
        table = {**folder.table, "name": folder.name}
        try:
            entry = Entry.model_validate(table, context={"base": base})
            entry._folder = folder
            entries.append(entry)
        except ValidationError as error:
            left_out.append(folder.without_entry(describe(error, Entry)))
    left_out.sort(key=lambda one: one.folder)
    return entries
