"""Decides which of an entry's files its programs see, and sets up their sandboxes.

An entry sees its whole directory if that contains neither the tournament file, nor anything that a
run writes, nor the directory or a program of another entry. Otherwise, for each file that its
command names, it sees the file's folder if that lies within the directory and meets the same
condition, or else the file alone. Every process gets a copy of these in memory, which it may change
and which ends with it (see `private_copy`). It also sees the paths that it names as `readable`,
which all processes share, read-only.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from asara_server.logs import logger
from asara_server.tournament.config.commands import search_path
from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.page_cache import load, load_program
from asara_server.tournament.sandbox.private_copy import (
    CopyTooLargeError,
    PrivateCopies,
    check_size,
    copy_into_memory,
)
from asara_server.tournament.sandbox.spec import FilesystemView, ResourceLimits


def match_sandbox(
    sandbox: Sandbox | None,
    entry: Entry,
    entries: Iterable[Entry],
    built: Path | None,
    limits: Limits,
    copies: PrivateCopies,
) -> SandboxSpec | None:
    """Return what contains a bot of `entry` in a match: None without a sandbox.

    `built` is the directory that a build has produced; None if the entry is not built. `copies`
    keeps the entry's files for its next process. Raises CopyTooLargeError.
    """
    if sandbox is None:
        return None
    paths = _copied_paths(sandbox, entry, entries, built)
    load_program(entry.command[0], search_path())
    for path in entry.readable:
        load(path)
    view = FilesystemView(
        entry.directory,
        readable=tuple((path, path) for path in entry.readable),
        copied=copies.get(paths, _not_copied(sandbox, entry), limits.directory_mb),
    )
    return SandboxSpec(sandbox, view, _match_limits(limits))


def oversized_entries(
    sandbox: Sandbox, entries: Sequence[Entry], built: Mapping[str, Path], limits: Limits
) -> dict[str, str]:
    """Return the entries of whose files bots cannot get a copy in memory, with the reasons.

    `built` has the directories that builds have produced, by entry.
    """
    found = {}
    for entry in entries:
        if entry.remote:
            continue
        paths = _copied_paths(sandbox, entry, entries, built.get(entry.name))
        try:
            check_size(paths, _not_copied(sandbox, entry), limits.directory_mb)
        except CopyTooLargeError as error:
            found[entry.name] = str(error.strerror)
            logger("runner").warning("entry is out", entry=entry.name, why=error.strerror)
    return found


def too_large_before_building(
    entries: Sequence[Entry], limits: Limits, *, hidden: Sequence[Path], shared: Path
) -> dict[str, str]:
    """Return the entries without a build that will be out for their size, with the reasons.

    How much an entry with a build holds is known after the build only. `hidden` and `shared` are
    those of `Sandbox`, which itself is not needed.
    """
    found = {}
    for entry in entries:
        if entry.remote or entry.build:
            continue
        paths = [(path.resolve(), path) for path in own_paths(entry, entries, (*hidden, shared))]
        try:
            check_size(paths, [*entry.readable, *hidden], limits.directory_mb)
        except CopyTooLargeError as error:
            found[entry.name] = str(error.strerror)
    return found


def _copied_paths(
    sandbox: Sandbox, entry: Entry, entries: Iterable[Entry], built: Path | None
) -> list[tuple[Path, Path]]:
    """Return the files and directories of the entry, each also as its path in the sandbox."""
    if built is not None:
        return [(built, entry.directory)]
    own = own_paths(entry, entries, (*sandbox.hidden, *sandbox.shared))
    return [(path.resolve(), path) for path in own]


def _not_copied(sandbox: Sandbox, entry: Entry) -> list[Path]:
    return [*entry.readable, *sandbox.hidden, *sandbox.system_paths]


def build_sandbox(
    sandbox: Sandbox, entry: Entry, limits: Limits, hidden: Iterable[Path], output: int
) -> SandboxSpec:
    """Return what contains a build of `entry`, which works in memory.

    It sees a copy of the directory without the `hidden` paths, and its directory is written to
    `output` once it has succeeded. Raises CopyTooLargeError.
    """
    excluded = [*_not_copied(sandbox, entry), *hidden]
    view = FilesystemView(
        entry.directory,
        readable=tuple((path, path) for path in entry.readable),
        copied=copy_into_memory([(entry.directory, entry.directory)], excluded, limits.build_mb),
        output=output,
    )
    build_limits = replace(
        _match_limits(limits),
        memory_mb=limits.build_memory_mb + limits.build_mb,
        disk_mb=limits.build_mb,
    )
    return SandboxSpec(sandbox, view, build_limits)


def _match_limits(limits: Limits) -> ResourceLimits:
    return ResourceLimits(
        memory_mb=limits.memory_mb,
        processes=limits.processes,
        open_files=limits.open_files,
        cpu_s=limits.cpu_s,
        disk_mb=limits.disk_mb,
    )


def own_paths(entry: Entry, entries: Iterable[Entry], hidden: Sequence[Path] = ()) -> list[Path]:
    """Return the files and directories of `entry`, among all `entries`, that its bots see.

    They see no directory that contains one of the `hidden` paths.
    """
    own = _program_files(entry)
    foreign = [*hidden]
    for other in entries:
        if other.name != entry.name:
            paths = [other.directory, *_program_files(other)]
            foreign += [path for path in paths if path not in (entry.directory, *own)]

    def is_exclusive(folder: Path) -> bool:
        whole = folder.resolve()
        return not (exposes_too_much(whole) or any(path.is_relative_to(whole) for path in foreign))

    if is_exclusive(entry.directory):
        return [entry.directory]
    found = []
    for path in own:
        inside = entry.directory in path.parent.parents
        found.append(path.parent if inside and is_exclusive(path.parent) else path)
    return found


def _program_files(entry: Entry) -> list[Path]:
    """Return the files that the command names.

    Links are left out: whoever made a link would choose what an entry sees.
    """
    found = []
    for word in entry.command:
        path = Path(os.path.normpath(entry.directory / word))
        try:
            if path.is_file() and path.resolve() == path:
                found.append(path)
        except OSError:  # the word is too long for a file name
            continue
    return found
