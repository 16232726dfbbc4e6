"""Control groups: one for each bot, where the system lets this user make them.

A group bounds all processes of a bot together, whatever they do, and gives every bot the same
share of the processor however many threads it has. Both generations are used: version 2 where this
process may delegate to children of its own group, version 1 where the hierarchies are writable,
which mostly means root.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_MOUNTS = Path("/sys/fs/cgroup")
_NEEDED = ("memory", "pids")
_RUNNER = "asara-runner"
"""The group that a runner puts itself in, to delegate to others beside it."""
_numbers = count(1)
_TRIES, _TRY_S = 100, 0.01
"""To remove a group, whose processes may still be ending, and the seconds between these."""


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The group of one bot."""

    folders: tuple[Path, ...]
    """One for each hierarchy."""

    @property
    def entrances(self) -> tuple[Path, ...]:
        """A process that writes `0` to each of these is in the group."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def out_of_memory(self) -> bool:
        """Whether a process was killed because the group used more memory than it may."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    found = re.search(r"^oom_kill (\d+)", (folder / name).read_text(), re.MULTILINE)
                    if found and int(found[1]):
                        return True
        return False

    async def remove(self) -> None:
        """Once its processes are killed."""
        for _ in range(_TRIES):
            if self.removed():
                return
            await asyncio.sleep(_TRY_S)

    def removed(self) -> bool:
        """Remove it if no process is left in it, and say whether it is gone."""
        left = [folder for folder in self.folders if not _removed(folder)]
        return not left


class Cgroups:
    """Makes groups. `find` says whether it can be done here."""

    def __init__(self, bases: Mapping[str, Path]) -> None:
        """`bases` are the folders that groups are made in, by controller."""
        self._bases = bases

    @classmethod
    def find(cls, mounts: Path = _MOUNTS) -> "Cgroups | None":
        """None where no groups can be made that bound memory and processes."""
        bases = _unified(mounts) or _hierarchies(mounts)
        if not bases.keys() >= set(_NEEDED):
            return None
        found = cls(bases)
        found._clear()
        try:
            trial = found.make(memory_bytes=1 << 26, processes=16)
        except OSError:
            return None
        for folder in trial.folders:
            folder.rmdir()
        return found

    def make(self, *, memory_bytes: int, processes: int) -> Cgroup:
        """A new group with these limits, for all its processes together. May raise OSError."""
        name = f"asara-{os.getpid()}-{next(_numbers)}"
        made: list[Path] = []
        try:
            for base in dict.fromkeys(self._bases.values()):
                (base / name).mkdir()
                made.append(base / name)
            self._limit(made, memory_bytes, processes)
        except OSError:
            for folder in made:
                _removed(folder)
            raise
        return Cgroup(tuple(made))

    def _limit(self, folders: Sequence[Path], memory_bytes: int, processes: int) -> None:
        """Set what the files are there for; memory and processes must work."""
        limits = (
            ("memory.max", memory_bytes, "memory"),
            ("memory.swap.max", 0, ""),
            ("memory.limit_in_bytes", memory_bytes, "memory"),
            ("memory.memsw.limit_in_bytes", memory_bytes, ""),
            ("pids.max", processes, "pids"),
        )
        done = set()
        for folder in folders:
            for file, value, what in limits:
                if (folder / file).exists():
                    (folder / file).write_text(str(value))
                    done.add(what)
        if not done.issuperset(_NEEDED):
            raise OSError("the groups have no limits to set")

    def _clear(self) -> None:
        """Remove what runners left that were killed."""
        for base in self._bases.values():
            for folder in base.glob("asara-*-*"):
                runner = folder.name.split("-")[1]
                if not Path("/proc", runner).exists():
                    _removed(folder)


def _unified(mounts: Path) -> dict[str, Path]:
    """The group of this process in version 2, where its children can be given the controllers."""
    base = _own(mounts, "")
    if base is not None and base.name == _RUNNER:  # a worker process of this runner
        base = base.parent
    if base is None or not os.access(base / "cgroup.subtree_control", os.W_OK):
        return {}
    try:
        offered = (base / "cgroup.controllers").read_text().split()
        wanted = [name for name in (*_NEEDED, "cpu") if name in offered]
        if not set(wanted).issuperset(_NEEDED):
            return {}
        given = (base / "cgroup.subtree_control").read_text().split()
        if not set(given).issuperset(wanted):
            # A group whose children have controllers may have no process of its own.
            (base / _RUNNER).mkdir(exist_ok=True)
            (base / _RUNNER / "cgroup.procs").write_text(str(os.getpid()))
            control = " ".join(f"+{name}" for name in wanted)
            (base / "cgroup.subtree_control").write_text(control)
    except OSError:
        with suppress(OSError):
            (base / "cgroup.procs").write_text(str(os.getpid()))
            (base / _RUNNER).rmdir()
        return {}
    return dict.fromkeys(wanted, base)


def _hierarchies(mounts: Path) -> dict[str, Path]:
    """The groups of this process in the hierarchies of version 1 that it may write to."""
    found = {}
    for name in (*_NEEDED, "cpu"):
        base = _own(mounts / name, name)
        if base is not None and os.access(base, os.W_OK):
            found[name] = base
    return found


def _own(mount: Path, controller: str) -> Path | None:
    """The folder of this process's group in the hierarchy with this controller."""
    if not (mount / "cgroup.procs").exists():
        return None
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            own = mount / path.lstrip("/")
            return own if own.is_dir() else mount  # seen from inside a container
    return None


def _removed(folder: Path) -> bool:
    """Whether the group is gone; one with processes in it stays."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
