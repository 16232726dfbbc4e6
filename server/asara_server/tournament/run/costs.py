"""Where the time of a run went: starting bots, bots that decide, the referee, its journal.

Everything counts while matches are played, from the first to the last, over all sessions of a run;
builds and the standings are left out. Processor seconds are those of all threads.
"""

from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]

_DIGITS: Final = 6
"""Decimal places of seconds in `run.json`."""


class RunCosts(BaseModel):
    """Costs of a run or of a part of it; parts can be added.

    The processor seconds of one field are not contained in another; `cpu_s` is their sum.
    """

    model_config = ConfigDict(frozen=True)

    wall_s: Seconds = 0.0
    """Seconds for which matches were played."""
    core_s: Seconds = 0.0
    """`wall_s` times the cores that this machine lets the run use; 0 if matches were played on
    other machines."""
    slot_s: Seconds = 0.0
    """`wall_s` times the number of concurrent matches."""
    matches: Count = 0
    """Number of attempts at matches that ended, without void ones."""
    decisions: Count = 0
    """Number of decisions that bots answered in these."""
    deciding_s: Seconds = 0.0
    """Seconds that bots took to answer these, each from the question to the reply."""
    starts: Count = 0
    """Number of bot processes that were started and connected."""
    start_wall_s: Seconds = 0.0
    """Seconds from the start of each of these processes until it connected."""
    start_cpu_s: Seconds = 0.0
    """Processor seconds that these processes and their children used until then."""
    bots_cpu_s: Seconds = 0.0
    """All other processor seconds of bot processes."""
    referee_cpu_s: Seconds = 0.0
    """Processor seconds of the referee's process that are not among the next two."""
    journal_cpu_s: Seconds = 0.0
    """Processor seconds of commits of the journal."""
    runner_cpu_s: Seconds = 0.0
    """Processor seconds of the referee's process for starting and ending bot processes and for
    results: signing replays and writing files."""

    @property
    def cpu_s(self) -> float:
        """Processor seconds of bots, referee, journal and runner together."""
        return self.start_cpu_s + self.bots_cpu_s + self.process_cpu_s

    @property
    def process_cpu_s(self) -> float:
        """Processor seconds of the process with the referee, or of all processes of workers."""
        return self.referee_cpu_s + self.journal_cpu_s + self.runner_cpu_s

    @property
    def meters_bots(self) -> bool:
        """True if the processor seconds of bots are known: no bot plays without any."""
        return self.start_cpu_s + self.bots_cpu_s > 0

    @property
    def busy(self) -> float | None:
        """Share of the cores that the run used; None if that is not known."""
        known = self.core_s and self.meters_bots
        return min(1.0, self.cpu_s / self.core_s) if known else None

    @property
    def deciding(self) -> float | None:
        """Share of the time of concurrent matches for which a bot was deciding."""
        return self.deciding_s / self.slot_s if self.slot_s else None

    def share(self, cpu_s: float) -> float:
        """Return the share of the processor seconds of the run."""
        return cpu_s / self.cpu_s if self.cpu_s else 0.0

    def __add__(self, other: Self) -> Self:
        return self._combined(other, 1)

    def __sub__(self, other: Self) -> Self:
        """Return the costs since `other`; none is negative."""
        return self._combined(other, -1)

    def _combined(self, other: Self, sign: int) -> Self:
        changes = {}
        for name in type(self).model_fields:
            mine = getattr(self, name)
            changes[name] = max(type(mine)(), round(mine + sign * getattr(other, name), _DIGITS))
        return self.model_copy(update=changes)
