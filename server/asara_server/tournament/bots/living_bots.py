"""The bots that live on this machine: those of other runs, and those that a killed runner left.

A lock tells the runs, checks and matches of one user about each other's bots. It belongs to the
process. Its file is never closed, because closing it would release the lock.

The bots of a killed runner or worker are ended, and it is checked that they have ended. The orphan
reaper ends them too, but nobody can tell when the reaper has finished.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Final

from asara_server.journal.file_lock import give_up, hold_shared, holder
from asara_server.tournament.bots.orphan_reaper import kill_marked, mark_of
from asara_server.tournament.run.run_record import RunProcesses
from asara_server.tournament.sandbox import cgroup_end

_END_S: Final = 60.0
"""Seconds given to processes to end after SIGKILL."""
_PAUSE_S: Final = 0.02
_living: Final[set[str]] = set()
"""Tokens of the living bots of this process."""


def hold_for(token: str) -> None:
    """Hold the lock until this bot is dead. Does nothing on systems without such locks."""
    with contextlib.suppress(OSError):
        hold_shared(_descriptor(_cache_folder()))
    _living.add(token)


def count_as_dead(token: str) -> None:
    _living.discard(token)
    if not _living:
        with contextlib.suppress(OSError):
            give_up(_descriptor(_cache_folder()))


def others_have_bots() -> bool:
    """Return True if another process of this user has living bots."""
    return owner_of_others() is not None


def owner_of_others() -> int | None:
    """Return the ID of another process of this user with living bots; 0 if it is unknown."""
    with contextlib.suppress(OSError):
        return holder(_descriptor(_cache_folder()))
    return None


@cache
def _descriptor(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / "bots.lock", os.O_RDWR | os.O_CREAT, 0o600)


def _cache_folder() -> Path:
    """Return the user's folder for caches, which may be closed to writing."""
    home = os.environ.get("XDG_CACHE_HOME")
    if home and Path(home).is_absolute():
        return Path(home) / "asara"
    try:
        return Path.home() / ".cache" / "asara"
    except RuntimeError:  # the user has neither HOME nor an entry in passwd
        return Path("/.cache/asara")


async def end_recorded(
    processes: RunProcesses, cgroups: Iterable[Path], within_s: float = _END_S
) -> list[int]:
    """End all processes that a run's record lists as possibly alive; return the survivors."""
    survivors = await asyncio.to_thread(end_leftovers, [*processes.living], cgroups, within_s)
    if not survivors:
        processes.note("cleared")
    return survivors


def end_leftovers(
    processes: Iterable[str], cgroups: Iterable[Path], within_s: float = _END_S
) -> list[int]:
    """End these processes, and all control groups whose runner or worker has ended.

    `processes` are names of `BotProcess` objects, and `cgroups` the folders that hold the control
    groups. Return the processes that the kernel does not let end.
    """
    left = cgroup_end.end_groups(partial(cgroup_end.leftovers, tuple(cgroups)), within_s)
    deadline_s = time.monotonic() + within_s
    for name in processes:
        while (found := kill_marked(mark_of(name))) and time.monotonic() < deadline_s:
            time.sleep(_PAUSE_S)
        left += found
    return left
