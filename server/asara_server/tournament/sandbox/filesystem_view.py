"""Sets up the files in the sandboxes of an entry.

Every process gets a copy of the entry's own files (see `own_files`) in memory. The process may
change this copy, which disappears with the process (see `private_copy`). It also sees the entry's
`readable` paths, which all processes share, read-only.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from asara_server.logs import logger
from asara_server.tournament.config.commands import search_path
from asara_server.tournament.config.entry_faults import fault_text
from asara_server.tournament.config.tournament_file import Entry, Limits, MatchSettings
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.machine_limits import build_limits, match_limits
from asara_server.tournament.sandbox.own_files import EntryFiles, real_path, replaced_paths
from asara_server.tournament.sandbox.private_copy import (
    BUILD_LIMIT,
    CopySource,
    CopyTooLargeError,
    PrivateCopies,
    PrivateCopy,
    check_size,
    copy_into_memory,
)
from asara_server.tournament.sandbox.runtimes import visible_programs
from asara_server.tournament.sandbox.spec import ReservedPaths
from asara_server.tournament.sandbox.system_mounts import system_paths


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


def build_sandbox(
    sandbox: Sandbox, entry: Entry, limits: Limits, hidden: Iterable[Path], output: int
) -> SandboxSpec:
    """Return the sandbox for a build of `entry`, which works in memory.

    The build sees a copy of the directory without the `hidden` paths. After a successful build, its
    directory is written to `output`. Raises CopyTooLargeError.
    """
    excluded = [*replaced_paths(entry), *sandbox.reserved.hidden, *system_paths(), *hidden]
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
