"""What all matches of a run share, and who is told what about their bots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from structlog.typing import FilteringBoundLogger

from asara_server.match.spec import ClockSettings, ProcessPolicy
from asara_server.tournament.bots.departures import Departure
from asara_server.tournament.bots.output.output_log import OutputTap
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.run.costs import CostMeter
from asara_server.tournament.run.process_record import NO_RECORD, ProcessRecorder
from asara_server.tournament.sandbox.filesystem_view import ReadableCopy


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings that all matches of a run share. They can be pickled, and reveal no deal."""

    entries: tuple[Entry, ...]
    clocks: ClockSettings
    limits: Limits
    transport: Literal["unix", "tcp"]
    processes: Mapping[str, ProcessPolicy]
    """Lifetime of the processes of each entry whose bots are started here."""
    joint_deals: bool = False
    """True if every bot adds a nonce to every deal."""
    bot_seeds: Mapping[str, int] = field(default_factory=dict)
    """Seeds of the bots, by entry; empty if they draw their own."""
    build_directories: Mapping[str, Path] = field(default_factory=dict)
    """Directories that builds have made, by entry."""
    ponder: bool = True
    """False if contained bots are frozen while they are not asked."""
    readable_copies: Mapping[Path, ReadableCopy] = field(default_factory=dict)
    """Copies of `readable` paths that were sent to this machine, by their paths on the runner's."""


@dataclass(frozen=True, slots=True)
class BotWatch:
    """Who is told what about the processes of bots."""

    show_output: Callable[[str], OutputTap] | None = None
    """Called with the entry of every process; returns the tap that gets its output as well."""
    on_departure: Callable[[Departure], None] | None = None
    """Called with the end of each process that had played its last match to its end.

    With it, such a process has more time to end by itself.
    """
    meter: CostMeter = field(default_factory=CostMeter)
    """Counts what the processes cost."""
    record: ProcessRecorder = NO_RECORD
    """Receives when each process began, played and ended."""
    log: FilteringBoundLogger | None = None
