"""Counts failed starts in a row, after which an entry is not started again."""

from asara_codec.results import Termination


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
