"""Decides which files of this machine an entry's programs see, and sets up their sandboxes.

The README has the rules under "A bot's folder". Two entries with programs in one folder both see
the folder, each without the other's program. Folders whose names begin with a dot are left out of a
shared folder, because one such as `.git` may contain old copies of what is hidden.

Every process gets a copy of the entry's own files in memory. The process may change this copy,
which disappears with the process (see `private_copy`). It also sees the entry's `readable` paths,
which all processes share, read-only.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from glob import escape
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from asara_server.logs import logger
from asara_server.tournament.config.commands import OWN_PYTHON, search_path
from asara_server.tournament.config.entry_faults import fault_text
from asara_server.tournament.config.entry_folders import has_bot_file
from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry, Limits, MatchSettings
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.machine_limits import build_limits, match_limits
from asara_server.tournament.sandbox.private_copy import (
    BUILD_LIMIT,
    CopySource,
    CopyTooLargeError,
    PrivateCopies,
    PrivateCopy,
    check_size,
    copy_into_memory,
    largest_parts,
)
from asara_server.tournament.sandbox.resources import ReservedPaths
from asara_server.tournament.sandbox.runtimes import visible_programs
from asara_server.tournament.sandbox.system_mounts import system_paths


class Program(NamedTuple):
    """A file or folder that a command refers to."""

    folder: Path
    file: Path | None
    """The file; None if the command refers to the folder itself."""


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """An entry's own files and directories, which its programs see."""

    paths: tuple[Path, ...]
    shared: bool
    """False if these are a directory that contains nothing of anybody else."""
    named: tuple[Path, ...]
    """Files and folders that the command refers to."""
    source: CopySource
    """The files of which each of the entry's bots gets its own copy."""
    left_out: tuple[Path, ...] = ()
    """Files and folders that are left out so that the rest is small enough."""


class EntryFiles:
    """The files of all entries of a run."""

    def __init__(self, entries: Iterable[Entry], reserved: ReservedPaths, limits: Limits) -> None:
        self._entries = [entry for entry in entries if not entry.remote]
        self._programs = {entry.name: _programs_of(entry) for entry in self._entries}
        self._hidden = reserved.hidden
        self._shared = reserved.shared
        self._limit_mib = limits.directory_mib

    def of(self, entry: Entry, built: Path | None = None) -> OwnFiles:
        """Return the files of an entry.

        `built` is the directory produced by the entry's build, or None without a build.
        """
        programs = self._programs[entry.name]
        others = [other for other in self._entries if other.name != entry.name]
        foreign: set[Path] = set()
        for other in others:
            foreign.update(_foreign_paths(entry, programs, other, self._programs[other.name]))
        directory = entry.directory
        nested = [o.directory for o in others if o.directory != directory]
        # Authors may keep runs, which are hidden, in their bot's folder.
        referees = () if has_bot_file(directory) else self._hidden
        alone = not exposes_too_much(directory) and not any(
            is_in(path, directory) for path in (*foreign, *referees, *self._shared, *nested)
        )
        foreign.update(self._hidden)
        paths = _own_paths(entry, programs, foreign, alone=alone)
        if not alone:
            for other in others:
                theirs = self._programs[other.name]
                foreign.update(_foreign_readable(entry, programs, other, theirs))
        named = tuple(program.file or program.folder for program in programs)
        excluded = frozenset([*replaced_paths(entry), *self._hidden, *system_paths()])
        left_out: tuple[Path, ...] = ()
        if built is not None:
            source = CopySource(((built, directory),), excluded)
        else:
            source = CopySource(
                tuple((path, path) for path in paths),
                excluded.union(foreign),
                dot_folders=alone,
                kept=frozenset(one for path in named for one in (path, *path.parents)),
            )
            left_out = () if alone else largest_parts(source, self._limit_mib)
        source = source.without(left_out)
        return OwnFiles(paths, not alone, named, source, left_out)


def replaced_paths(entry: Entry) -> Iterator[Path]:
    """Yield the paths that the sandbox replaces with `readable` paths."""
    for path in entry.readable:
        yield path
        yield real_path(path)
        yield from (folder for folder in path.parents if folder.is_symlink())


def _own_paths(
    entry: Entry, programs: Sequence[Program], foreign: Iterable[Path], *, alone: bool
) -> tuple[Path, ...]:
    """Return the files and folders that an entry sees: its directory if it is there `alone`."""
    directory = entry.directory
    paths = [directory] if alone else []
    for number, program in enumerate(programs):
        inside = is_in(program.folder, directory)
        if alone and inside:
            continue
        whole = not exposes_too_much(program.folder) and not any(
            is_in(program.folder, path) for path in foreign
        )
        if whole and (inside or number == 0):
            paths.append(program.folder)
        elif program.file is not None:
            paths.append(program.file)
    if not programs and "directory" in entry.model_fields_set:
        paths += [] if exposes_too_much(directory) else [directory]
    return _outermost(paths)


def _programs_of(entry: Entry) -> tuple[Program, ...]:
    """Return the files and folders that an entry's command refers to.

    Links are ignored, because otherwise their maker would choose what an entry sees. Programs of
    the system are ignored too, because every bot sees them.
    """
    directory = entry.directory
    if module := _module(entry):
        return (module,)
    found = []
    for word in entry.command:
        path = Path(os.path.normpath(directory / word))
        if real_path(path) != path or any(is_in(path, one) for one in system_paths()):
            continue
        if is_file(path):
            found.append(Program(path.parent, path))
        elif os.path.isdir(path) and is_in(path, directory):  # noqa: PTH112 - see is_file
            found.append(Program(path, None))
    return tuple(found)


def real_path(path: Path) -> Path:
    """Return a path with its links followed. A loop of links is kept, and never raises an error."""
    return Path(os.path.realpath(path))


def is_file(path: Path) -> bool:
    """Return True if the file exists. Unlike `Path.is_file`, returns False if access is denied."""
    return os.path.isfile(path)  # noqa: PTH113


def _module(entry: Entry) -> Program | None:
    """Return the module that `python -m` runs, if it is in the entry's directory."""
    words = entry.command
    if not words or words[0] not in OWN_PYTHON or "-m" not in words[1:-1]:
        return None
    parts = words[words.index("-m") + 1].split(".")
    if not all(part.isidentifier() for part in parts):  # a slash would lead elsewhere
        return None
    path = entry.directory.joinpath(*parts)
    for file in (path.with_name(f"{path.name}.py"), path / "__main__.py"):
        if is_file(file) and real_path(file) == file:
            return Program(entry.directory, file)
    return None


def _foreign_paths(
    entry: Entry, programs: Sequence[Program], other: Entry, theirs: Sequence[Program]
) -> Iterator[Path]:
    """Yield the programs and folders of another entry that `entry` does not share."""
    places = (entry.directory, *(program.folder for program in programs))
    for folder in (other.directory, *(program.folder for program in theirs)):
        if not any(is_in(place, folder) for place in places):
            yield folder
    own = {program.file for program in programs}
    for program in theirs:
        if program.file is not None and program.file not in own:
            yield program.file
            compiled = program.folder / "__pycache__"
            yield from compiled.glob(f"{escape(program.file.stem)}.*.pyc")
    for word in other.command:
        path = Path(os.path.normpath(other.directory / word))
        if is_file(path) and os.path.islink(path):  # noqa: PTH114 - of any length
            real = real_path(path)
            if real not in own:
                yield real


def _foreign_readable(
    entry: Entry, programs: Sequence[Program], other: Entry, theirs: Sequence[Program]
) -> Iterator[Path]:
    """Yield another entry's `readable` paths, unless the two entries share a folder."""
    folders = {program.folder for program in programs}
    if not folders.isdisjoint(program.folder for program in theirs):
        return
    for path in other.readable:
        common = any(is_in(one, path) or is_in(path, one) for one in entry.readable)
        if not common and not any(is_in(folder, path) for folder in folders):
            yield path
            yield real_path(path)


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Remove paths that are inside others."""
    found: list[Path] = []
    for path in sorted(set(paths), key=lambda one: len(one.parts)):
        if not any(is_in(path, outer) for outer in found):
            found.append(path)
    return tuple(found)


def is_in(path: Path, folder: Path) -> bool:
    """Return True if a path is a folder or inside it; faster than `Path.is_relative_to`."""
    text, outer = str(path), str(folder)
    return text == outer or text.startswith(outer if outer == "/" else f"{outer}/")


# Sandboxes


def match_sandbox(
    sandbox: Sandbox, entry: Entry, settings: MatchSettings, copies: PrivateCopies
) -> SandboxSpec:
    """Return the sandbox for a bot of `entry` in a match.

    `copies` keeps the entry's files for its next process. Raises CopyTooLargeError.
    """
    limits = settings.limits
    built = settings.build_directories.get(entry.name)

    def read() -> PrivateCopy:
        own = EntryFiles(settings.entries, sandbox.reserved, limits).of(entry, built)
        return copy_into_memory(own.source, limits.directory_mib)

    on_path = search_path()
    programs = visible_programs(entry.command, entry.directory, {"PATH": on_path}, built)
    load_program(entry.command[0], os.pathsep.join(programs.search_path(on_path)))
    for path in entry.readable:
        load(real_path(path))
    return SandboxSpec(
        sandbox,
        match_limits(limits, sandbox.tools.ceilings),
        entry.directory,
        tuple(_readable_mounts(entry)),
        copied=copies.get(entry.name, read),
        content=built,
        loopback=entry.loopback,
    )


def oversized_entries(
    sandbox: Sandbox, entries: Sequence[Entry], built: Mapping[str, Path], limits: Limits
) -> dict[str, str]:
    """Return the entries whose files are too large for a copy in memory, with the reasons.

    `built` maps entries to the directories that their builds have produced.
    """
    log = logger("runner")
    preview = preview_views(entries, limits, sandbox.reserved, built)
    for name, parts in preview.left_out.items():
        too_large = [str(part) for part in parts]
        log.warning("entry does not see all of its folder", entry=name, too_large=too_large)
    for name, why in preview.out.items():
        log.warning("entry is out", entry=name, why=why)
    return preview.out


@dataclass(frozen=True, slots=True)
class ViewPreview:
    """Reasons why bots will not see files that their authors expect them to see."""

    out: dict[str, str] = field(default_factory=dict)
    """Entries that will be out because of their files, with the reasons."""
    left_out: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    """For each entry, the largest files and folders, which its bots will not see."""
    together: list[tuple[str, ...]] = field(default_factory=list)
    """Groups of entries with different programs and teams that see the same folder."""


def preview_views(
    entries: Sequence[Entry],
    limits: Limits,
    reserved: ReservedPaths,
    built: Mapping[str, Path] = MappingProxyType({}),
) -> ViewPreview:
    """Return what can be known before the first match about the files that bots will see.

    The size of an entry with a build is known only after the build; `built` maps entries to the
    directories that their builds have produced. No sandbox is needed.
    """
    preview = ViewPreview()
    files = EntryFiles(entries, reserved, limits)
    users: dict[Path, list[tuple[Entry, tuple[Path, ...]]]] = {}
    for entry in entries:
        if entry.remote or (entry.build and entry.name not in built):
            continue
        try:
            own = files.of(entry, built.get(entry.name))
            for path in own.paths if own.shared else ():
                users.setdefault(path, []).append((entry, own.named))
            if own.left_out:
                preview.left_out[entry.name] = own.left_out
            check_size(own.source, limits.directory_mib)
        except CopyTooLargeError as error:
            preview.out[entry.name] = str(error.strerror)
        except Exception as error:  # noqa: BLE001 - of its files alone
            preview.out[entry.name] = f"its files cannot be read: {fault_text(error)}"
    for found in users.values():
        programs = {named for _, named in found}
        teams = {entry.team.casefold() or entry.name for entry, _ in found}
        if len(programs) > 1 and len(teams) > 1:
            preview.together.append(tuple(entry.name for entry, _ in found))
    return preview


def _readable_mounts(entry: Entry) -> Iterator[tuple[Path, Path]]:
    """Yield the `readable` paths, each as its path on this machine and its path in the sandbox.

    A link appears as a copy of its target, both at the link's path and at the target's.
    """
    for path in entry.readable:
        target = real_path(path)
        yield target, target
        if target != path and not any(other in path.parents for other in entry.readable):
            yield target, path


def build_sandbox(sandbox: Sandbox, entry: Entry, limits: Limits, output: int) -> SandboxSpec:
    """Return the sandbox for a build of `entry`, which works in memory.

    The build sees a copy of the directory without hidden paths. After a successful build, its
    directory is written to `output`. Raises CopyTooLargeError.
    """
    excluded = [*replaced_paths(entry), *sandbox.reserved.hidden, *system_paths()]
    source = CopySource(((entry.directory, entry.directory),), frozenset(excluded))
    return SandboxSpec(
        sandbox,
        build_limits(limits, sandbox.tools.ceilings),
        entry.directory,
        tuple(_readable_mounts(entry)),
        copied=copy_into_memory(source, limits.build_mib, BUILD_LIMIT),
        output=output,
        loopback=True,
    )


def in_place_sandbox(
    sandbox: Sandbox, directory: Path, readable: Iterable[Path], limits: Limits
) -> SandboxSpec:
    """Return the sandbox for a build that works in the author's own directory.

    The build also sees the `readable` files and directories, which are all outside that directory.
    """
    mounts = tuple((real_path(path), path) for path in readable)
    allowed = build_limits(limits, sandbox.tools.ceilings)
    return SandboxSpec(sandbox, allowed, directory, mounts, writable=True, loopback=True)


_MAX_BYTES: Final = 4 << 30
"""Maximum bytes loaded for one path, which may be a directory."""
_SYSTEM_FOLDERS: Final = frozenset(map(Path, ("/", "/usr", "/usr/local")))


def load_program(word: str, search_path: str) -> None:
    """Load the program given by a command's first word, and the libraries next to it.

    This process's own interpreter is already loaded, with the modules that bots import.
    """
    found = shutil.which(word, path=search_path)
    if found is None:
        return
    program = Path(found).resolve()
    if program == Path(sys.executable).resolve():
        return
    load(program)
    home = program.parent.parent
    if program.parent.name == "bin" and home not in _SYSTEM_FOLDERS:
        load(home / "lib")


@cache
def load(path: Path) -> None:
    """Load a file, or all files of a directory, into the kernel's cache, once per process.

    Files first loaded by a bot are dropped from the cache when the bot ends (see
    `Cgroup.empty_caches`), so that it leaves no traces there. Large files that all bots of an entry
    read would then come from the disk at every start. If this process loads them, they stay cached.
    """
    left = _MAX_BYTES
    for file in _files(path):
        with suppress(OSError):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                left -= os.fstat(descriptor).st_size
                if left < 0:
                    return
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(descriptor)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        for name in names:
            yield Path(folder, name)
