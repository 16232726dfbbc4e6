"""Processes with their descendants, and the processor time of a process, as Linux reports them."""

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from asara_server import system

_EXACT_CLOCK: Final = 2
"""This and the number of a process make the clock of the exact time of all its threads."""


def family(process: int) -> Iterator[int]:
    """Yield a process and its running descendants; the process alone outside Linux."""
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

    Raises OSError if it has ended, or if the system is not Linux.
    """
    if not system.LINUX:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return time.clock_gettime_ns(~process << 3 | _EXACT_CLOCK)
