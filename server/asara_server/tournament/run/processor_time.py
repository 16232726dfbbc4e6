"""Processor time of bots, while they are asked and while they are not."""

from collections.abc import Mapping
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field

from asara_server.tournament.run.costs import Seconds

_PONDERING_CORES: Final = 0.1
_PONDERING_S: Final = 0.1
"""Less than these is what a bot needs to send its replies and to read its messages."""


class ProcessorTime(BaseModel):
    """Processor time of the bots of an entry during matches; parts can be added.

    The total is exact. Its shares are estimated from a sample of the decisions, drawn at random:
    from one reply in the match to the next, one bot is asked and all others are not.
    """

    model_config = ConfigDict(frozen=True)

    matches: int = Field(default=0, ge=0)
    """Number of matches in which it was measured."""
    children: bool = True
    """True if all processes of the bots count, False if only those that their commands start."""
    total_s: Seconds = 0.0
    """Processor seconds from the beginning of each match to its end."""
    sampled_asked_s: Seconds = 0.0
    """Processor seconds of the sample while the entry was asked."""
    sampled_unasked_s: Seconds = 0.0
    """Processor seconds of the sample while another entry was asked."""
    sampled_wait_s: Seconds = 0.0
    """Seconds of the sample for which another entry was asked."""

    @property
    def unasked_s(self) -> float:
        """Processor seconds while the entry was not asked."""
        sampled_s = self.sampled_asked_s + self.sampled_unasked_s
        return self.total_s * self.sampled_unasked_s / sampled_s if sampled_s else 0.0

    @property
    def asked_s(self) -> float:
        """Processor seconds while the entry was asked."""
        return self.total_s - self.unasked_s

    @property
    def cores_unasked(self) -> float:
        """Processor cores that the entry kept busy on average while it was not asked."""
        return self.sampled_unasked_s / self.sampled_wait_s if self.sampled_wait_s else 0.0

    @property
    def ponders(self) -> bool:
        """True if the entry used much processor time while it was not asked."""
        return self.cores_unasked >= _PONDERING_CORES and self.unasked_s >= _PONDERING_S

    def __add__(self, other: Self) -> Self:
        names = ("matches", "total_s", "sampled_asked_s", "sampled_unasked_s", "sampled_wait_s")
        sums = {name: round(getattr(self, name) + getattr(other, name), 6) for name in names}
        return self.model_copy(update={**sums, "children": self.children and other.children})


def added(
    sums: Mapping[str, ProcessorTime], more: Mapping[str, ProcessorTime]
) -> dict[str, ProcessorTime]:
    """Return the sums by entry."""
    zero = ProcessorTime()
    return {**sums, **{name: sums.get(name, zero) + time for name, time in more.items()}}
