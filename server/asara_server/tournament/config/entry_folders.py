"""Entries from folders: the key `entries_from` of a tournament file, and `bot.toml` of a folder.

    command = "./my-bot --depth 2"     # or a list of arguments; relative to the folder
    name = "Deep thought"              # default: the name of the folder
    build = "make"                     # default: no build
    environment = { LEVEL = "3" }
    readable = ["weights"]             # parts of the folder that are shared instead of copied

Strangers write these files. A key can therefore affect only the bot of its own folder: limits,
teams, tokens and other directories are for the organiser alone, and no path leads out of the
folder. Paths outside the folder are never accessed, so that errors reveal nothing about them.
"""

import difflib
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from asara_game.bounded_toml import parse_toml
from asara_server import bundled
from asara_server.bounded_file import read_bounded
from asara_server.text import plain
from asara_server.tournament.config.commands import command_words, split_command
from asara_server.tournament.config.entry_faults import fault_text
from asara_server.tournament.config.fields import Name, VariableText
from asara_server.tournament.config.names import name_fault
from asara_server.tournament.config.validation_errors import describe, numbered

BOT_FILE: Final = "bot.toml"
LARGEST_BOT_FILE: Final = 16 * 1024
"""Maximum size of a `bot.toml`, in bytes."""

_MOST_FOUND: Final = 10_000
"""Maximum number of files and folders searched for matches of a pattern."""
_MOST_SHARED: Final = 10_000
"""Maximum number of files and folders in an entry's `readable` directories."""
_SYSTEM: Final = ("/bin", "/lib", "/lib64", "/sbin", "/usr")
"""Directories with the system's programs, which every bot sees."""
_ORGANISERS: Final = re.compile(
    r"directory|team|token|loopback|limits|clocks|seed|memory|cpu|processes|open_files|\w+_(s|mib|bytes)"
)
"""Keys of a tournament file that authors might expect to set."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A folder without a usable `bot.toml`, which takes no part."""

    folder: str
    """Name of the folder."""
    why: str
    """The faults, one per line, each with the file's name."""

    @property
    def lines(self) -> list[str]:
        """The faults, each as a complete sentence."""
        return [f"skipped: {line}" for line in self.why.split("\n")]


@dataclass(frozen=True, slots=True)
class EntryFolder:
    """A folder with a valid `bot.toml`."""

    path: Path
    """Resolved path of the folder."""
    shown: str
    """Path of the folder's `bot.toml` for messages, as the pattern finds it."""
    bot_toml_sha256: str
    name: str
    table: Mapping[str, Any]
    """The remaining keys, as a table of a tournament file with absolute paths."""

    @property
    def folder(self) -> str:
        """Name of the folder."""
        return self.path.name

    def without_entry(self, faults: Iterable[str]) -> LeftOut:
        """Return the folder as left out because of these faults, which may contain its path."""
        folder = str(Path(self.shown).parent)
        shown = (fault.replace(str(self.path), folder) for fault in faults)
        return LeftOut(plain(self.folder), _lines(self.shown, shown))


class BotFile(BaseModel):
    """Content of `bot.toml`; the validation context has the resolved `folder`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    command: tuple[str, ...]
    name: Name = ""
    """Name of the entry; "" stands for that of its folder."""
    build: tuple[str, ...] = ()
    environment: Mapping[str, VariableText] = {}
    readable: tuple[str, ...] = ()
    """Files and directories in the folder, as absolute paths."""

    @field_validator("command", "build", mode="before")
    @classmethod
    def _check_words(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        words = command_words(value)
        folder = _folder_of(info)
        for word in words:
            if not _path_inside(folder, word, also=_SYSTEM):
                raise ValueError(
                    f"{plain(word)!r} leads out of the folder; put the file into it, and write the "
                    "name of a program of the system without its folder"
                )
        return words

    @field_validator("environment")
    @classmethod
    def _check_environment(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name in value:
            # With another PATH, the sandbox would show the bot a program of the author's choice.
            if name == "PATH" or name.startswith("ASARA_"):
                raise ValueError(f"{plain(name)!r} is set by the runner; leave it out")
        return value

    @field_validator("readable", mode="before")
    @classmethod
    def _check_readable(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
            raise ValueError("must be a list of paths in the folder")
        folder = _folder_of(info)
        paths = []
        for text in value:
            real = "" if "\0" in text else _path_inside(folder, text)
            if not real:
                raise ValueError(
                    f"{plain(text)!r} leads out of the folder; put what the bot needs in"
                )
            path = Path(real)
            if path == folder:
                raise ValueError(
                    f"{plain(text)!r} is the folder itself; name only large parts of it"
                )
            if fault := _sharing_fault(path):
                fetched = not path.exists() and (folder / "fetch.sh").is_file()
                hint = "; run the fetch.sh of the folder, which downloads packages" * fetched
                raise ValueError(f"{plain(text)!r} {fault}{hint}")
            paths.append(str(path))
        return tuple(paths)


def find_entry_folders(
    pattern: str, base: Path, tables: Sequence[Mapping[str, Any]] = ()
) -> tuple[list[EntryFolder], list[LeftOut], list[str]]:
    """Return the folders found by a pattern such as `submissions/*`, relative to `base`.

    The folders without a usable `bot.toml` come second, and then a note for each entry whose name
    differs from the name in its `bot.toml`.

    `tables` are the tournament file's own entries: a folder that is the `directory` of one of them
    is skipped. Raises ValueError if the pattern is invalid or finds nothing.
    """
    parent, found = _matches(pattern, base)
    taken = {_real(base, table.get("directory")) for table in tables}
    found = [path for path in found if os.path.realpath(path) not in taken]
    read: list[EntryFolder] = []
    left_out = []
    for path in found:
        shown = plain(f"{parent}/{path.name}" if parent else path.name)
        try:
            read.append(_read_submitted(path, shown))
        except ValueError as error:
            left_out.append(LeftOut(plain(path.name), str(error)))
        except Exception as error:  # noqa: BLE001 - the other folders play
            why = f"{shown}: cannot be read: {fault_text(error)}"
            left_out.append(LeftOut(plain(path.name), why))
    reserved = {_key(str(table.get("name"))): "the tournament file" for table in tables}
    entries, unnamed, notes = _named(read, [path.name for path in found], reserved)
    return entries, left_out + unnamed, notes


def _matches(pattern: str, base: Path) -> tuple[str, list[Path]]:
    """Return the directory part of a pattern, and what the pattern finds there, sorted by name."""
    parent, _, last = pattern.rpartition("/")
    if not last or "\0" in pattern or any(char in parent for char in "*?["):
        raise ValueError(
            f"{plain(pattern)!r} must be a folder and a pattern for the folders in it, such "
            "as 'submissions/*'"
        )
    if pattern.startswith("/") and not parent:
        parent = "/"
    directory = base / Path(parent)
    try:
        with os.scandir(directory) as inside:
            names = [entry.name for entry in islice(inside, _MOST_FOUND + 1)]
    except OSError as error:
        raise ValueError(f"{plain(str(directory))!r} cannot be read: {error.strerror}") from None
    if len(names) > _MOST_FOUND:
        raise ValueError(f"{plain(str(directory))!r} has more than {_MOST_FOUND:,} files")
    dotted = last.startswith(".")
    chosen = [name for name in names if fnmatchcase(name, last)]
    chosen = sorted(name for name in chosen if dotted or not name.startswith("."))
    if not chosen:
        raise ValueError(
            f"{plain(pattern)!r} finds nothing; put each entry into a folder of its own, with a "
            f"{BOT_FILE}"
        )
    return parent, [directory / name for name in chosen]


def _read_submitted(path: Path, shown: str) -> EntryFolder:
    """Return the entry of a folder found by a pattern; otherwise like `read_entry_folder`."""
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        raise ValueError(f"{shown}: is a link; copy the folder itself")
    if not stat.S_ISDIR(about.st_mode):
        raise ValueError(f"{shown}: is a file; unpack it, or move it elsewhere")
    return read_entry_folder(path, shown)


def has_bot_file(folder: Path) -> bool:
    """Return True if a folder contains a `bot.toml`, valid or not."""
    return os.path.lexists(folder / BOT_FILE)


def read_entry_folder(path: Path, shown: str) -> EntryFolder:
    """Return the entry of a folder; raises ValueError with its faults, one per line.

    `shown` is the folder's path for messages. If `bot.toml` sets no name, the entry has none.
    """
    folder, file, name = path.resolve(), path / BOT_FILE, f"{shown}/{BOT_FILE}"
    if file.is_symlink():
        raise ValueError(f"{name}: is a link; it must be a file")
    try:
        content = read_bounded(file, LARGEST_BOT_FILE)
    except FileNotFoundError:
        raise ValueError(f"{name}: no such file; it says at least: command = …") from None
    except OSError as error:
        raise ValueError(f"{name}: cannot be read: {error.strerror}") from None
    try:
        data = parse_toml(content, LARGEST_BOT_FILE)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if reserved := [key for key in data if _ORGANISERS.fullmatch(key)]:
        raise ValueError(
            f"{name}: {plain(reserved[0])}: is for the organiser to set, in the tournament file; "
            "leave it out"
        )
    try:
        bot = BotFile.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        raise ValueError(_lines(name, describe(error, BotFile))) from None
    table = bot.model_dump(exclude={"name"}, exclude_unset=True)
    for key in table.keys() - {"environment"}:
        table[key] = list(table[key])
    table["directory"] = str(folder)
    return EntryFolder(folder, name, sha256(content).hexdigest(), bot.name, table)


def built_in_bots() -> dict[str, Path]:
    """Return the folder of each built-in bot, by bot name."""
    folders = sorted(folder for folder in bundled.path("bots").iterdir() if has_bot_file(folder))
    return {folder.name: folder for folder in folders}


def name_of_bot(table: Mapping[str, Any]) -> str:
    """Return the default name of an entry with the key `bot`."""
    return str(table.get("bot")).strip().partition(" ")[0]


def built_in_table(table: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the table of an entry with the key `bot`; raises ValueError."""
    if others := [key for key in ("command", "directory", "build", "token") if key in table]:
        raise ValueError(
            f"{others[0]}: leave it out, or leave out bot, which starts a built-in bot"
        )
    try:
        name, *options = split_command(table["bot"])
        if name not in (bots := built_in_bots()):
            close = difflib.get_close_matches(name, bots, n=1)
            known = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(bots)}"
            raise ValueError(f"there is no built-in bot {plain(name)!r}; {known}")
        if "build" in parse_toml((bots[name] / BOT_FILE).read_bytes(), LARGEST_BOT_FILE):
            raise ValueError(f"{name} must be built; enter a copy made with `asara new`")
        found = read_entry_folder(bots[name], name).table
    except ValueError as error:
        raise ValueError(f"bot: {error}") from None
    return {"name": name, **found, "command": [*found["command"], *options], **table}


def with_bot_files(
    tables: Sequence[Mapping[str, Any]], base: Path
) -> tuple[list[Any], dict[int, EntryFolder]]:
    """Complete the tables of entries that give only a directory, using the `bot.toml` there.

    Also return each such folder by the number of its table. Raises ValueError with all faults, one
    per line.
    """
    complete, folders, faults = list[Any](tables), dict[int, EntryFolder](), list[str]()
    for number, table in enumerate(tables):
        directory = _directory_of_bot_file(table, base)
        if "bot" in table:
            complete[number] = {"name": name_of_bot(table), **table}
        if directory is None:
            continue
        try:
            folder = read_entry_folder(directory, plain(str(table["directory"])))
        except ValueError as error:
            entry = numbered(number, table.get("name"))
            faults += [f"{entry}: {line}" for line in str(error).split("\n")]
            continue
        folders[number] = folder
        complete[number] = {"name": folder.name or folder.folder, **folder.table, **table}
    if faults:
        raise ValueError("\n".join(faults))
    return complete, folders


def _directory_of_bot_file(table: Mapping[str, Any], base: Path) -> Path | None:
    """Return the directory whose `bot.toml` holds an entry's command; None if there is none."""
    directory = table.get("directory")
    if table.keys() & {"bot", "command", "token"} or not isinstance(directory, str):
        return None
    try:
        path = Path(os.path.realpath(base / Path(directory).expanduser()))
        return path if has_bot_file(path) else None
    except (OSError, RuntimeError, ValueError):  # which the check of the directory explains
        return None


def _lines(name: str, faults: Iterable[str]) -> str:
    return "\n".join(f"{name}: {fault}" for fault in faults)


# Names


def _named(
    read: Sequence[EntryFolder], folders: Sequence[str], reserved: Mapping[str, str]
) -> tuple[list[EntryFolder], list[LeftOut], list[str]]:
    """Return the entries with their final names, the entries without a valid name, and notes.

    The organiser chooses the names of folders. If a stranger asks for another entry's name, both
    entries are therefore named after their folders, and nobody's name is stolen.
    """
    wanted = Counter(_key(one.name) for one in read)
    owners: dict[str, str] = dict(reserved)
    for folder in folders:
        owners.setdefault(_key(folder), folder)
    entries, left_out, notes = [], [], []
    for one in read:
        key = _key(one.name)
        if one.name and wanted[key] == 1 and owners.get(key, one.folder) == one.folder:
            entries.append(one)
            continue
        fault = _folder_name_fault(one, owners)
        if fault:
            left_out.append(LeftOut(plain(one.folder), f"{one.shown}: {fault}"))
            continue
        if one.name:
            notes.append(
                f"{one.shown}: name: {one.name!r} is also the name of another entry; this entry "
                f"plays as {one.folder!r}"
            )
        entries.append(replace(one, name=one.folder))
    return entries, left_out, notes


def _folder_name_fault(one: EntryFolder, owners: Mapping[str, str]) -> str:
    """Return why an entry cannot be named after its folder, or "" if it can."""
    if fault := name_fault(one.folder):
        own = f"{one.name!r} is also the name of another entry" if one.name else "is missing"
        return f"name: {own}, and the name of the folder cannot be used: {plain(fault)}"
    if (owner := owners[_key(one.folder)]) != one.folder:
        where = owner if owner == "the tournament file" else f"the folder {plain(owner)!r}"
        return f"an entry of {where} has the name of this folder; rename the folder"
    return ""


def _key(name: str) -> str:
    """Return a key that is equal for names that people could confuse."""
    return unicodedata.normalize("NFKC", name).casefold()


# Paths


def _folder_of(info: ValidationInfo) -> Path:
    folder: Path = (info.context or {})["folder"]
    return folder


def _real(base: Path, directory: object) -> str:
    """Return the resolved `directory` of an entry in the tournament file; "" if it has none."""
    if not isinstance(directory, str) or "\0" in directory:
        return ""
    try:
        return os.path.realpath(base / Path(directory).expanduser())
    except (OSError, RuntimeError):
        return ""


def _path_inside(folder: Path, word: str, also: Sequence[str] = ()) -> str:
    """Return a path with all its links followed; "" if it leads outside the folder and `also`.

    Both the path as written and the file that it leads to must be inside.
    """
    joined = os.path.join(folder, word)  # noqa: PTH118 - of any length
    tops = (str(folder), *also)
    if not any(_is_within(os.path.normpath(joined), top) for top in tops):
        return ""  # without a look at what is there
    try:
        real = os.path.realpath(joined)
    except OSError:
        return ""
    return real if any(_is_within(real, top) for top in tops) else ""


def _is_within(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")


def _sharing_fault(path: Path) -> str:
    """Return why an entry's bots cannot share a path, or "" if they can.

    Through a pipe or a socket, for example, bots in different matches could talk to each other.
    """
    if not path.exists():
        return "does not exist"
    for number, mode in enumerate(_modes(path)):
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            return "contains a device, a pipe or a socket; remove that"
        if number >= _MOST_SHARED:
            return f"has more than {_MOST_SHARED:,} files; pack them into fewer"
    return ""


def _modes(path: Path) -> Iterator[int]:
    """Yield the modes of a path and of everything below it."""
    yield path.lstat().st_mode
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            yield Path(folder, name).lstat().st_mode
