"""The interface between a run and what plays its matches, and the settings of these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from asara_game.edition import Edition
from asara_server.match.spec import ClockSettings, ProcessPolicy
from asara_server.referee.waits import Wait
from asara_server.tournament.config.tournament_file import Entry, Limits, Remote
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import ReadableCopy


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings that all matches of a run share. They can be pickled, and reveal no deal."""

    entries: tuple[Entry, ...]
    clocks: ClockSettings
    limits: Limits
    transport: Literal["unix", "tcp"]
    joint_deals: bool
    """True if every bot adds a nonce to every deal."""
    processes: Mapping[str, ProcessPolicy]
    """Lifetime of the processes of each entry whose bots are started here."""
    bot_seeds: Mapping[str, int]
    """Seeds of the bots, by entry; empty if they draw their own."""
    build_directories: Mapping[str, Path]
    """Directories that builds have made, by entry."""
    ponder: bool = True
    """False if contained bots are frozen while they are not asked."""
    readable_copies: Mapping[Path, ReadableCopy] = field(default_factory=dict)
    """Copies of `readable` paths that were sent to this machine, by their paths on the runner's."""


FINISH_S = 5.0
"""Seconds that running matches have for their open decisions when a run is stopped."""


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """Everything that matches of a run are played with.

    It never leaves the process of the runner: all deals derive from `secret_of`.
    """

    match_settings: MatchSettings
    edition: Edition
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
