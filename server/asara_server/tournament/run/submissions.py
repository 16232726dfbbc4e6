"""Tracks the blocks submitted to workers; every submission is first written to the journal.

If a worker does not return a block, the block continues from the worker's journal; without a
journal, it is played again from the start. The run's journal survives even if the runner is killed.
An attempt that was submitted and has no result was lost, and its result will report the loss.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from asara_server.eventlog.journal import Fact, Journal

GIVEN: Final = "given"
"""Kind of the facts in the journal."""
RUN_ENDED: Final = "the run ended before its worker returned it"


class Submissions:
    """All submissions of a run, including those of earlier sessions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lost: dict[str, tuple[str, ...]] = {}
        """For each submitted attempt, the reasons why earlier workers did not return it."""
        self._reasons: dict[str, str] = {}
        for kind, values in journal.facts:
            if kind == GIVEN:
                self._count(**values)

    def submit(self, attempts: Sequence[str]) -> None:
        """Record that a worker is about to begin these attempts; raises JournalError."""
        before = [name for name in attempts if name in self._lost]
        lost = self._reasons.get(before[0], RUN_ENDED) if before else ""
        self._journal.note(Fact(GIVEN, {"attempts": attempts, "lost": lost}))
        self._count(attempts, lost)

    def lose(self, attempts: Sequence[str], why: str) -> None:
        """Record that a worker did not return these attempts."""
        self._reasons |= dict.fromkeys(attempts, why)

    def lost(self, attempt: str) -> tuple[str, ...]:
        """Return the reasons why earlier workers did not return an attempt, oldest first."""
        return self._lost.get(attempt, ())

    def _count(self, attempts: Iterable[str], lost: str) -> None:
        for name in attempts:
            self._lost[name] = (*self._lost[name], lost) if name in self._lost else ()
