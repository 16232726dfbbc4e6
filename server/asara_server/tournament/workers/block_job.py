"""Deal blocks as units of work: what the runner sends to a worker, and what it receives.

A worker gets the secrets of the deals that it plays, and nothing from which others derive. It
returns replays without a signature: only the runner has the key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from asara_server.logs import Fact
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.processor_time import ProcessorTime
from asara_server.tournament.run.progress import PendingMatch
from asara_server.tournament.standings.match_result import MatchResult, attempt_name
from asara_server.tournament.workers.requirements import WorkerRequirements


@dataclass(frozen=True, slots=True)
class BlockJob:
    """The matches of a deal block that are still to be played."""

    run_id: str
    """Identifies the run, so that all its blocks can be stopped."""
    requirements: WorkerRequirements
    match_settings: MatchSettings
    matches: tuple[PendingMatch, ...]
    secrets: Mapping[str, bytes]
    """Secrets of all attempts that may be made, by the name of the attempt."""
    out: Mapping[str, str]
    """Entries that could not be built or started and forfeit, and why."""
    suspended: Mapping[str, str]
    """Entries that forfeited too often and forfeit, and why."""
    log_level: int
    """Lowest level, as in `logging`, of the log lines to be returned."""

    @property
    def name(self) -> str:
        """Name of the first attempt, which no other job of the run has unless it repeats this."""
        match, attempt = self.matches[0]
        return attempt_name(match.match_id, attempt)

    @property
    def once(self) -> bool:
        """True if no worker may play it again, because no entry may meet its deal twice."""
        return self.matches[0].match.kind == "duplicate"


class PlayedAttempt(NamedTuple):
    """An attempt at a match that is over."""

    result: MatchResult
    records: tuple[bytes, ...] | None
    """Records of its replay; None if the attempt is void."""
    processor_times: Mapping[str, ProcessorTime]
    """Processor time by entry, without the entries whose bots cannot be measured."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The outcome of a block that a worker played."""

    worker: str
    """Name of the worker."""
    attempts: tuple[PlayedAttempt, ...]
    """Attempts in the order in which they ended."""
    unfinished: tuple[str, ...]
    """A line for each match that was stopped before its end: how far it was."""
    bot_logs: tuple[tuple[str, bytes], ...]
    """Paths in the folder of logs, each with the output of a bot."""
    log_lines: tuple[Fact, ...]
    """Lines that the referee and the runner logged on the worker."""
    costs: RunCosts
    """Costs of the worker since it returned its last block, without wall time."""


class WorkerContext(NamedTuple):
    """The worker on which a block is played."""

    name: str
    private_paths: tuple[Path, ...] = ()
    """Paths that no bot may see on this worker."""
    is_wanted: Callable[[], bool] = lambda: True
    """Returns False once the runner does not wait for the block any more."""
