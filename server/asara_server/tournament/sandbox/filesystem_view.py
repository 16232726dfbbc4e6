"""How the programs of an entry are contained: which of its files they see, what they may use.

An entry that has a directory of its own sees it as a whole: one that holds neither the tournament
file, nor what a run leaves behind, nor the directory or a program of another entry. Where it shares
its directory, it sees the folders in it of the files that its command names, each under the same
condition, or else these files alone. What it names as `readable` it sees in any case. All of it is
read-only, but for the copy of its directory that a build works in.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.spec import FilesystemView, ResourceLimits


def visible_paths(
    entry: Entry, entries: Iterable[Entry], secret: Sequence[Path] = ()
) -> list[Path]:
    """The files and directories that this entry of `entries` sees. `secret` is nobody's."""
    own = program_files(entry)
    foreign = [*secret]
    for other in entries:
        if other.name != entry.name:
            places = [other.directory, *program_files(other)]
            foreign += [path for path in places if path not in (entry.directory, *own)]

    def free(folder: Path) -> bool:
        whole = folder.resolve()
        return not (exposes_too_much(whole) or any(path.is_relative_to(whole) for path in foreign))

    if free(entry.directory):
        return [entry.directory, *entry.readable]
    found = []
    for path in own:
        inside = entry.directory in path.parent.parents
        found.append(path.parent if inside and free(path.parent) else path)
    return [*found, *entry.readable]


def program_files(entry: Entry) -> list[Path]:
    """The files that the command names.

    A link is none of them: whoever made it would choose what is seen.
    """
    found = []
    for word in entry.command:
        path = Path(os.path.normpath(entry.directory / word))
        try:
            if path.is_file() and path.resolve() == path:
                found.append(path)
        except OSError:  # a word that is too long for a name
            continue
    return found


def confined(
    sandbox: Sandbox | None,
    entry: Entry,
    entries: Iterable[Entry],
    built: Path | None,
    limits: Limits,
) -> SandboxSpec | None:
    """For a match. `built` is what a build has made of the entry's directory."""
    if sandbox is None:
        return None
    if built is None:
        own = visible_paths(entry, entries, (*sandbox.secret, *sandbox.shared))
        readable = [(path.resolve(), path) for path in own]
    else:
        readable = [(built, entry.directory), *((path, path) for path in entry.readable)]
    resource_limits = ResourceLimits(
        memory_mb=limits.memory_mb,
        processes=limits.processes,
        open_files=limits.open_files,
        cpu_s=limits.cpu_s,
        disk_mb=limits.disk_mb,
    )
    return SandboxSpec(sandbox, FilesystemView(entry.directory, tuple(readable)), resource_limits)


def confined_build(
    sandbox: Sandbox | None, entry: Entry, copy: Path, limits: Limits
) -> SandboxSpec | None:
    """For a build, which works in `copy`."""
    if sandbox is None:
        return None
    view = FilesystemView(
        entry.directory,
        readable=tuple((path, path) for path in entry.readable),
        writable=((copy, entry.directory),),
    )
    resource_limits = ResourceLimits(
        memory_mb=limits.build_memory_mb,
        processes=limits.processes,
        open_files=limits.open_files,
        cpu_s=limits.cpu_s,
        disk_mb=limits.build_mb,
    )
    return SandboxSpec(sandbox, view, resource_limits)
