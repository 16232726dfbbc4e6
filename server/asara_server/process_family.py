"""A process's command, its descendants, and their memory, as reported by Linux."""

import shlex
from collections.abc import Iterator
from pathlib import Path


def command_of(process: int) -> str:
    """Return the command line with which a process was started; "" if it is unknown."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_text(errors="replace")
    except OSError:
        return ""
    return shlex.join(words.split("\0")[:-1])


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
