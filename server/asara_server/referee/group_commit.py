"""One journal commit for everything that happens in one turn of the event loop.

Messages of matches are sent after the commit. So the journal on disk always contains everything
that a bot or a viewer has received.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from asara_server.eventlog.journal import Journal, JournalError
from asara_server.referee.match_clock import monotonic_us


class Outlet(Protocol):
    """A match whose messages wait for a commit."""

    commits_us: list[int]
    """Durations of the commits that are counted for this match."""

    def send(self) -> None:
        """Send the messages."""


class GroupCommit:
    """Commits to the journal, once for all that happens in a turn of the event loop.

    The messages of matches are sent afterwards; without a journal, immediately.
    """

    def __init__(self, journal: Journal | None, on_failure: Callable[[JournalError], None]) -> None:
        """`on_failure` is called once if the journal fails; nothing is sent after that."""
        self.journal = journal
        self.error: JournalError | None = None
        self._on_failure = on_failure
        self._pending: list[Outlet] = []
        self._scheduled = False

    def add(self, outlet: Outlet) -> None:
        """Send the messages of a match after the commit at the end of this turn."""
        if self.journal is None:
            outlet.send()
            return
        self._pending.append(outlet)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._end_turn)

    def _end_turn(self) -> None:
        self._scheduled = False
        self.flush()

    def flush(self) -> None:
        """Commit and send everything pending now, without waiting for the end of the turn.

        Call this before a match is shown to anybody, because nothing that was shown may be lost in
        a crash.
        """
        if not self._pending:
            return
        assert self.journal is not None
        pending, self._pending = self._pending, []
        began = monotonic_us()
        try:
            self.journal.commit()
        except JournalError as error:
            self.error = error
            self._on_failure(error)
            return
        pending[0].commits_us.append(monotonic_us() - began)
        for outlet in pending:
            outlet.send()
