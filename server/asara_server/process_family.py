"""A process's descendants, and its processor time and memory, as reported by Linux."""

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from asara_server import system

_EXACT_CLOCK: Final = 2
"""With a process's number, this makes the ID of the exact processor clock of its threads."""


def family(process: int) -> Iterator[int]:
    """Yield a process and its running descendants; outside Linux, only the process itself."""
    waiting = [process]
    while waiting:
        pid = waiting.pop()
        yield pid
        try:
            for file in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += map(int, file.read_text().split())
        except OSError:  # it has ended
            continue


def processor_ns(process: int) -> int:
    """Return the processor time of a running process without its children, in nanoseconds.

    Raises OSError if the process has ended, or if the system is not Linux.
    """
    if not system.LINUX:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return time.clock_gettime_ns(~process << 3 | _EXACT_CLOCK)


def memory_peak(process: int) -> int | None:
    """Return the total memory peaks of a process and its running descendants, in bytes.

    Shared memory counts once per process. None if the process has ended.
    """
    return sum(map(_peak_of, family(process))) or None


def _peak_of(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
