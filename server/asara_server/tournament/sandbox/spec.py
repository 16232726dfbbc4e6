"""What a sandbox is made from, and what a program in it may see and use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

SandboxKind = Literal["bubblewrap", "none"]


MIB: Final = 1 << 20


ADDRESS_SPACE = 8
"""Times the memory limit: programs reserve far more than they use, Go and Java above all."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What a program may use. MiB and seconds."""

    memory_mb: int
    processes: int
    open_files: int
    cpu_s: int
    disk_mb: int

    def of_each_process(self, *, memory: bool) -> list[str]:
        """Options of prlimit for what each process may use, with or without memory."""
        limits = [
            "--core=0",
            f"--nofile={self.open_files}",
            f"--cpu={self.cpu_s}:{self.cpu_s + 1}",
            f"--fsize={self.disk_mb * MIB}",
        ]
        if memory:
            size = self.memory_mb * MIB
            limits += [f"--data={size}", f"--as={size * ADDRESS_SPACE}"]
        return limits


@dataclass(frozen=True, slots=True)
class FilesystemView:
    """What a program sees besides the system and the interpreter, and where it starts."""

    directory: Path
    readable: tuple[tuple[Path, Path], ...]
    """What lies where: source and destination, files or directories."""
    writable: tuple[tuple[Path, Path], ...] = ()


class SandboxConfig(NamedTuple):
    """What a worker makes its sandbox from."""

    secret: tuple[Path, ...]
    shared: tuple[Path, ...]
