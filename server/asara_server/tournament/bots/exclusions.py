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


class FailedStarts:
    """Counts each entry's failed starts since its last successful start."""

    def __init__(self, limit: int) -> None:
        """`limit` is the number of consecutive failed starts after which an entry is out."""
        self._limit = limit
        self._failures: dict[str, int] = {}

    def record_start(self, entry: str, termination: Termination, why: str) -> str:
        """Count whether a bot started, judging by how its match ended for it.

        Return the reason if its entry is now out, otherwise "". `why` tells why this bot did not
        start.
        """
        if termination != Termination.NEVER_STARTED:
            self._failures[entry] = 0
            return ""
        failures = self._failures[entry] = self._failures.get(entry, 0) + 1
        if failures < self._limit:
            return ""
        return f"not started again after {failures} failures in a row: {why}"
