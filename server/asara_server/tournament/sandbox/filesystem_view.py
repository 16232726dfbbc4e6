"""Decides which of an entry's files its programs see, and sets up their sandboxes.

An entry sees its whole directory if that contains neither the tournament file, nor anything that a
run writes, nor the directory or a program of another entry. Otherwise, for each file that its
command names, it sees the file's folder if that lies within the directory and meets the same
condition, or else the file alone. It always sees the paths that it names as `readable`. Everything
is read-only, except for the copy of the directory that a build works in.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.spec import FilesystemView, ResourceLimits


def match_sandbox(
    sandbox: Sandbox | None,
    entry: Entry,
    entries: Iterable[Entry],
    built: Path | None,
    limits: Limits,
) -> SandboxSpec | None:
    """Return what contains a bot of `entry` in a match: None without a sandbox.

    `built` is the directory that a build has produced; None if the entry is not built.
    """
    if sandbox is None:
        return None
    if built is None:
        visible = visible_paths(entry, entries, (*sandbox.hidden, *sandbox.shared))
        readable = [(path.resolve(), path) for path in visible]
    else:
        readable = [(built, entry.directory), *((path, path) for path in entry.readable)]
    view = FilesystemView(entry.directory, tuple(readable))
    return SandboxSpec(sandbox, view, _match_limits(limits))


def build_sandbox(
    sandbox: Sandbox | None, entry: Entry, copy: Path, limits: Limits
) -> SandboxSpec | None:
    """Return what contains a build of `entry`, which works in `copy`: None without a sandbox."""
    if sandbox is None:
        return None
    view = FilesystemView(
        entry.directory,
        readable=tuple((path, path) for path in entry.readable),
        writable=((copy, entry.directory),),
    )
    build_limits = replace(
        _match_limits(limits), memory_mb=limits.build_memory_mb, disk_mb=limits.build_mb
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


def visible_paths(
    entry: Entry, entries: Iterable[Entry], hidden: Sequence[Path] = ()
) -> list[Path]:
    """Return the files and directories that `entry` sees, among all `entries`.

    It sees no directory that contains one of the `hidden` paths.
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
        return [entry.directory, *entry.readable]
    found = []
    for path in own:
        inside = entry.directory in path.parent.parents
        found.append(path.parent if inside and is_exclusive(path.parent) else path)
    return [*found, *entry.readable]


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
