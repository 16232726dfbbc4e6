"""Decides which files of this machine belong to an entry, so that its programs see them.

The README has the rules under "A bot's folder". Two entries with programs in one folder both see
the folder, each without the other's program. Folders whose names begin with a dot are left out of a
shared folder, because one such as `.git` may contain old copies of what is hidden.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import NamedTuple

from asara_server.tournament.config.commands import OWN_PYTHON
from asara_server.tournament.config.entry_folders import has_bot_file
from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.private_copy import CopySource, largest_parts
from asara_server.tournament.sandbox.spec import ReservedPaths
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
    """What is copied for each of the entry's bots."""
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
