"""Settings that all matches of a run share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from asara_server.match.spec import ClockSettings, ProcessPolicy
from asara_server.tournament.config.tournament_file import Entry, Limits
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
