"""Keeps the results of sandboxed builds, so that an unchanged entry is not built again.

Each build is stored under the hash of everything that it depends on: the entry's name, folder,
command and variables, the limits, the sandbox, and the sizes, modes and times of the entry's files
and of the programs of this machine. The cache keeps one successful build per entry. A kept archive
is unpacked like the output of a new build (see `build_output`), so it can do no more harm than a
new build could.

Builds without a sandbox are not kept, because they may depend on anything on the machine.
"""

import hashlib
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from asara_server import system
from asara_server.tournament.config.commands import search_path
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox import bubblewrap
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import build_source
from asara_server.tournament.sandbox.machine_limits import build_limits
from asara_server.tournament.sandbox.own_files import real_path
from asara_server.tournament.sandbox.private_copy import CopySource, members, write_archive
from asara_server.tournament.sandbox.runtimes import visible_programs
from asara_server.tournament.sandbox.system_mounts import system_paths

_UNUSED_S: Final = 30 * 86_400.0
"""Seconds without use after which a kept build is deleted."""
_PACKAGE_LISTS: Final = (
    "/var/lib/dpkg/status",
    "/var/lib/rpm",
    "/lib/apk/db/installed",
    "/var/lib/pacman/local",
    "/nix/store",
    "/etc/ld.so.cache",
)
"""Files and directories that change whenever a system package is installed or upgraded."""
_CODE: Final = (Path(__file__).parent, Path(bubblewrap.__file__).parent)
"""Folders with the code that runs builds and their sandbox."""


class KeptBuild(NamedTuple):
    """The place in the cache for an entry's build, given the entry's present state."""

    folder: Path
    key: str
    """Hash of everything that the build depends on, in hexadecimal."""

    @property
    def archive(self) -> Path:
        return self.folder / f"{self.key}.tar"


class BuildCache:
    """The cache of this user's builds."""

    def __init__(self, folder: Path | None = None) -> None:
        """Without a `folder`, the builds are kept in $XDG_CACHE_HOME/asara/builds."""
        self._folder = folder or cache_folder() / "builds"

    def place(
        self, entry: Entry, limits: Limits, sandbox: Sandbox, hidden: Iterable[Path]
    ) -> KeptBuild:
        """Return the cache place of an entry's build; `hidden` is as for `build_sandbox`."""
        name = "\0".join((entry.name, str(entry.directory)))
        variables = sorted(entry.environment.items())
        allowed = f"{build_limits(limits, sandbox.tools.ceilings)} {limits.build_s}"
        files = build_source(sandbox, entry, hidden)
        parts = (
            *(name, *entry.build, str(variables), allowed),
            *_machine(entry, sandbox),
            *(_described(one.source, one.stat) for one in members(files)),
            *(part for path in entry.readable for part in (str(path), *_states(real_path(path)))),
        )
        folder = self._folder / hashlib.sha256(name.encode()).hexdigest()[:32]
        return KeptBuild(folder, _digest(parts))

    def open(self, kept: KeptBuild) -> int | None:
        """Return a descriptor of a build's archive, or None if there is none."""
        with suppress(OSError):
            if _is_private(self._folder):
                os.utime(kept.archive)
                return os.open(kept.archive, os.O_RDONLY | os.O_CLOEXEC)
        return None

    def keep(self, kept: KeptBuild, built: Path, home: Path) -> None:
        """Keep the directory `built`, whose path inside the sandbox is `home`.

        The new build replaces the entry's earlier build. If the disk is full, nothing is kept.
        """
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(self._folder):
                return
            self._remove_unused()
            kept.folder.mkdir(mode=0o700, exist_ok=True)
            number, part = tempfile.mkstemp(dir=kept.folder, suffix=".part")
            try:
                with os.fdopen(number, "wb") as file:
                    write_archive(CopySource(((built, home),)), home, file)
                Path(part).chmod(0o400)
                Path(part).rename(kept.archive)
                for path in set(kept.folder.glob("*.tar")) - {kept.archive}:
                    path.unlink(missing_ok=True)
            finally:
                Path(part).unlink(missing_ok=True)

    def _remove_unused(self) -> None:
        since = time.time() - _UNUSED_S
        for folder in self._folder.iterdir():
            if max((path.stat().st_mtime for path in folder.iterdir()), default=0.0) < since:
                shutil.rmtree(folder, ignore_errors=True)


def _digest(parts: Iterable[str]) -> str:
    """Return a hash of texts. Each has its length, so two different lists never share a hash."""
    digest = hashlib.sha256()
    for part in parts:
        data = os.fsencode(part)
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _machine(entry: Entry, sandbox: Sandbox) -> Iterator[str]:
    """Yield everything outside the entry that a build depends on: the sandbox and the programs."""
    yield from (platform.platform(), platform.machine(), sys.version)
    for folder in _CODE:
        yield from (hashlib.sha256(path.read_bytes()).hexdigest() for path in _sources(folder))
    ceilings = sorted(sandbox.tools.ceilings.items())
    yield f"{sandbox.tools.bubblewrap} {sandbox.has_cgroups} {ceilings}"
    on_path = search_path()
    programs = visible_programs(entry.build, entry.directory, {"PATH": on_path})
    folders = [Path(name) for name in programs.search_path(on_path)]
    runtimes = [source for source, _ in programs.mounts]
    for path in (*folders, *runtimes, *(one / "bin" for one in runtimes)):
        yield from _states(path, deep=False)
    for path in sorted(system_paths()):
        # The folder of a Python package itself changes when Python writes __pycache__ into it.
        yield from map(_state, _sources(path) or [path])
    for path in (*map(Path, _PACKAGE_LISTS), Path(sandbox.tools.bubblewrap)):
        yield _state(path)


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.py"))


def _states(top: Path, *, deep: bool = True) -> Iterator[str]:
    """Yield the state of a path and of its contents, one level down unless `deep` is set."""
    yield _state(top)
    for folder, folders, files in os.walk(top):
        folders.sort()
        for name in sorted((*folders, *files)):
            yield _state(Path(folder, name))
        if not deep:
            return


def _state(path: Path) -> str:
    try:
        return _described(path, path.stat())
    except OSError:
        return f"{path} -"


def _described(path: Path, found: os.stat_result) -> str:
    """Return a string that changes whenever the file changes.

    It includes the ctime, which nobody can set.
    """
    return f"{path} {found.st_mode} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _is_private(folder: Path) -> bool:
    """Return True if only this user can write to a folder."""
    found = folder.stat()
    if not system.FILE_OWNERS:
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def cache_folder() -> Path:
    """Return the folder of asara's caches. This user may lack permission to write to it."""
    home = os.environ.get("XDG_CACHE_HOME")
    if home and Path(home).is_absolute():
        return Path(home) / "asara"
    try:
        return Path.home() / ".cache" / "asara"
    except RuntimeError:  # the user has neither HOME nor an entry in passwd
        return Path("/.cache/asara")
