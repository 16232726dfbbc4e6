"""The parts of this machine that every sandboxed program sees: system, interpreter and /proc.

Most files in /proc report on the whole machine, so one bot could change what another bot reads.
Only files that never change while the machine runs are kept. A few others are replaced by constant
files because language runtimes read them. All remaining files are empty.
"""

import os
import re
import site
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

from asara_server.bounded_file import MIB

Mounts: TypeAlias = dict[str, list[str]]
"""Options for bubblewrap, by the path in the sandbox that they create."""

_SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr", "/nix/store")
_ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
_PACKAGES = ("asara", "asara_codec", "asara_env", "asara_game", "asara_search", "asara_server")
"""Packages that bots may import; in an editable installation they are in the checkout."""


def system_mounts() -> Mounts:
    """Return the mounts of the system directories, the interpreter and its packages."""
    mounts = {}
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            mounts[name] = ["--symlink", str(path.readlink()), name]
        elif path.exists():
            mounts[name] = ["--ro-bind", name, name]
    etc = Path("/etc")
    for path in (*(etc / name for name in _ETC), *etc.glob("java-*")):
        if path.is_symlink() and path.exists():
            mounts[str(path)] = ["--ro-bind", str(path.resolve()), str(path)]
        elif path.exists():
            mounts[str(path)] = ["--ro-bind", str(path), str(path)]
    for path in _interpreter_paths():
        if not any(path.is_relative_to(name) for name in mounts):
            mounts[str(path)] = ["--ro-bind", str(path.resolve()), str(path)]
    return mounts


@cache
def system_paths() -> tuple[Path, ...]:
    """Return the paths on this machine that every program sees."""
    return tuple(map(Path, system_mounts()))


def is_of_system(path: Path) -> bool:
    """Return True for a path in the system directories, which every program sees."""
    return any(path.is_relative_to(name) for name in _SYSTEM)


def _interpreter_paths() -> list[Path]:
    """Return the interpreter and the directories that bots import from, outermost first."""
    executable = Path(sys.executable)
    found = {Path(name) for name in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    while executable.is_symlink():  # from the link in the virtual environment to the program
        executable = Path(os.path.normpath(executable.parent / executable.readlink()))
        found.add(executable)
    if site.ENABLE_USER_SITE:
        found.add(Path(site.getusersitepackages()))
    for package in _PACKAGES:
        spec = find_spec(package)
        found.update(map(Path, spec.submodule_search_locations or () if spec else ()))
    found |= {path.resolve() for path in found if path.is_dir()}
    return sorted((path for path in found if path.exists()), key=lambda path: len(path.parts))


# /proc

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
