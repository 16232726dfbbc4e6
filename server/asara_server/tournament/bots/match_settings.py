"""Settings shared by all matches of a run, and callbacks that report on the bots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from structlog.typing import FilteringBoundLogger

from asara_server.eventlog.journal import Fact
from asara_server.match.spec import ClockSettings, ProcessPolicy
from asara_server.tournament.bots.departures import Departure
from asara_server.tournament.bots.output.output_log import OutputTap
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.run.costs import CostMeter
from asara_server.tournament.sandbox.filesystem_view import ReadableCopy


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings shared by all matches of a run. They can be pickled, and reveal no deal."""

    entries: tuple[Entry, ...]
    clocks: ClockSettings
    limits: Limits
    transport: Literal["unix", "tcp"]
    processes: Mapping[str, ProcessPolicy]
    """Lifetime of the processes of each entry whose bots are started here."""
    joint_deals: bool = False
    """True if every bot adds a nonce to every deal."""
    bot_seeds: Mapping[str, int] = field(default_factory=dict)
    """Seeds of the bots, by entry; empty if bots draw their own seeds."""
    build_directories: Mapping[str, Path] = field(default_factory=dict)
    """Directories made by builds, by entry."""
    ponder: bool = True
    """False to freeze sandboxed bots while no decision is requested from them."""
    readable_copies: Mapping[Path, ReadableCopy] = field(default_factory=dict)
    """Copies of `readable` paths that were sent to this machine, by their path on the runner."""


@dataclass(frozen=True, slots=True)
class BotWatch:
    """Callbacks that report on the bots' processes."""

    show_output: Callable[[str], OutputTap] | None = None
    """Called with the entry of each new process; returns a tap that also receives its output."""
    on_departure: Callable[[Departure], None] | None = None
    """Called when a process ends after playing its last match to the end.

    If it is set, a process has more time to end by itself.
    """
    meter: CostMeter = field(default_factory=CostMeter)
    """Counts the costs of the processes."""
    record: Callable[[Fact], None] = lambda line: None
    """Receives a line of the record when a process begins, plays and ends."""
    log: FilteringBoundLogger | None = None
