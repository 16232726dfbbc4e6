"""The settings of a run on its workers, and what they require of a worker's process.

The runner and its workers must have the same version of asara and of the game. Files and
directories must be at the same path, unless they are sent.
"""

import logging
import platform
from collections.abc import Container
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Self

from asara_game.edition import load_edition
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import reductions
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox, require_freezer
from asara_server.tournament.sandbox.spec import ReservedPaths
from asara_server.tournament.schedule.match_settings import MatchSettings


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
        return cls(version("asara"), python, load_edition().sha256.hex())


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
class RunSettings:
    """Settings for all blocks of a run; each worker receives them once."""

    match_settings: MatchSettings
    """Their limits are limits that the runner's machine can keep, and so must the worker's."""
    reserved: ReservedPaths | None
    """The paths reserved in the runner's sandbox; None without a sandbox."""
    run_id: str = ""
    """The hash of the manifest, plus a random part for each session of the run."""
    paths: tuple[tuple[str, Path], ...] = ()
    """Files and directories that must exist, each with its entry's name."""
    log_level: int = logging.INFO
    """Minimum level, as in `logging`, of the log lines that workers return."""
    directory: Path | None = None
    """The run directory, if the worker should write its block's journal and bots' output there.

    A worker with a run directory plays one block at a time.
    """
    program: Program = field(default_factory=Program.here)

    def marks(self) -> tuple[FileMark | None, ...]:
        """Return the marks of the required paths, as this process sees them."""
        return tuple(FileMark.of(path) for _, path in self.paths)

    def sandbox(self) -> Sandbox | None:
        """Return this process's sandbox for the run; None without one. Raises SandboxError."""
        reserved = self.reserved
        return None if reserved is None else _sandbox(self.match_settings.limits, reserved)

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
        ponder = self.match_settings.ponder
        try:
            if (sandbox := self.sandbox()) is not None:
                limits, ceilings = self.match_settings.limits, sandbox.tools.ceilings
                for one in reductions(limits, ceilings, builds=False):
                    raise SandboxError(f"{one.text}; {one.remedy}")
                if not ponder:
                    require_freezer(sandbox)
        except SandboxError as error:
            key = "--sandbox bubblewrap" if ponder else "ponder = false"
            lines.append(f"{key}: {error}")
        return lines


@cache
def _sandbox(limits: Limits, reserved: ReservedPaths) -> Sandbox:
    """Return this process's only sandbox of this kind, tested when it is created."""
    return find_sandbox(limits, reserved)
