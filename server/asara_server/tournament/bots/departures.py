"""How the processes of bots end that have played all their matches without a forfeit.

A process that fails after a match costs its entry nothing in that match. But it may end during its
next one, which is then forfeited.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from asara_server.tournament.bots.output.remedies import Options, departure_advice

PATIENT_S: Final = 10.0
"""Seconds that a process has to end after the goodbye where its author waits to be told how."""


class Departure(NamedTuple):
    """The end of a process that had played its last match without a forfeit."""

    entry: str
    match_id: str
    """The match that it played last."""
    ending: str
    """How it ended, in words; "" if it was killed long after the referee's goodbye."""
    dismissed: bool
    """True if it ended after the referee's goodbye, as it should."""
    failed: bool
    """True if it ended too early, or by a signal, or with a status other than 0."""
    printed: tuple[str, ...]
    """The error message that it printed last, or the last lines if it failed without one."""

    @property
    def sentence(self) -> str:
        """What was not as it should be, to follow the name of the entry; "" if all was well."""
        if not self.dismissed:
            return f"left after {self.match_id} and did not wait for the next match: {self.ending}"
        if not self.ending:
            return f"was still running {PATIENT_S:g} s after its last match, and was killed"
        return f"{self.ending} after its last match" if self.failed else ""

    def advice(self, command: Sequence[str], options: Options) -> str:
        """Return what its author can do; "" if nothing is known to help."""
        return departure_advice(
            self.printed,
            command,
            options,
            early=not self.dismissed,
            endless=not self.ending,
            failed=self.failed,
        )
