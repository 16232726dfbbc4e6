"""The memory that further processes of this machine may take."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_KIB: Final = 1024


def free_memory(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes of memory that are free, or that the kernel can free at once.

    That is what the system reports, and what the control groups of this process leave, if that is
    less. None if the system reports nothing, as outside Linux.
    """
    system = _number(proc / "meminfo", "MemAvailable:")
    if system is None:
        return None
    return max(min([system * _KIB, *_left_in_groups(proc, cgroups)]), 0)


def _left_in_groups(proc: Path, root: Path) -> Iterator[int]:
    """Yield what the limits of this process's groups leave; caches of files count as free."""
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            hierarchy, limit, usage, cache = root, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            hierarchy = root / "memory"
            limit, usage = "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        else:
            continue
        own = hierarchy / path.lstrip("/")
        for folder in (own, *own.parents):
            most = _number(folder / limit)
            used = _number(folder / usage)
            if most is not None and used is not None:
                yield most - used + (_number(folder / "memory.stat", cache) or 0)
            if folder == hierarchy:
                break


def _number(file: Path, name: str = "") -> int | None:
    """Return the number in a file, or after this name in it; None if there is none."""
    try:
        words = file.read_text().split()
    except OSError:
        return None
    place = words.index(name) + 1 if name in words else 0
    if (name and not place) or len(words) <= place or not words[place].isdigit():
        return None  # such as `max`
    return int(words[place])
