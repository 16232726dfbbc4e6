"""Values that describe a sandbox: the files that a program sees and the resources it may use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

try:
    import resource
except ImportError:  # Windows, which has no sandbox either
    resource = None  # type: ignore[assignment]

SandboxKind = Literal["bubblewrap", "none"]

MIB: Final = 1 << 20

BUILD_CACHE: Final = ".asara-build"
"""Name of the directory for caches that an author's builds keep from one to the next.

It lies in the directory of the bot, and no bot and no build of a tournament gets a copy of it.
"""

ADDRESS_SPACE_FACTOR: Final = 8
"""Ratio of address space to memory. Go and Java above all reserve far more than they use."""
_PENDING_SIGNALS: Final = 1_024
"""Signals that may be queued for a bot's processes."""
OWN_PROCESSES: Final = 4
"""Processes of bubblewrap itself that count like those of a bot."""


def hard_limit(name: str) -> int | None:
    """Return a hard limit of this process, such as NOFILE; None if there is none."""
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
    """Processor cores of all its processes together, which control groups limit; None for all."""

    def prlimit_options(self, *, memory: bool, largest_file: int = 0) -> list[str]:
        """Return the options of prlimit that limit each process, with or without its memory.

        Files may grow to `disk_mib`, or to `largest_file` bytes if that is more.
        """
        options = [
            "--core=0",
            f"--nofile={self.open_files}",
            f"--cpu={self.cpu_s}:{self.cpu_s + 1}",
            f"--fsize={max(self.disk_mib * MIB, largest_file)}",
            # Linux counts these for all programs of a user; none may use up what others need.
            f"--sigpending={min(_PENDING_SIGNALS, hard_limit('SIGPENDING') or _PENDING_SIGNALS)}",
        ]
        if memory:
            size = self.memory_mib * MIB
            return [*options, f"--data={size}", f"--as={size * ADDRESS_SPACE_FACTOR}"]
        kept = ((name, hard_limit(name.upper())) for name in ("data", "as"))
        return [*options, *(f"--{name}={hard or 'unlimited'}" for name, hard in kept)]


@dataclass(frozen=True)
class CopiedFile:
    """A single file of an entry that sees no directory."""

    path: Path
    """Path in the sandbox."""
    mode: int
    content: int
    """Descriptor of a file in memory."""


@dataclass(frozen=True)
class PrivateCopy:
    """The content of the directories and files that every process of an entry gets a copy of."""

    directories: tuple[Path, ...] = ()
    """Paths in the sandbox."""
    files: tuple[CopiedFile, ...] = ()
    archive: int | None = None
    """Descriptor of the archive of all directories, with paths relative to the root."""
    size: int = 0
    """Bytes of memory that a copy needs."""
    largest: int = 0
    """Bytes of the largest file."""


@dataclass(frozen=True, slots=True)
class FilesystemView:
    """Files that a program sees in addition to the system and the interpreter."""

    directory: Path
    """Working directory of the program."""
    readable: tuple[tuple[Path, Path], ...]
    """Files or directories, each as its path on this machine and its path in the sandbox.

    All programs that see one share it, read-only.
    """
    copied: PrivateCopy | None = None
    """Files and directories of which the program gets a copy of its own, in memory."""
    content: Path | None = None
    """Directory of this machine with what `directory` contains; None if it is at the same path."""
    writable: bool = False
    """True if the program works in the directory of this machine itself instead of a copy.

    $HOME and $TMPDIR are then the directory `BUILD_CACHE` in it, which must exist.
    """
    output: int | None = None
    """Descriptor to which its directory is written as a tar archive once the program succeeded."""


class SandboxConfig(NamedTuple):
    """Paths from which a worker creates the same sandbox as the runner's; see `Sandbox`."""

    hidden: tuple[Path, ...]
    shared: tuple[Path, ...]
