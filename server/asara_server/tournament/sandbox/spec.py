"""Values that describe a sandbox: the files that a program sees and the resources it may use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

SandboxKind = Literal["bubblewrap", "none"]

MIB: Final = 1 << 20

_ADDRESS_SPACE_FACTOR: Final = 8
"""Ratio of address space to memory. Go and Java above all reserve far more than they use."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Resources that a program may use, in MiB and seconds."""

    memory_mb: int
    processes: int
    open_files: int
    cpu_s: int
    disk_mb: int

    def prlimit_options(self, *, memory: bool) -> list[str]:
        """Return the options of prlimit that limit each process, with or without its memory."""
        options = [
            "--core=0",
            f"--nofile={self.open_files}",
            f"--cpu={self.cpu_s}:{self.cpu_s + 1}",
            f"--fsize={self.disk_mb * MIB}",
        ]
        if memory:
            size = self.memory_mb * MIB
            options += [f"--data={size}", f"--as={size * _ADDRESS_SPACE_FACTOR}"]
        return options


@dataclass(frozen=True, slots=True)
class FilesystemView:
    """Files that a program sees in addition to the system and the interpreter."""

    directory: Path
    """Working directory of the program."""
    readable: tuple[tuple[Path, Path], ...]
    """Files or directories, each as its path on this machine and its path in the sandbox."""
    writable: tuple[tuple[Path, Path], ...] = ()


class SandboxConfig(NamedTuple):
    """Paths from which a worker creates the same sandbox as the runner's; see `Sandbox`."""

    hidden: tuple[Path, ...]
    shared: tuple[Path, ...]
