"""Control groups: one for each bot, if the system lets this user create them.

A control group limits all processes of a bot together, whatever they do, and gives every bot the
same share of the CPU, however many threads it has. Version 2 is used if this process may delegate
controllers to children of its own group. Otherwise version 1 is used if its hierarchies are
writable, which usually requires root.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/sys/fs/cgroup")
_REQUIRED: Final = ("memory", "pids")
_WANTED: Final = (*_REQUIRED, "cpu")
_RUNNER: Final = "asara-runner"
"""Name of the group that a runner enters, so that it can delegate to groups beside it."""
_REMOVAL_TRIES: Final = 100
_REMOVAL_INTERVAL_S: Final = 0.01
"""Seconds between attempts to remove a group, whose processes may still be ending."""

_EVERYTHING: Final = str(1 << 40)
"""Bytes to reclaim from a group: more than it may hold."""

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The control group of one bot."""

    folders: tuple[Path, ...]
    """One folder in version 2, or one for each hierarchy in version 1."""

    @property
    def procs_files(self) -> tuple[Path, ...]:
        """Files to which a process writes `0` in order to enter the group."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def ran_out_of_memory(self) -> bool:
        """Return True if the kernel killed a process because the group exceeded its memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    text = (folder / name).read_text()
                    kills = re.search(r"^oom_kill (\d+)", text, re.MULTILINE)
                    if kills and int(kills[1]):
                        return True
        return False

    def memory_peak(self) -> int | None:
        """Return the most bytes of memory that the group has used; None if Linux does not say."""
        for folder in self.folders:
            for name in ("memory.peak", "memory.max_usage_in_bytes"):
                with suppress(OSError, ValueError):
                    return int((folder / name).read_text())
        return None

    def processor_ns(self) -> int | None:
        """Return the processor time of all processes that were ever in the group, in nanoseconds.

        None if Linux does not count it.
        """
        for folder in self.folders:
            with suppress(OSError, ValueError):
                return int((folder / "cpuacct.usage").read_text())
            with suppress(OSError):
                text = (folder / "cpu.stat").read_text()
                if used := re.search(r"^usage_usec (\d+)", text, re.MULTILINE):
                    return int(used[1]) * 1_000
        return None

    async def remove(self) -> None:
        """Remove the group, waiting about a second for killed processes to disappear."""
        for _ in range(_REMOVAL_TRIES):
            if not self._has_processes():
                break
            await asyncio.sleep(_REMOVAL_INTERVAL_S)
        await asyncio.to_thread(self.empty_caches)
        for _ in range(_REMOVAL_TRIES):
            if self.try_remove():
                return
            await asyncio.sleep(_REMOVAL_INTERVAL_S)

    def empty_caches(self) -> None:
        """Drop what the kernel's caches hold because processes of the group asked for it.

        These are pages of files that were not in memory, and names that were looked up, among them
        names that do not exist. Otherwise a bot could recognise them by their speed in its next
        match, and so leave itself messages there. The processes of the group, if there are any, go
        on; they load what they still need again.
        """
        for folder in self.folders:
            for name, amount in (("memory.force_empty", "0"), ("memory.reclaim", _EVERYTHING)):
                with suppress(OSError):  # not all versions have it; some of it may be in use
                    if (folder / name).exists():
                        (folder / name).write_text(amount)

    def _has_processes(self) -> bool:
        for file in self.procs_files:
            with suppress(OSError):
                if file.read_bytes():
                    return True
        return False

    def try_remove(self) -> bool:
        """Remove the group unless a process is left in it. Return True if it is gone."""
        left = [folder for folder in self.folders if not _remove_folder(folder)]
        return not left


class Cgroups:
    """Creates control groups. `find` returns None if this user cannot create them."""

    def __init__(self, parents: Mapping[str, Path]) -> None:
        """`parents` are the folders to create groups in, by controller."""
        self._parents = parents

    @classmethod
    def find(cls, root: Path = _ROOT) -> "Cgroups | None":
        """Return None unless groups that limit memory and processes can be created."""
        parents = _version_2_parents(root) or _version_1_parents(root)
        if not parents.keys() >= set(_REQUIRED):
            return None
        cgroups = cls(parents)
        cgroups._remove_leftovers()
        try:
            trial = cgroups.create(memory_bytes=1 << 26, processes=16)
        except OSError:
            return None
        for folder in trial.folders:
            folder.rmdir()
        return cgroups

    def create(self, *, memory_bytes: int, processes: int) -> Cgroup:
        """Create a group with limits for all its processes together. May raise OSError."""
        name = f"asara-{os.getpid()}-{next(_numbers)}"
        created: list[Path] = []
        try:
            for parent in dict.fromkeys(self._parents.values()):
                (parent / name).mkdir()
                created.append(parent / name)
            _write_limits(created, memory_bytes, processes)
        except OSError:
            for folder in created:
                _remove_folder(folder)
            raise
        return Cgroup(tuple(created))

    def _remove_leftovers(self) -> None:
        """Remove the groups of runners that were killed."""
        for parent in self._parents.values():
            for folder in parent.glob("asara-*-*"):
                runner = folder.name.split("-")[1]
                if not Path("/proc", runner).exists():
                    _remove_folder(folder)


def _write_limits(folders: Sequence[Path], memory_bytes: int, processes: int) -> None:
    """Set the limits of both versions that exist. Raises OSError without a required one."""
    limits = (
        ("memory.max", memory_bytes, "memory"),
        ("memory.swap.max", 0, ""),
        ("memory.limit_in_bytes", memory_bytes, "memory"),
        ("memory.memsw.limit_in_bytes", memory_bytes, ""),
        ("pids.max", processes, "pids"),
    )
    limited = set()
    for folder in folders:
        for file, value, controller in limits:
            if (folder / file).exists():
                (folder / file).write_text(str(value))
                limited.add(controller)
    if not limited.issuperset(_REQUIRED):
        raise OSError("the control groups have no limits to set")


def _version_2_parents(root: Path) -> dict[str, Path]:
    """Return the group of this process in version 2 if it can delegate the controllers."""
    own = _own_folder(root, "")
    if own is not None and own.name == _RUNNER:  # of this process or of the runner it works for
        own = own.parent
    if own is None or not os.access(own / "cgroup.subtree_control", os.W_OK):
        return {}
    try:
        available = (own / "cgroup.controllers").read_text().split()
        wanted = [name for name in _WANTED if name in available]
        if not set(wanted).issuperset(_REQUIRED):
            return {}
        delegated = (own / "cgroup.subtree_control").read_text().split()
        if not set(delegated).issuperset(wanted):
            # A group that delegates controllers to children may not contain processes itself.
            (own / _RUNNER).mkdir(exist_ok=True)
            (own / _RUNNER / "cgroup.procs").write_text(str(os.getpid()))
            control = " ".join(f"+{name}" for name in wanted)
            (own / "cgroup.subtree_control").write_text(control)
    except OSError:
        with suppress(OSError):
            (own / "cgroup.procs").write_text(str(os.getpid()))
            (own / _RUNNER).rmdir()
        return {}
    return dict.fromkeys(wanted, own)


def _version_1_parents(root: Path) -> dict[str, Path]:
    """Return the writable groups of this process in the hierarchies of version 1."""
    parents = {}
    for name in _WANTED:
        own = _own_folder(root / name, name)
        if own is not None and os.access(own, os.W_OK):
            parents[name] = own
    return parents


def _own_folder(hierarchy: Path, controller: str) -> Path | None:
    """Return the folder of this process's group in the hierarchy that has the controller."""
    if not (hierarchy / "cgroup.procs").exists():
        return None
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            own = hierarchy / path.lstrip("/")
            return own if own.is_dir() else hierarchy  # a container's root is the mount itself
    return None


def _remove_folder(folder: Path) -> bool:
    """Return True if the group is gone; one that contains processes stays."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
