"""Running matches, followed in the journal of the program that plays them.

While somebody watches a match, it is simulated again from its records. Watchers receive the events
of whole turns.

Watchers receive messages only at the ticks of a clock. It ticks 20 times a second, and less often
with more than 50 watchers, because bots may need the machine. At each tick, all new turns of a
match become one message, which is encoded once for all watchers. The time of a message therefore
reveals nothing about the turn in progress.

The journal is read while somebody is interested, and for half a minute afterwards.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from asara_codec.messages import watch_ended_bytes, watch_started_bytes, watch_update_bytes
from asara_codec.reflection import CodecError
from asara_game.rules import format_rule_sets
from asara_server.journal.file_lock import known_holder
from asara_server.journal.journal import JournalError, split_line
from asara_server.journal.record_codec import RecordCodec, Results, Signature
from asara_server.journal.replay import ReplayError, ReplayHeader
from asara_server.journal.resimulate import apply_record
from asara_server.journal.rows import RowFollower
from asara_server.logs import logger
from asara_server.match.match import Match
from asara_server.referee.stream_errors import ErrorKind, StreamError
from asara_server.text import plain
from asara_server.tournament.run.directory import JOURNAL, RunError
from asara_server.tournament.run.read_run import RunJournal
from asara_server.tournament.standings.match_result import utc_text

_TICK_S: Final = 0.05
_SENT_PER_S: Final = 1_000
"""Maximum number of messages per second to all watchers of a run."""
_INTERVAL_S: Final = 0.02
"""Seconds between two checks of the journal."""
_IDLE_S: Final = 30.0
"""Seconds for which the journal is still read after the last request or watcher."""
_READY_S: Final = 2.0
"""Maximum seconds that a request waits until the journal has been read."""
_RETRY_S: Final = 1.0
"""Minimum seconds between two attempts to read the journal."""
_OVER_S: Final = 60.0
"""Seconds for which a finished match can be watched here; its replay may not be published yet."""
_MOST_OVER: Final = 64
_MOST_TABLES: Final = 100
"""Maximum number of running matches that the page of a run lists."""
_MOST_ENCODED: Final = 8


class LiveMatch:
    """A match for its viewers. While it runs, it is simulated only if somebody watches it.

    Messages are encoded once for all viewers who have received the same events so far.
    """

    def __init__(self, header: ReplayHeader, next_tick: Callable[[], Awaitable[object]]) -> None:
        self.header = header
        self.match: Match | None = None
        """None until it was simulated for the first time."""
        self.watchers = 0
        self.ended_s: float | None = None
        """When the match was over or void; None while it runs."""
        self._next_tick = next_tick
        self._codec = RecordCodec()
        self._unread: list[bytes] = []
        """Records that have not been applied yet."""
        self._failure: str | None = None
        self._started: tuple[int, bytes] = (-1, b"")
        self._updates: dict[tuple[int, int], bytes] = {}

    @classmethod
    def over(cls, header: ReplayHeader, match: Match) -> "LiveMatch":
        """Return a match that is over and whose replay is published."""
        live = cls(header, asyncio.Event().wait)
        live.match = match
        live.end()
        return live

    # In the JSON of the API

    def row(self) -> dict[str, Any]:
        """Return a match that may be watched as the list of matches has it; see `match_row`."""
        header = self.header
        return {
            "name": plain(header.match_id),
            "block": plain(header.shared_deal),
            "round": 0,
            "rules": format_rule_sets(header.rule_sets),
            "started": utc_text(header.started_unix_ms / 1000),
            "seconds": 0.0,
            "state": "running",
            "seats": [
                {"entry": plain(entry), "rank": 0, "prestige": 0, "fault": ""}
                for entry in header.entries
            ],
        }

    def table(self, *, watchable: bool) -> dict[str, Any]:
        """Return the match as the page of the run has it: who plays, and since when. If the match
        may be watched, add its name and rules.

        The name of any other match would reveal which matches share its deal. The time left on a
        seat's clock is never included. It would show other bots how long the seat thought, and
        whether it had to decide.
        """
        header = self.header
        seen = {
            "entries": [plain(entry) for entry in header.entries],
            "started_ms": header.started_unix_ms,
        }
        if not watchable:
            return seen
        return {
            "name": plain(header.match_id),
            "rules": format_rule_sets(header.rule_sets),
            **seen,
        }

    # What the journal says

    def add(self, record: bytes) -> None:
        self._unread.append(record)

    def end(self) -> None:
        """Note that the match is over, or void."""
        self.ended_s = time.monotonic()

    def fail(self, why: str) -> None:
        """End the watchers' calls at the next tick: nothing more will be known about the match."""
        self._failure = self._failure or why

    def tick(self) -> None:
        """Apply the new records, so that the watchers can be sent the resulting events."""
        if self._failure is not None:
            return
        try:
            self._advance()
        except (CodecError, ReplayError) as error:
            # The text may contain hidden information of the match, so it is only logged.
            logger("web").error("live match", match=self.header.match_id, detail=str(error))
            self.fail("the match cannot be shown now; look at it when it is over")

    def _advance(self) -> None:
        if self.match is None:
            self.match = Match(self.header.spec(), self.header.limits)
        match = self.match
        records, self._unread = self._unread, []
        for data in records:
            record = self._codec.decode(data)
            if isinstance(record, ReplayHeader):
                raise CodecError("a match has one header")
            if isinstance(record, Results | Signature):  # it is over
                continue
            apply_record(match, record)
            match.outbox.clear()
        if self.ended_s is not None and not match.finished:
            match.abandon("its journal has no result")

    # Watching

    async def watch(self, after: int) -> AsyncGenerator[bytes, None]:
        """Yield the messages for one viewer, with the events after number `after`, until the match
        ends; raises StreamError.

        The first message comes immediately. Each later one has all turns that have ended since the
        message before it, so no message depends on the turn in progress.
        """
        self.watchers += 1
        try:
            if self.ended_s is not None:
                self.tick()
            elif self.watchers == 1:  # it was not simulated while nobody watched
                await self._next_tick()
            while (match := self.match) is None:
                await self._updated()
            yield self._first_message(match)
            ends, sent = match.feed.turn_ends, max(after, 0)
            while True:
                finished = match.finished
                if (end := ends[-1]) > sent:
                    yield self._update(match, sent, end)
                    sent = end
                if finished:
                    break
                if not match.finished and ends[-1] <= sent:
                    await self._updated()
            yield _last_message(match)
        finally:
            self.watchers -= 1

    def _first_message(self, match: Match) -> bytes:
        """Return the match as it was when the last turn ended."""
        spec, feed = match.spec, match.feed
        sequence = feed.turn_ends[-1]
        if self._started[0] != sequence:
            encoded = watch_started_bytes(
                match_id=spec.match_id,
                entries=spec.entries,
                rules=spec.rules,
                sequence=sequence,
                public=feed.public,
                deal_commitment=spec.commitment,
                nonces=spec.nonces,
            )
            self._started = sequence, encoded
        return self._started[1]

    def _update(self, match: Match, after: int, end: int) -> bytes:
        """Return the events after number `after` up to number `end`, where a turn ended."""
        if (after, end) not in self._updates:
            if len(self._updates) >= _MOST_ENCODED:
                self._updates.clear()
            self._updates[after, end] = watch_update_bytes(
                match_id=match.spec.match_id, events=match.feed.event_parts[after:end], sequence=end
            )
        return self._updates[after, end]

    async def _updated(self) -> None:
        """Wait for the next tick; raises StreamError if there will not be any news."""
        if self._failure is None:
            await self._next_tick()
        if self._failure is not None:
            raise StreamError(ErrorKind.STOPPING, self._failure)


def _last_message(match: Match) -> bytes:
    """Return the end of a match; it does not contain the secret of a shared deal."""
    void = bool(match.void_reason)
    secret = b"" if void or match.spec.shared_deal else match.spec.secret
    return watch_ended_bytes(results=match.results, deal_secret=secret, void=void)


class LiveRun:
    """The running matches of one directory."""

    def __init__(self, folder: Path) -> None:
        """Show matches that share a deal only if all bots are contained and so cannot watch."""
        self._folder = folder
        self._journal = folder / JOURNAL
        self._log = RowFollower(self._journal)
        self._contained = False
        self._running: dict[int, LiveMatch] = {}
        self._over: dict[str, LiveMatch] = {}
        """Recently finished matches, by name, in the order in which they ended."""
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._tick = asyncio.Event()
        self._asked_s = self._failed_s = float("-inf")

    async def rows(self) -> list[dict[str, Any]]:
        """Return the running matches that may be watched, in the order in which they started."""
        await self._connect()
        return [match.row() for match in self._running.values() if self._may_watch(match)]

    async def tables(self) -> list[dict[str, Any]]:
        """Return what may be shown of each running match, latest first."""
        await self._connect()
        latest = list(self._running.values())[: -_MOST_TABLES - 1 : -1]
        return [match.table(watchable=self._may_watch(match)) for match in latest]

    async def find(self, match_id: str) -> LiveMatch | None:
        """Return the match of this name if it may be watched and is running or has just ended."""
        await self._connect()
        for match in (*self._running.values(), self._over.get(match_id)):
            if match is not None and match.header.match_id == match_id and self._may_watch(match):
                return match
        return None

    def _may_watch(self, match: LiveMatch) -> bool:
        return self._contained or not match.header.shared_deal

    async def _next_tick(self) -> None:
        await self._tick.wait()

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._end_reading()

    # The journal

    async def _connect(self) -> None:
        """Start reading the journal, if a program is writing it."""
        self._asked_s = time.monotonic()
        if self._reading is None or self._reading.done():
            if self._asked_s < self._failed_s + _RETRY_S:
                return
            self._ready = asyncio.Event()
            self._reading = asyncio.create_task(self._read())
        try:
            async with asyncio.timeout(_READY_S):
                await self._ready.wait()
        except TimeoutError:
            pass

    async def _read(self) -> None:
        """Read the journal until nobody writes it, or nobody is interested any more."""
        ticking = asyncio.create_task(self._tick_always())
        try:
            if await asyncio.to_thread(known_holder, self._journal) is None:
                raise JournalError("no program writes it")
            self._contained = await asyncio.to_thread(_contained, self._folder)
            while self._is_wanted():
                played, frames = await asyncio.to_thread(self._news)
                self._take(frames)
                if not frames:
                    if not played:
                        raise JournalError("no program writes it")
                    self._ready.set()
                    await asyncio.sleep(_INTERVAL_S)
        except (JournalError, ValueError, OSError) as error:
            self._failed_s = time.monotonic()
            logger("web").debug("no live matches", run=str(self._folder), detail=str(error))
            self._end_reading()
        finally:
            ticking.cancel()
            self._show_news()
            self._ready.set()

    def _news(self) -> tuple[bool, list[tuple[int, bytes]]]:
        """Return whether a program is writing the journal, and the frames added to it."""
        played = known_holder(self._journal)  # asked first: the last write comes before the end
        return played is not None, self._log.news()

    def _is_wanted(self) -> bool:
        now_s = time.monotonic()
        if any(match.watchers for match in self._running.values()):
            self._asked_s = now_s
        return now_s <= self._asked_s + _IDLE_S

    def _take(self, frames: list[tuple[int, bytes]]) -> None:
        """Apply frames of the journal to the matches; raises ValueError."""
        for number, data in frames:
            match = self._running.get(number)
            if number and match is None:
                header = RecordCodec().decode(data)
                if not isinstance(header, ReplayHeader):
                    raise CodecError("a match has no header")
                self._running[number] = LiveMatch(header, self._next_tick)
            elif match is not None:
                match.add(data)
            else:
                self._take_line(data)

    def _take_line(self, data: bytes) -> None:
        kind, number, name = split_line(data)
        if kind == "result" and (ended := self._running.pop(number, None)):
            ended.end()
            self._over[ended.header.match_id] = ended
        elif kind == "match":
            for before, running in list(self._running.items()):
                if running.header.match_id == name:  # it begins anew
                    del self._running[before]
                    running.fail("the match begins anew; look at it again")

    def _end_reading(self) -> None:
        for match in self._running.values():
            match.fail("the program that plays the match has stopped; try again")
        self._show_news()
        self._running.clear()
        self._log = RowFollower(self._journal)

    def until_tick_s(self, now_s: float) -> float:
        """Return the seconds to the next tick, which do not depend on anything in a match."""
        matches = (*self._running.values(), *self._over.values())
        interval_s = max(_TICK_S, sum(match.watchers for match in matches) / _SENT_PER_S)
        return interval_s - now_s % interval_s

    async def _tick_always(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.until_tick_s(loop.time()))
            self._show_news()

    def _show_news(self) -> None:
        for match in (*self._running.values(), *self._over.values()):
            if match.watchers:
                match.tick()
        oldest_s = time.monotonic() - _OVER_S
        for name, match in list(self._over.items()):
            if len(self._over) > _MOST_OVER or (match.ended_s or 0.0) < oldest_s:
                del self._over[name]
        self._tick.set()
        self._tick = asyncio.Event()


def _contained(folder: Path) -> bool:
    """Return True if all bots of a run are contained.

    A bot on another machine is not contained. It may play at one table of a duplicate block while
    its author watches the others.
    """
    log = RunJournal(folder, counts_only=True)
    try:
        log.read()
    except RunError:
        return False
    return log.info.sandbox != "none" and not log.info.remote
