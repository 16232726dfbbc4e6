"""Measures the cost of a run: the processor time of its bots and of the referee.

Costs are counted only while matches are played, over all sessions of a run. Builds and the
standings are excluded. Processor seconds include all threads.
"""

import time
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_DIGITS: Final = 6
"""Decimal places of the seconds in `run.json`."""


class RunCosts(BaseModel):
    """Costs of a run or of part of a run; costs can be added."""

    model_config = ConfigDict(frozen=True)

    wall_s: Seconds = 0.0
    """Seconds during which matches were played."""
    core_s: Seconds = 0.0
    """`wall_s` times the cores that the run may use here; 0 if other machines played the
    matches.
    """
    bots_cpu_s: Seconds = 0.0
    """Processor seconds of the bots and their children; 0 if unknown."""
    referee_cpu_s: Seconds = 0.0
    """Processor seconds of the runner and of all processes with a referee."""

    @property
    def cpu_s(self) -> float:
        return self.bots_cpu_s + self.referee_cpu_s

    @property
    def sentence(self) -> str:
        """A sentence about how the processor time was spent; "" if unknown."""
        if not self.bots_cpu_s:
            return ""
        bots = self.bots_cpu_s / self.cpu_s
        if not self.core_s:
            return f"CPU time: {bots:.0%} by bots, {1 - bots:.0%} by the referee"
        busy = min(1.0, self.cpu_s / self.core_s)
        return (
            f"CPU usage: {busy:.0%} of all cores; of that, {bots:.0%} by bots, "
            f"{1 - bots:.0%} by the referee"
        )

    def __add__(self, other: Self) -> Self:
        return self._combined(other, 1)

    def __sub__(self, other: Self) -> Self:
        """Return the costs since `other`; no value is negative."""
        return self._combined(other, -1)

    def _combined(self, other: Self, sign: int) -> Self:
        changes = {
            name: max(0.0, round(getattr(self, name) + sign * getattr(other, name), _DIGITS))
            for name in type(self).model_fields
        }
        return self.model_copy(update=changes)


class CostMeter:
    """Measures costs from its creation until `stop`.

    A bot counts when its process ends. If bots run in control groups (cgroups), these report the
    processor time of a bot with its children. Otherwise, the system reports the time of every child
    that has exited and been waited for.
    """

    def __init__(self, *, cores: int = 0) -> None:
        """`cores` is the number of cores that the run may use on this machine."""
        self._cores = cores
        self._began_s = time.monotonic()
        self._own_began_s = time.process_time()
        self._children_began_s = _children_s()
        self._groups_ns: int | None = None
        """Processor nanoseconds of the bots' control groups; None without control groups."""
        self._added = self._taken = RunCosts()
        self._stopped: RunCosts | None = None

    def bot_ended(self, group_ns: int | None) -> None:
        """Add the processor nanoseconds that a bot's control group has counted."""
        if group_ns is not None:
            self._groups_ns = (self._groups_ns or 0) + group_ns

    def add(self, part: RunCosts) -> None:
        """Add costs that were measured elsewhere."""
        self._added += part

    @property
    def costs(self) -> RunCosts:
        """The costs so far; after `stop`, the costs up to `stop`."""
        if self._stopped is not None:
            return self._stopped
        wall_s = time.monotonic() - self._began_s
        return self._added + RunCosts(
            wall_s=wall_s,
            core_s=wall_s * self._cores,
            bots_cpu_s=self._bots_s(),
            referee_cpu_s=time.process_time() - self._own_began_s,
        )

    def take(self) -> RunCosts:
        """Return the processor time since the previous call, or since the beginning."""
        before, self._taken = self._taken, self.costs
        return (self._taken - before).model_copy(update={"wall_s": 0.0})

    def stop(self) -> None:
        """Stop measuring. Call it only when all bots have ended."""
        self._stopped = self.costs

    def _bots_s(self) -> float:
        if self._groups_ns is not None:
            return self._groups_ns / 1e9
        return max(0.0, _children_s() - self._children_began_s)


def _children_s() -> float:
    """Processor seconds of all children and grandchildren that have exited and been waited for."""
    try:
        import resource
    except ImportError:  # Windows does not count children
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
