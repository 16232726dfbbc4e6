"""Ends control groups: kills all their processes, then removes the groups.

The orphan reaper uses this module too, so it imports nothing but the standard library.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_PAUSE_S = 0.005


def runner_prefix(pid: int) -> str:
    """Return the common prefix of a runner's group names.

    The prefix identifies the runner's process even if its number is used again. Raises OSError if
    the process has ended.
    """
    return f"asara-{pid}-{_birth(pid)}-"


def _birth(pid: int) -> str:
    """Return when a process started, and the PID namespace of its number."""
    started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{started}.{Path('/proc/self/ns/pid').stat().st_ino}"


def groups_of(parents: Iterable[Path], prefix: str) -> list[Path]:
    """Return the folders of a runner's groups."""
    found = []
    for parent in parents:
        with contextlib.suppress(OSError):
            found += [path for path in parent.iterdir() if path.name.startswith(prefix)]
    return found


def leftovers(parents: Iterable[Path]) -> list[Path]:
    """Return the group folders of runners that have ended without removing them."""
    found: list[Path] = []
    if not (groups := groups_of(parents, "asara-")):
        return found
    here = Path("/proc/self/ns/pid").stat().st_ino
    for folder in groups:
        words = folder.name.split("-")
        # Processes in other namespaces cannot be told from ended ones.
        if len(words) == 4 and words[2].endswith(f".{here}"):
            try:
                lives = _birth(int(words[1])) == words[2]
            except OSError:
                lives = False
            if not lives:
                found.append(folder)
    return found


def end_groups(find: Callable[[], Sequence[Path]], within_s: float) -> list[int]:
    """End the groups that `find` returns, until it returns none; return the remaining processes.

    Processes remain only if the kernel did not let them end in time.
    """
    deadline = time.monotonic() + within_s
    while left := [folder for folder in find() if kill([folder]) or not remove(folder)]:
        if time.monotonic() > deadline:
            return sorted(_members_of(left))
        time.sleep(_PAUSE_S)
    return []


def kill(folders: Sequence[Path]) -> list[int]:
    """Kill all processes of a group, including frozen ones, and return the processes still there.

    On Linux before 5.14, and with version 1 of control groups, the kernel does not kill whole
    groups. From the first call on, processes of the group then cannot start new ones.
    """
    if not any(_write(folder / "cgroup.kill", "1") for folder in folders):
        for folder in folders:
            _write(folder / "pids.max", "0")
        for pid in _members_of(folders):
            kill_if(pid, lambda pid: pid in _members_of(folders))
    return sorted(_members_of(folders))


def _members_of(folders: Iterable[Path]) -> set[int]:
    return {pid for folder in folders for pid in members(folder)}


def members(folder: Path) -> list[int]:
    """Return the processes of a group; none if the group does not exist."""
    try:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def remove(folder: Path) -> bool:
    """Remove a group and return True if it is gone; a group with processes stays."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def kill_if(pid: int, meant: Callable[[int], bool]) -> None:
    """Kill a process unless a later process has taken over its number."""
    with contextlib.ExitStack() as stack, contextlib.suppress(ProcessLookupError, PermissionError):
        try:
            process = os.pidfd_open(pid)
        except OSError:  # it has ended, or Linux is older than 5.3
            if meant(pid):
                os.kill(pid, signal.SIGKILL)
            return
        stack.callback(os.close, process)
        if meant(pid):
            signal.pidfd_send_signal(process, signal.SIGKILL)


def _write(file: Path, text: str) -> bool:
    """Return True if the kernel has this file and accepted the text."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, text.encode())
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
