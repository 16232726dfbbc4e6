"""Values that describe sandboxes: reserved paths, and the resources that a program may use."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, Self

from asara_server.bounded_file import MIB

try:
    import resource
except ImportError:  # Windows, which has no sandbox anyway
    resource = None  # type: ignore[assignment]

SandboxKind = Literal["bubblewrap", "none"]

BUILD_CACHE: Final = ".asara-build"
"""Name of the directory for caches that an author's builds keep between builds.

It is in the bot's directory. Tournament bots and builds never get a copy of it.
"""

ADDRESS_SPACE_FACTOR: Final = 8
"""Ratio of address space to memory. Go and Java in particular reserve far more than they use."""
_PENDING_SIGNALS: Final = 1_024
"""Maximum number of signals that may be queued for a bot's processes."""
OWN_PROCESSES: Final = 4
"""Number of bubblewrap's own processes that count like the bot's processes."""


def hard_limit(name: str) -> int | None:
    """Return a hard limit of this process, such as NOFILE; None without a limit."""
    if resource is None:
        return None
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    return None if hard == resource.RLIM_INFINITY else hard


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Resources that a program may use, in MiB and seconds."""

    memory_mib: int
    processes: int
    open_files: int
    cpu_s: int
    disk_mib: int
    cores: int | None = None
    """Processor cores for all its processes together, with control groups; None for all."""

    def prlimit_options(self, *, memory: bool, largest_file: int = 0) -> list[str]:
        """Return prlimit options that limit each process, including or excluding its memory.

        Files may grow to `disk_mib`, or to `largest_file` bytes if that is more.
        """
        options = [
            "--core=0",
            f"--nofile={self.open_files}",
            f"--cpu={self.cpu_s}:{self.cpu_s + 1}",
            f"--fsize={max(self.disk_mib * MIB, largest_file)}",
            # Linux counts these per user, so one program must not use up what others need.
            f"--sigpending={min(_PENDING_SIGNALS, hard_limit('SIGPENDING') or _PENDING_SIGNALS)}",
        ]
        if memory:
            size = self.memory_mib * MIB
            return [*options, f"--data={size}", f"--as={size * ADDRESS_SPACE_FACTOR}"]
        kept = ((name, hard_limit(name.upper())) for name in ("data", "as"))
        return [*options, *(f"--{name}={hard or 'unlimited'}" for name, hard in kept)]


class ReservedPaths(NamedTuple):
    """Paths of this machine that belong to no entry, or to no single entry."""

    hidden: tuple[Path, ...] = ()
    """Files and directories that no program sees, wherever they are."""
    shared: tuple[Path, ...] = ()
    """Directories that do not belong to a single entry; see `filesystem_view`."""

    def with_hidden(self, paths: Iterable[Path]) -> Self:
        """Return these paths with additional hidden paths."""
        return self._replace(hidden=(*self.hidden, *(path.resolve() for path in paths)))


NOTHING_RESERVED: Final = ReservedPaths()
