"""What plays the matches of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from asara_game.edition import Edition
from asara_server.tournament.config.tournament_file import Remote
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox

FINISH_S = 5.0
"""Seconds that running matches have for their open decisions when the run is stopped."""


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """What a run is played with. It stays with the runner: all deals follow from `secret_of`."""

    match_settings: MatchSettings
    edition: Edition
    secret_of: Callable[[str, str], bytes]
    """The secret of a match, by its name as it is played and that of its mirrored block."""
    sandbox: Sandbox | None
    concurrency: int
    """Matches at once, where the venue has no other measure."""
    remote: Remote | None = None
    """Where bots on other machines dial in, if entries have some."""


class Executor(Protocol):
    """Plays a run."""

    @property
    def awaited(self) -> Sequence[str]:
        """Entries whose bots matches wait for."""

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Play what waits, until nothing does or the course is `stopping`.

        Entries that are out or suspended forfeit. Whatever happens, no bot is left.
        """
