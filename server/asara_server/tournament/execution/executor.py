"""The interface between a run and what plays its matches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from asara_server.referee.waits import Wait
from asara_server.tournament.bots.match_settings import MatchSettings
from asara_server.tournament.config.tournament_file import Remote
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox

FINISH_S = 5.0
"""Seconds that running matches have for their open decisions when a run is stopped."""


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """Everything that matches of a run are played with.

    It never leaves the process of the runner: all deals derive from `secret_of`.
    """

    match_settings: MatchSettings
    secret_of: Callable[[str, str], bytes]
    """Returns the secret of a match, by the names of the attempt and of its shared deal."""
    sandbox: Sandbox | None
    concurrency: int
    """Number of concurrent matches, unless the executor has another measure."""
    remote: Remote | None = None
    """Settings of the bots on other machines, if there are any."""


class Executor(Protocol):
    """Plays the matches of a run."""

    @property
    def name(self) -> str:
        """Name in `run.json` of what plays."""

    @property
    def awaited(self) -> Sequence[str]:
        """Entries whose bots are not connected, and that matches wait for."""

    @property
    def waits(self) -> Sequence[Wait]:
        """Bots that the matches in this process wait for, longest first; for display only."""

    @property
    def stalled_s(self) -> float | None:
        """Seconds for which all clocks stood still because the referee did not run.

        None if the matches are not played in this process.
        """

    @property
    def costs(self) -> RunCosts:
        """Costs of the matches that it has played so far."""

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Play the pending matches and record their results, until `progress.stopping` is set.

        Entries that are excluded forfeit. All bots have ended on return, even if this fails.
        """
