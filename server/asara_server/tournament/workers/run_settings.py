"""Requirements that every worker of a run must meet, and their checks."""

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
    """Versions that must be equal in the runner and in all workers."""

    asara: str
    python: str
    """Python's major and minor version."""
    edition_sha256: str

    @classmethod
    def here(cls) -> Self:
        """Return the versions of this process."""
        python = ".".join(platform.python_version_tuple()[:2])
        return cls(version("asara"), python, edition().sha256.hex())


class FileMark(NamedTuple):
    """Identity of a file or directory; a machine recognises shared files by their marks."""

    inode: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Return the mark of a path; None if the path does not exist."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_ino, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class WorkerRequirements:
    """Requirements that a worker's process must meet."""

    program: Program
    paths: tuple[tuple[str, Path], ...]
    """Files and directories that must exist, each with its entry's name."""
    sandbox_config: SandboxConfig | None
    limits: Limits
    """Limits of bots, which the worker's machine must permit."""
    freezer: bool = False
    """True if bots are frozen while no decision is requested from them."""

    def marks(self) -> tuple[FileMark | None, ...]:
        """Return the marks of the required paths, as this process sees them."""
        return tuple(FileMark.of(path) for _, path in self.paths)

    def missing(self, playing: Container[str] | None = None) -> list[str]:
        """Return a line for each requirement that this process does not meet.

        With `playing`, files are checked for these entries only.
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
    """Return the requirements for matches between these entries.

    `limits` are limits that the runner's machine can keep. With `freezer`, bots are frozen while no
    decision is requested from them.
    """
    paths = [
        (entry.name, path)
        for entry in entries
        for path in (build_directories.get(entry.name, entry.directory), *entry.readable)
    ]
    return WorkerRequirements(Program.here(), tuple(paths), sandbox_config, limits, freezer)


@cache
def edition() -> Edition:
    """Return the edition of the game for which this process is set up."""
    return load_edition()


@cache
def shared_sandbox(sandbox_config: SandboxConfig, limits: Limits) -> Sandbox:
    """Return this process's only sandbox with this configuration, tested when it is created.

    Raises SandboxError.
    """
    return find_sandbox(limits, hidden=sandbox_config.hidden, shared=sandbox_config.shared)
