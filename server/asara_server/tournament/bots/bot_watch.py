"""Callbacks that report on bots' processes: what they print, when they live, and how they end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from structlog.typing import FilteringBoundLogger

from asara_server.eventlog.journal import Fact
from asara_server.tournament.bots.output.output_log import OutputTap
from asara_server.tournament.run.costs import CostMeter

PATIENT_S: Final = 10.0
"""Seconds to wait for a process to end after the goodbye, while its author waits for the result."""


class Departure(NamedTuple):
    """The end of a process that played its last match without a forfeit.

    A failure after a match does not cost the entry that match. However, the process might fail
    during its next match and forfeit it.
    """

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


@dataclass(frozen=True, slots=True)
class BotWatch:
    """Callbacks that report on the bots' processes."""

    show_output: Callable[[str], OutputTap] | None = None
    """Called with the entry of each new process; returns a tap that also receives its output."""
    on_departure: Callable[[Departure], None] | None = None
    """Called when a process ends after playing its last match to the end.

    If it is set, a process has more time to end by itself.
    """
    meter: CostMeter = field(default_factory=CostMeter)
    """Counts the costs of the processes."""
    record: Callable[[Fact], None] = lambda line: None
    """Receives a line of the record when a process begins, plays and ends."""
    log: FilteringBoundLogger | None = None
