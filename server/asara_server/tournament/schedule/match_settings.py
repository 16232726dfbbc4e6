"""The settings that all matches of a run share, from the tournament file to a bot's process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from asara_codec.clocks import Clocks
from asara_server.match.deal_secrets import bot_seed
from asara_server.match.spec import ProcessPolicy
from asara_server.network.addresses import LOCAL_TRANSPORT
from asara_server.tournament.config.tournament_file import Entry, Limits, Tournament


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings shared by all matches of a run. They can be pickled, and reveal no deal."""

    entries: tuple[Entry, ...]
    processes: Mapping[str, ProcessPolicy]
    """Lifetime of the processes of each entry whose bots are started here."""
    clocks: Clocks = field(default_factory=Clocks)
    hide_forced: bool = False
    """True if a pause hides that a seat had no choice."""
    limits: Limits = field(default_factory=Limits)
    transport: Literal["unix", "tcp"] = LOCAL_TRANSPORT
    joint_deals: bool = False
    """True if every bot adds a nonce to every deal."""
    bot_seeds: Mapping[str, int] = field(default_factory=dict)
    """Seeds of the bots, by entry; empty if bots draw their own seeds."""
    build_directories: Mapping[str, Path] = field(default_factory=dict)
    """Directories made by builds, by entry."""
    ponder: bool = True
    """False to freeze sandboxed bots while no decision is requested from them."""

    @classmethod
    def of(
        cls,
        tournament: Tournament,
        seed: str | None,
        build_directories: Mapping[str, Path],
        opponents: Sequence[Entry] = (),
    ) -> Self:
        """Return the settings of a tournament, whose bots draw their own seeds if `seed` is None.

        `opponents` are further bots, which play all their matches in one process.
        """
        every = {one.name: one for one in (*tournament.entries, *opponents)}
        return cls(
            entries=tuple(every.values()),
            processes={**{one.name: "run" for one in opponents}, **tournament.process_policies},
            clocks=tournament.clocks.in_microseconds(),
            hide_forced=tournament.clocks.hide_forced,
            limits=tournament.limits,
            transport=tournament.transport,
            joint_deals=tournament.deals == "joint",
            bot_seeds={name: bot_seed(seed, name) for name in every} if seed else {},
            build_directories=build_directories,
            ponder=tournament.ponder,
        )

    def entry(self, name: str) -> Entry:
        """Return the entry with this name."""
        return next(entry for entry in self.entries if entry.name == name)

    def directory(self, entry: Entry) -> Path:
        """Return the directory that an entry's build has produced, or its own directory."""
        return self.build_directories.get(entry.name, entry.directory)
