"""Measures the memory of processes that no control group counts, by repeated sampling."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from asara_server.process_family import family

_INTERVAL_S: Final = 0.05
_KIB: Final = 1024


class MemorySampler:
    """The highest total of the memory peaks of processes and their descendants; Linux only."""

    def __init__(self, processes: Callable[[], Iterable[int]]) -> None:
        self._processes = processes
        self._peak = 0

    @property
    def peak(self) -> int | None:
        """Memory in bytes; None if nothing was measured. Shared memory counts once per process."""
        return self._peak or None

    async def run(self) -> None:
        """Keep sampling until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_INTERVAL_S)

    def look(self) -> None:
        found = {pid for process in self._processes() for pid in family(process)}
        self._peak = max(self._peak, sum(map(_peak_of, found)))


def memory_peak(process: int) -> int:
    """Return the total memory peaks of a process and its descendants, in bytes; 0 if unknown."""
    return sum(map(_peak_of, family(process)))


def _peak_of(pid: int) -> int:
    """Return the memory peak of a process, in bytes; 0 if the process has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * _KIB
    return 0
