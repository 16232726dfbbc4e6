"""The part of /proc that sandboxed programs see, in addition to their own processes.

Most files in /proc report on the whole machine, so one bot could change what another bot reads.
Only files that never change while the machine runs are kept. A few others are replaced by constant
files because language runtimes read them. All remaining files are empty.
"""

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asara_server.bounded_file import MIB
from asara_server.tournament.sandbox.system_mounts import Mounts

_PROC: Final = Path("/proc")

_KEPT: Final = frozenset(
    (
        "acpi",
        "bus",
        "cmdline",
        "config.gz",
        "consoles",
        "devices",
        "dma",
        "execdomains",
        "filesystems",
        "iomem",
        "ioports",
        "misc",
        "mtrr",
        "mounts",  # a link to the process's own, like the next entries
        "net",
        "partitions",
        "self",
        "sysvipc",  # of the IPC namespace
        "thread-self",
        "version",
    )
)
_SETTINGS: Final = (
    "kernel/cap_last_cap",
    "kernel/ngroups_max",
    "kernel/osrelease",
    "kernel/ostype",
    "kernel/pid_max",
    "kernel/threads-max",
    "kernel/version",
    "net/core/somaxconn",
    "vm/max_map_count",
    "vm/overcommit_memory",
)
"""Kernel settings below /proc/sys that programs may read; they are copied once."""

_MEMORY: Final = ("MemTotal", "MemFree", "MemAvailable", "CommitLimit")
_NO_MEMORY: Final = (
    *("Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree"),
    *("Dirty", "Writeback", "AnonPages", "Mapped", "Shmem", "Slab", "SReclaimable"),
    *("SUnreclaim", "Committed_AS"),
)


@dataclass(frozen=True, slots=True)
class ProcView:
    """Mounts over /proc, and its constant files."""

    mounts: Mounts
    """Empty files and directories, mounted over this machine's own."""
    constants: Mapping[str, bytes]
    """Contents of the constant files, by path."""

    @classmethod
    def of_this_machine(cls) -> "ProcView":
        constants = {
            "/proc/cpuinfo": _read(_PROC / "cpuinfo"),
            "/proc/loadavg": b"0.00 0.00 0.00 1/1 1\n",
            "/proc/stat": _constant_stat(_read(_PROC / "stat")),
        }
        for name in _SETTINGS:
            if content := _read(_PROC / "sys" / name):
                constants[f"/proc/sys/{name}"] = content
        mounts: Mounts = {}
        for path in sorted(_PROC.iterdir()) if _PROC.is_dir() else ():
            name = path.name
            if name.isdigit() or name in _KEPT or str(path) in constants or name == "meminfo":
                continue
            if _is_private(path):
                continue
            if not path.is_dir():
                mounts[str(path)] = ["--ro-bind", "/dev/null", str(path)]
            elif name == "sys":
                mounts[str(path)] = ["--tmpfs", str(path)]
            else:
                mounts[str(path)] = ["--tmpfs", str(path), "--remount-ro", str(path)]
        return cls(mounts, constants)

    def files(self, memory_mib: int) -> dict[str, bytes]:
        """Return the content of all constant files, for a program with this much memory."""
        size = memory_mib * MIB // 1024
        lines = [f"{name + ':':<16}{size:>8} kB\n" for name in _MEMORY]
        lines += [f"{name + ':':<16}{0:>8} kB\n" for name in _NO_MEMORY]
        return {**self.constants, "/proc/meminfo": "".join(lines).encode()}


def _is_private(path: Path) -> bool:
    """Return True if only root may read the file, so that bots of another user cannot."""
    try:
        return os.geteuid() != 0 and not path.stat().st_mode & stat.S_IROTH
    except OSError:
        return False


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


def _constant_stat(content: bytes) -> bytes:
    """Return a /proc/stat with this machine's processors and boot time, but without activity."""
    processors = re.findall(rb"^cpu\d* ", content, re.MULTILINE)
    started = re.findall(rb"^btime \d+$", content, re.MULTILINE)
    lines = [name.strip().ljust(5) + b"0 0 0 1 0 0 0 0 0 0" for name in processors]
    lines += [b"intr 0", b"ctxt 0", *started, b"processes 1", b"procs_running 1"]
    return b"\n".join([*lines, b"procs_blocked 0", b""])
