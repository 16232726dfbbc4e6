"""The interface between a run and the executor that plays its matches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from asara_server.referee.hosted import Wait
from asara_server.tournament.bots.match_settings import MatchSettings
from asara_server.tournament.config.tournament_file import Remote
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox

FINISH_S = 5.0
"""Seconds given to running matches to finish their open decisions when a run is stopped."""


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """Everything needed to play the matches of a run.

    It never leaves the runner's process, because all deals are derived from `secret_of`.
    """

    match_settings: MatchSettings
    secret_of: Callable[[str, str], bytes]
    """Returns the secret of a match, given the names of its attempt and its shared deal."""
    sandbox: Sandbox | None
    concurrency: int
    """Number of concurrent matches, unless the executor limits its load in another way."""
    remote: Remote | None = None
    """Settings for bots on other machines, if there are any."""


class Executor(Protocol):
    """Plays the matches of a run."""

    @property
    def name(self) -> str:
        """Name of this executor in `run.json`."""

    @property
    def awaited(self) -> Sequence[str]:
        """Remote entries that matches are waiting for because their bots are not connected."""

    @property
    def waits(self) -> Sequence[Wait]:
        """Bots that matches in this process are waiting for, longest wait first; for display."""

    @property
    def stalled_s(self) -> float | None:
        """Seconds during which all clocks stood still because the referee was not running.

        None if the matches are not played in this process.
        """

    @property
    def costs(self) -> RunCosts:
        """Costs of the matches played so far."""

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Play the pending matches and record their results, until `progress.stopping` is set.

        Excluded entries forfeit. All bots have ended on return, even after an error.
        """
