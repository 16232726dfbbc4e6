"""One journal commit for everything that happens in one turn of the event loop.

Messages of matches are sent after the commit. So the journal on disk always contains everything
that a bot or a watcher has received.
"""

import asyncio
from collections.abc import Callable

from asara_server.eventlog.journal import Journal, JournalError
from asara_server.eventlog.record_codec import record_bytes
from asara_server.match.match import Match
from asara_server.referee.hosted import HostedMatch, wake
from asara_server.referee.match_clock import monotonic_us


class GroupCommit:
    """Commits the new records of matches together, then sends the matches' messages."""

    def __init__(self, journal: Journal, on_failure: Callable[[JournalError], None]) -> None:
        """`on_failure` is called once if the journal fails; nothing is sent after that."""
        self.journal = journal
        self.error: JournalError | None = None
        self._on_failure = on_failure
        self._pending: list[HostedMatch] = []
        self._scheduled = False

    def add(self, hosted: HostedMatch, match: Match) -> None:
        """Include a match with new records or messages in the commit at the end of this turn."""
        records = match.records
        add = self.journal.add
        for index in range(hosted.journaled, len(records)):
            add(hosted.number, record_bytes(records[index]))
        hosted.journaled = len(records)
        self._pending.append(hosted)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._end_turn)

    def _end_turn(self) -> None:
        self._scheduled = False
        self.flush()

    def flush(self) -> None:
        """Commit and send everything pending now, without waiting for the end of the turn."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        began = monotonic_us()
        try:
            self.journal.commit()
        except JournalError as error:
            self.error = error
            self._on_failure(error)
            return
        pending[0].commits_us.append(monotonic_us() - began)
        for hosted in pending:
            if hosted.match is not None:
                send_messages(hosted, hosted.match)


def send_messages(hosted: HostedMatch, match: Match) -> None:
    """Send the messages of a match to its bots, and wake the calls waiting for updates."""
    if match.outbox:
        post(hosted, match)
    if hosted.update_waiters:
        wake(hosted.update_waiters)


def post(hosted: HostedMatch, match: Match) -> None:
    """Move the messages of a match to its bots' streams; bots without a stream miss theirs."""
    bots = hosted.bots
    for seat, message in match.outbox:
        session = bots[seat].session
        if session is not None:
            session.send(message)
    match.outbox.clear()
