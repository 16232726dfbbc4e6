"""The entries that forfeit their remaining matches, and what leads to that."""

from typing import NamedTuple

from asara_codec.results import Termination


class Absence(NamedTuple):
    """The kind and the reason of a forfeit before a match begins."""

    termination: Termination
    why: str


class Exclusions:
    """Entries whose bots are no longer started, with the reasons."""

    def __init__(self) -> None:
        self.out: dict[str, str] = {}
        """Entries that could not be built or started."""
        self.suspended: dict[str, str] = {}
        """Entries that forfeited too often."""

    @property
    def reasons(self) -> dict[str, str]:
        """The reasons by entry."""
        return self.suspended | self.out

    def absence(self, entry: str) -> Absence | None:
        """Return how and why an entry forfeits its matches; None if it does not."""
        if why := self.out.get(entry):
            return Absence(Termination.NEVER_STARTED, why)
        if why := self.suspended.get(entry):
            return Absence(Termination.SUSPENDED, why)
        return None


class FailedStarts:
    """Failed starts of each entry since a bot of it last started."""

    def __init__(self, limit: int) -> None:
        """`limit` is the number of failures in a row after which an entry is out."""
        self._limit = limit
        self._failures: dict[str, int] = {}

    def record_start(self, entry: str, termination: Termination, why: str) -> str:
        """Count a bot's start by how its match ended for it.

        Return why its entry is out now, or "" if it is not. `why` says why this bot did not start.
        """
        if termination != Termination.NEVER_STARTED:
            self._failures[entry] = 0
            return ""
        failures = self._failures[entry] = self._failures.get(entry, 0) + 1
        if failures < self._limit:
            return ""
        return f"not started again after {failures} failures in a row: {why}"
