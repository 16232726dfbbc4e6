"""Describes how a bot's process ended after playing all of its matches without a forfeit.

A failure after a match does not cost the entry that match. However, the process might fail during
its next match and forfeit it.
"""

from typing import Final, NamedTuple

PATIENT_S: Final = 10.0
"""Seconds to wait for a process to end after the goodbye, while its author waits for the result."""


class Departure(NamedTuple):
    """The end of a process that played its last match without a forfeit."""

    entry: str
    match_id: str
    """The last match that the process played."""
    ending: str
    """How the process ended, in words; "" if it was killed long after the referee's goodbye."""
    dismissed: bool
    """True if the process ended after the referee's goodbye, as it should."""
    failed: bool
    """True if the process ended too early, by a signal, or with a nonzero status."""
    printed: tuple[str, ...]
    """The last lines that were printed if the process failed, or else its client's last message."""

    @property
    def sentence(self) -> str:
        """The fault, as a phrase to follow the entry's name; "" if the process ended well."""
        if not self.dismissed:
            return f"left after {self.match_id} and did not wait for the next match: {self.ending}"
        if not self.ending:
            return f"was still running {PATIENT_S:g} s after its last match, and was killed"
        return f"{self.ending} after its last match" if self.failed else ""
