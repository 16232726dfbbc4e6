"""Which features this system has: all on Linux, fewer on macOS, and fewer still on Windows.

Missing features are imported, or looked up, only where they are used. The orphan reaper uses this
module too, so it imports nothing but the standard library.
"""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Final

LINUX: Final = sys.platform == "linux"
UNIX_SOCKETS: Final = hasattr(socket, "AF_UNIX")
UNIX: Final = hasattr(os, "killpg")
"""False on Windows, which has no process groups."""
FILE_OWNERS: Final = hasattr(os, "geteuid")
"""True if files have an owner and permissions for others; if not, their folder decides."""

_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows, either ends a process

NEEDS_LINUX: Final = "needs Linux (on Windows: WSL2)"
NEEDS_UNIX: Final = "needs Linux or macOS (on Windows: WSL2)"


CREATION_FLAGS: Final[int] = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""Flags that keep Ctrl-C in the terminal from reaching a new process. On Unix, `start_new_session`
does this."""


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_to_others(mode: int, bits: int) -> bool:
    """Return True if a file mode has any of these permission bits for users except the owner."""
    return FILE_OWNERS and bool(mode & bits)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal the processes of a group; on a system without groups, end the leader."""
    with suppress(ProcessLookupError, PermissionError):  # the group is empty
        if UNIX:
            os.killpg(leader, number)
        else:
            kill_process(leader)


def kill_group(leader: int) -> None:
    """Kill the processes of a group; on a system without groups, kill the leader."""
    signal_group(leader, _KILL)


def kill_process(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.kill(pid, _KILL)
