"""What all matches of a run have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from asara_server.match.spec import ClockSettings
from asara_server.tournament.config.tournament_file import Entry, Limits


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """What all matches of a run have in common. It can be pickled, and no deal follows from it."""

    entries: tuple[Entry, ...]
    clocks: ClockSettings
    limits: Limits
    transport: Literal["unix", "tcp"]
    joint: bool
    """Whether every bot adds a nonce to every deal."""
    keep: bool
    """Whether bot processes go on from match to match."""
    seeds: Mapping[str, int]
    """By entry, what its bots derive their dice from; empty where they draw their own."""
    built: Mapping[str, Path]
    """By entry, the directory that its build made."""
