"""Control groups: one for each bot, if the system lets this user create them.

A control group limits all processes of a bot together. It limits their processor time to the
`cores` of a bot. All bots have the same weight, no matter how many threads they have, and less
weight than the referee, so no bot can keep the referee waiting for a processor for long. Version 2
is used if this process may delegate controllers to children of its own group. Otherwise version 1
is used if its hierarchies are writable, which usually requires root.

A group of version 2 can also be frozen, so that none of its processes runs, and it counts their
processor time. Neither needs a controller, so version 2's hierarchy is used for them even next to
the hierarchies of version 1.
"""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from asara_server.logs import logger
from asara_server.tournament.sandbox import cgroup_end

CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")
_REQUIRED: Final = ("memory", "pids")
_WANTED: Final = (*_REQUIRED, "cpu", "cpuset")
_UNIFIED: Final = "unified"
"""Folder of version 2's hierarchy next to the hierarchies of version 1."""
_RUNNER: Final = "asara-runner"
"""Name of the group that a runner enters, so that it can delegate to sibling groups."""
_REMOVAL_TRIES: Final = 100
_REMOVAL_INTERVAL_S: Final = 0.01
"""Seconds between attempts to remove an empty group that the kernel may still be using."""
_LEFTOVERS_S: Final = 10.0
"""Seconds given to the processes of a killed runner to end before the next runner begins."""

_PERIOD_US: Final = 100_000
"""Microseconds per period of the processor time limit; this is Linux's own default."""
_SHARES: Final = 256
"""Processor share of a bot's group in version 1; the referee's share is 1,024."""
_WEIGHT: Final = 25
"""Processor weight of a bot's group in version 2; the referee's weight is 100."""

_EVERYTHING: Final = str(1 << 40)
"""Bytes to reclaim from a group: more than a group may hold."""

_numbers = count(1)


@dataclass(eq=False, slots=True)
class Cgroup:
    """The control group of one bot."""

    folders: tuple[Path, ...]
    """One folder in version 2, or one per hierarchy in version 1."""
    freezer: Path | None = field(init=False)
    """The file that freezes the group; None if the group cannot be frozen."""
    # That file, open from the first use until the group is removed.
    _freezer_file: int = field(default=-1, init=False)
    _closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        files = (folder / "cgroup.freeze" for folder in self.folders)
        self.freezer = next((file for file in files if os.access(file, os.W_OK)), None)

    @property
    def procs_files(self) -> tuple[Path, ...]:
        """Files to which a process writes `0` to enter the group."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def confine(self, cores: str) -> None:
        """Let its processes run only on these cores, if Linux supports this; see `CoreSets`."""
        for folder in self.folders:
            if (folder / "cpuset.cpus").exists():
                with suppress(OSError):
                    (folder / "cpuset.cpus").write_text(cores)

    @property
    def can_freeze(self) -> bool:
        return self.freezer is not None

    def freeze(self) -> None:
        """Stop all processes of the group until it is thawed or killed. Raises OSError."""
        self._write_freezer(b"1")

    def thaw(self) -> None:
        """Let the processes of the group run again. Raises OSError."""
        self._write_freezer(b"0")

    def _write_freezer(self, value: bytes) -> None:
        if self.freezer is None or self._closed:
            return
        if self._freezer_file < 0:
            self._freezer_file = os.open(self.freezer, os.O_WRONLY | os.O_CLOEXEC)
        os.pwrite(self._freezer_file, value, 0)

    def processor_ns(self) -> int | None:
        """Return the processor time of all processes that were ever in the group, in nanoseconds.

        None if Linux does not count it. The time of a running process may lag by one scheduler
        tick, which is 1 to 10 ms.
        """
        for folder in self.folders:
            with suppress(OSError):
                used = re.match(r"usage_usec (\d+)", (folder / "cpu.stat").read_text())
                if used is not None:  # version 1's cpu.stat lacks the time
                    return int(used[1]) * 1_000
        return None

    def _close_files(self) -> None:
        self._closed = True
        if self._freezer_file >= 0:
            os.close(self._freezer_file)
            self._freezer_file = -1

    def ran_out_of_memory(self) -> bool:
        """Return True if the kernel killed a process because the group ran out of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    text = (folder / name).read_text()
                    kills = re.search(r"^oom_kill (\d+)", text, re.MULTILINE)
                    if kills and int(kills[1]):
                        return True
        return False

    def memory_peak(self) -> int | None:
        """Return the group's peak memory in bytes; None if Linux does not report it."""
        for folder in self.folders:
            for name in ("memory.peak", "memory.max_usage_in_bytes"):
                with suppress(OSError, ValueError):
                    return int((folder / name).read_text())
        return None

    def kill(self) -> list[int]:
        """Kill all processes of the group, and return the processes still there; see `remove`."""
        return cgroup_end.kill(self.folders)

    async def remove(self) -> None:
        """Remove the group after its processes have ended. A group with a process stays.

        The next runner ends a group that stays.
        """
        self._close_files()
        await asyncio.to_thread(self.empty_caches)
        for _ in range(_REMOVAL_TRIES):
            if self.try_remove() or any(map(cgroup_end.members, self.folders)):
                return
            await asyncio.sleep(_REMOVAL_INTERVAL_S)
        logger("sandbox").warning("a control group cannot be removed", group=str(self.folders[0]))

    def empty_caches(self) -> None:
        """Drop what the kernel has cached because processes of the group asked for it.

        This covers file pages loaded from disk and names that were looked up, even names that do
        not exist. Otherwise, a bot could leave itself messages: in its next match, it would
        recognise cached items by their speed. Processes that are still in the group continue, and
        reload what they need.
        """
        for folder in self.folders:
            for name, amount in (("memory.force_empty", "0"), ("memory.reclaim", _EVERYTHING)):
                with suppress(OSError):  # not all versions have the file; some memory may be in use
                    if (folder / name).exists():
                        (folder / name).write_text(amount)

    def try_remove(self) -> bool:
        """Remove the group if it has no processes. Return True if the group is gone."""
        self._close_files()
        left = [folder for folder in self.folders if not cgroup_end.remove(folder)]
        return not left


WITHOUT_CGROUPS: Final = (
    "Without control groups, a bot can pass on a deal to a later leg through names in the kernel's "
    "caches. Memory is then limited for each process only, and processor cores not at all."
)
"""The warning shown if `Cgroups.find` returns None."""


class Cgroups:
    """Creates control groups. `find` returns None if this user cannot create any."""

    def __init__(self, parents: Mapping[str, Path]) -> None:
        """`parents` are the folders in which groups are created, by controller."""
        self.can_freeze = False
        """True if the groups can be frozen."""
        self._parents = parents

    @classmethod
    def find(cls, root: Path = CONTROL_GROUPS) -> "Cgroups | None":
        """Return an object that creates limited groups, or None if groups cannot be limited."""
        parents = _version_2_parents(root) or _version_1_parents(root)
        if not parents.keys() >= set(_REQUIRED):
            return None
        cgroups = cls(parents)
        cgroups._end_leftovers()
        try:
            trial = cgroups.create(memory_bytes=1 << 26, processes=16)
        except OSError:
            return None
        cgroups.can_freeze = trial.can_freeze
        for folder in trial.folders:
            folder.rmdir()
        return cgroups

    def create(self, *, memory_bytes: int, processes: int, cores: int | None = None) -> Cgroup:
        """Create a group that limits all its processes together. May raise OSError.

        The `cores` are limited only if Linux supports this.
        """
        name = f"{cgroup_end.runner_prefix(os.getpid())}{next(_numbers)}"
        created: list[Path] = []
        try:
            for parent in self.parents:
                (parent / name).mkdir()
                created.append(parent / name)
            _write_limits(created, memory_bytes, processes)
            _write_shares(created, cores)
            _write_core_sets(created)
        except OSError:
            for folder in created:
                cgroup_end.remove(folder)
            raise
        return Cgroup(tuple(created))

    @property
    def parents(self) -> tuple[Path, ...]:
        """The parent folders: each group has a folder in each of them."""
        return tuple(dict.fromkeys(self._parents.values()))

    def _end_leftovers(self) -> None:
        """End the groups of killed runners, with the processes in them."""
        left = cgroup_end.end_groups(partial(cgroup_end.leftovers, self.parents), _LEFTOVERS_S)
        if left:
            logger("sandbox").warning(
                "processes of a run that was killed do not end", processes=left
            )


def _write_limits(folders: Sequence[Path], memory_bytes: int, processes: int) -> None:
    """Write the limits, of either version. Raises OSError if a required limit is missing."""
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


def _write_shares(folders: Iterable[Path], cores: int | None) -> None:
    """Set the processor share and the processor limit in both versions, as far as possible.

    Version 1 refuses a limit above the limit of the parent group, which then applies anyway.
    """
    settings = {"cpu.weight": str(_WEIGHT), "cpu.shares": str(_SHARES)}
    if cores is not None:
        time_us = cores * _PERIOD_US
        settings |= {"cpu.max": f"{time_us} {_PERIOD_US}", "cpu.cfs_quota_us": str(time_us)}
    for folder in folders:
        for name, value in settings.items():
            if (folder / name).exists():
                with suppress(OSError):
                    (folder / name).write_text(value)


def _write_core_sets(folders: Iterable[Path]) -> None:
    """Let version 1 groups use all cores and memory nodes of the parent group."""
    for folder in folders:
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (folder / name).exists() and not (folder / "cgroup.controllers").exists():
                (folder / name).write_text((folder.parent / name).read_text())


def _version_2_parents(root: Path) -> dict[str, Path]:
    """Return this process's version 2 group if it can delegate the controllers."""
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
    """Return this process's writable groups in the hierarchies of version 1.

    The group in version 2's hierarchy is added if that hierarchy is next to the others.
    """
    found = {name: _own_folder(root / name, name) for name in _WANTED}
    found[_UNIFIED] = _own_folder(root / _UNIFIED, "")
    return {name: own for name, own in found.items() if own and os.access(own, os.W_OK)}


def own_groups(root: Path = CONTROL_GROUPS) -> Iterator[Path]:
    """Yield this process's groups and their parents, up to the root of each hierarchy."""
    for hierarchy, controller in ((root, ""), *((root / name, name) for name in _REQUIRED)):
        if (own := _own_folder(hierarchy, controller)) is not None:
            yield own
            yield from (folder for folder in own.parents if hierarchy in (folder, *folder.parents))


def _own_folder(hierarchy: Path, controller: str) -> Path | None:
    """Return the folder of this process's group in the controller's hierarchy."""
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
