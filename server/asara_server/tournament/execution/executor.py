"""The interface between a run and the executor that plays its matches."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from asara_server.referee.hosted import Wait
from asara_server.tournament.execution.match_runner import ExecutionContext
from asara_server.tournament.run.costs import CostMeter, RunCosts
from asara_server.tournament.run.progress import RunProgress

FINISH_S = 5.0
"""Seconds given to running matches to finish their open decisions when a run is stopped."""


class Executor(ABC):
    """Plays the matches of a run, in this process or elsewhere."""

    name: str
    """Name of this executor in `run.json`."""
    meter: CostMeter | None = None
    """Counts the costs of the matches; None before the first match."""

    @property
    def awaited(self) -> Sequence[str]:
        """Remote entries that matches are waiting for because their bots are not connected."""
        return ()

    @property
    def waits(self) -> Sequence[Wait]:
        """Bots that matches in this process are waiting for, longest wait first; for display."""
        return ()

    @property
    def stalled_s(self) -> float | None:
        """Seconds during which all clocks stood still because the referee was not running.

        None if the matches are not played in this process.
        """
        return None

    @property
    def costs(self) -> RunCosts:
        """Costs of the matches played so far."""
        return RunCosts() if self.meter is None else self.meter.costs

    @abstractmethod
    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Play the pending matches and record their results, until `progress.stopping` is set.

        Excluded entries forfeit. All bots have ended on return, even after an error.
        """
