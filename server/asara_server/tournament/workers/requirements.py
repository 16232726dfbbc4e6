"""Requirements of a run that every worker has to meet, and how they are checked."""

import platform
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Self

from asara_game.edition import Edition, load_edition
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import reductions
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox, require_freezer
from asara_server.tournament.sandbox.spec import SandboxConfig


class Program(NamedTuple):
    """Versions that must be the same in the runner and in all workers."""

    asara: str
    python: str
    """Major and minor version."""
    edition_sha256: str

    @classmethod
    def here(cls) -> Self:
        """Return the versions in this process."""
        python = ".".join(platform.python_version_tuple()[:2])
        return cls(version("asara"), python, edition().sha256.hex())


class FileMark(NamedTuple):
    """Identity of a file or directory, by which a machine recognises one that it shares."""

    inode: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Return the mark of a path; None if it does not exist."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_ino, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class WorkerRequirements:
    """Requirements that the process of a worker has to meet."""

    program: Program
    paths: tuple[tuple[str, Path], ...]
    """Files and directories that must exist, each with the name of its entry."""
    sandbox_config: SandboxConfig | None
    limits: Limits
    """Limits of bots, which its machine has to permit."""
    freezer: bool = False
    """True if bots are frozen while they are not asked."""

    def marks(self) -> tuple[FileMark | None, ...]:
        """Return the marks of the paths in this process."""
        return tuple(FileMark.of(path) for _, path in self.paths)

    def missing(self, playing: Container[str] | None = None) -> list[str]:
        """Return a line for each requirement that this process does not meet.

        With `playing`, only files of these entries are looked for.
        """
        labels = ("asara", "Python", "the edition of the game")
        lines = [
            f"it has {label} {ours}, but the runner has {theirs}: install the same on both"
            for label, ours, theirs in zip(labels, Program.here(), self.program, strict=True)
            if ours != theirs
        ]
        lines += [
            f"entry {name}: {path} does not exist there; entries must be on a file system that "
            "all machines share, at the same path"
            for name, path in self.paths
            if (playing is None or name in playing) and not path.exists()
        ]
        if self.sandbox_config is not None:
            try:
                sandbox = shared_sandbox(self.sandbox_config, self.limits)
                ceilings = sandbox.tools.ceilings
                for one in reductions(self.limits, ceilings, builds=False):
                    raise SandboxError(f"{one.text}; {one.remedy}")
                if self.freezer:
                    require_freezer(sandbox)
            except SandboxError as error:
                key = "ponder = false" if self.freezer else "--sandbox bubblewrap"
                lines.append(f"{key}: {error}")
        return lines


def worker_requirements(
    entries: tuple[Entry, ...],
    build_directories: Mapping[str, Path],
    sandbox_config: SandboxConfig | None,
    limits: Limits,
    *,
    freezer: bool = False,
) -> WorkerRequirements:
    """Return the requirements of matches between these entries.

    `limits` are those that the runner's machine can keep. With `freezer`, bots are frozen while
    they are not asked.
    """
    paths = [
        (entry.name, path)
        for entry in entries
        for path in (build_directories.get(entry.name, entry.directory), *entry.readable)
    ]
    return WorkerRequirements(Program.here(), tuple(paths), sandbox_config, limits, freezer)


@cache
def edition() -> Edition:
    """Return the edition of the game that this process plays."""
    return load_edition()


@cache
def shared_sandbox(sandbox_config: SandboxConfig, limits: Limits) -> Sandbox:
    """Return the one sandbox of this process with this configuration, tried out when it is made.

    Raises SandboxError.
    """
    return find_sandbox(limits, hidden=sandbox_config.hidden, shared=sandbox_config.shared)
