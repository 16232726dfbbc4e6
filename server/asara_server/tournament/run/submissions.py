"""The blocks that workers were given, each of them in the journal beforehand.

A block that a worker does not return continues from the worker's journal, or is played again from
its start if there is none. The journal outlives a runner that is killed: an attempt that was given
to a worker and has no result was lost, and its result will say so.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from asara_server.eventlog.journal import Journal

RUN_ENDED: Final = "the run ended before its worker returned it"


class Submissions:
    """The submissions of a run, those of its earlier parts included."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lost: dict[str, tuple[str, ...]] = {}
        """Why earlier workers did not return an attempt, by the names of all that were given."""
        self._reasons: dict[str, str] = {}
        for line in journal.given:
            self._count(**json.loads(line))

    def submit(self, attempts: Sequence[str]) -> None:
        """Record that a worker is about to begin with these attempts; raises JournalError."""
        before = [name for name in attempts if name in self._lost]
        lost = self._reasons.get(before[0], RUN_ENDED) if before else ""
        self._journal.give(json.dumps({"attempts": attempts, "lost": lost}))
        self._count(attempts, lost)

    def lose(self, attempts: Sequence[str], why: str) -> None:
        """Take note that a worker did not return these attempts."""
        self._reasons |= dict.fromkeys(attempts, why)

    def lost(self, attempt: str) -> tuple[str, ...]:
        """Return the reasons why earlier workers did not return an attempt, in order."""
        return self._lost.get(attempt, ())

    def _count(self, attempts: Iterable[str], lost: str) -> None:
        for name in attempts:
            self._lost[name] = (*self._lost[name], lost) if name in self._lost else ()
