"""How many processes may start ahead of their matches at once, so that others can play meanwhile.

A process that starts takes a processor from bots that think, except while it waits, for a disk or
by a timer. So half of the processors are left to processes that start and do not wait, or one if
there is only one. While matches wait for their bots there is one more for each of these, and one
more now and then while processors are idle.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from asara_server.tournament.run.cost_meter import MeteredProcess, used_s

_WINDOW_S: Final = 0.2
"""Seconds over which the processor time of a process is measured."""

_BUSY_SHARE: Final = 0.02
"""Share of a processor from which on a process counts as one that does not wait. It is small
because a process gets no more if many others want to run."""

_UNKNOWN_S: Final = 1.0
"""Seconds for which a process counts as busy if the system does not tell its processor time."""

_IDLE_PROCESSORS: Final = 0.75
"""Processors that must have been idle for one more process to start."""

_IDLE_WINDOW_S: Final = 0.05
"""Seconds over which the idle time of the processors is measured."""


class _Use:
    """Processor time that a process had used at the beginning of a window."""

    __slots__ = ("busy", "seconds", "since_s")

    def __init__(self, seconds: float | None, now_s: float) -> None:
        self.seconds = seconds
        self.since_s = now_s
        self.busy = True


class StartPace:
    """Follows the processes that start, and says when another one may."""

    def __init__(self, processors: int) -> None:
        self._most = max(processors // 2, 1)
        self._uses: dict[MeteredProcess, _Use] = {}
        self._idle: tuple[float, float] | None = None
        """Monotonic time of the latest window's beginning, and idle processor seconds by then."""

    def permits(self, starting: Iterable[MeteredProcess | None], waiting_matches: int) -> bool:
        """Return True if one more process may start beside those that have not connected yet.

        To be called with all of them, again and again while one is to be started; None is one that
        does not run yet. So many `waiting_matches` wait for some of them.
        """
        now_s = time.monotonic()
        processes = list(starting)
        self._uses = {one: self._measure(one, now_s) for one in processes if one is not None}
        busy = processes.count(None) + sum(use.busy for use in self._uses.values())
        return busy < self._most + waiting_matches or self._has_idle_processor(now_s)

    def _measure(self, process: MeteredProcess, now_s: float) -> _Use:
        use = self._uses.get(process)
        if use is None:
            return _Use(used_s(process), now_s)
        passed_s = now_s - use.since_s
        if use.seconds is None:
            use.busy = passed_s < _UNKNOWN_S
        elif passed_s >= _WINDOW_S:
            seconds = used_s(process) or use.seconds
            # Less than before if a child has ended that nobody waited for.
            use.busy = abs(seconds - use.seconds) / passed_s >= _BUSY_SHARE
            use.seconds, use.since_s = seconds, now_s
        return use

    def _has_idle_processor(self, now_s: float) -> bool:
        """Return True once for each window in which a processor was idle."""
        if self._idle is not None and now_s - self._idle[0] < _IDLE_WINDOW_S:
            return False
        before, idle_s = self._idle, _idle_s()
        self._idle = None if idle_s is None else (now_s, idle_s)
        if idle_s is None or before is None or now_s - before[0] > 4 * _IDLE_WINDOW_S:
            return False
        return idle_s - before[1] >= _IDLE_PROCESSORS * (now_s - before[0])


def _idle_s(file: Path = Path("/proc/stat")) -> float | None:
    """Return for how many seconds the processors that we may use have been idle, all together."""
    try:
        ours = os.sched_getaffinity(0)
        lines = file.read_text().splitlines()
    except (AttributeError, OSError):
        return None
    ticks = 0
    for line in lines:
        name, *fields = line.split(maxsplit=5)
        if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in ours:
            ticks += int(fields[3])
    return ticks / os.sysconf("SC_CLK_TCK")
