"""Tracks which entries forfeit their remaining matches, and why."""

from typing import NamedTuple

from asara_codec.results import Termination


class Absence(NamedTuple):
    """The kind of and the reason for a forfeit before a match begins."""

    termination: Termination
    why: str


class Exclusions:
    """Entries whose bots are no longer started, with the reasons."""

    def __init__(self) -> None:
        self.out: dict[str, str] = {}
        """Entries that could not be built or started, with the reasons."""
        self.suspended: dict[str, str] = {}
        """Entries that forfeited too often, with the reasons."""

    @property
    def reasons(self) -> dict[str, str]:
        """The reason for each exclusion, by entry."""
        return self.suspended | self.out

    def absence(self, entry: str) -> Absence | None:
        """Return how and why an entry forfeits its matches, or None if the entry still plays."""
        if why := self.out.get(entry):
            return Absence(Termination.NEVER_STARTED, why)
        if why := self.suspended.get(entry):
            return Absence(Termination.SUSPENDED, why)
        return None
