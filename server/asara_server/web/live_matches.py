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
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

from asara_codec.reflection import CodecError
from asara_game.rules import format_rule_sets
from asara_server.eventlog.file_lock import is_held
from asara_server.eventlog.journal import TABLE, JournalError, split_line
from asara_server.eventlog.log_file import LogFollower
from asara_server.eventlog.record_codec import Results, Signature, record_from_bytes
from asara_server.eventlog.replay import ReplayError, ReplayHeader
from asara_server.eventlog.resimulate import apply_record
from asara_server.logs import logger
from asara_server.match.match import Match
from asara_server.referee.stream_errors import ErrorKind, StreamError
from asara_server.report.run_json import MatchRow
from asara_server.text import plain
from asara_server.tournament.run.directory import JOURNAL, RunError
from asara_server.tournament.run.read_run import RunLog
from asara_server.tournament.standings.match_result import utc_text
from asara_server.web.watch_messages import WatchMessages, follow

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


class LiveMatch:
    """A match in the journal. It is simulated only while somebody watches it."""

    def __init__(self, header: ReplayHeader) -> None:
        self.header = header
        self.match: Match | None = None
        self.watchers = 0
        self.ended_s: float | None = None
        """When the match was over or void; None while it runs."""
        self._messages: WatchMessages | None = None
        self._unread: list[bytes] = []
        """Records that have not been applied yet."""
        self._failure: str | None = None
        self._news = asyncio.Event()

    def row(self) -> MatchRow:
        """Return the match as the page lists it, in the form of `match_row`."""
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

    # What the journal says

    def add(self, record: bytes) -> None:
        self._unread.append(record)

    def end(self) -> None:
        """Note that the match is over, or void."""
        self.ended_s = time.monotonic()

    def fail(self, why: str) -> None:
        """End the watchers' calls, because nothing more will be known about the match."""
        self._failure = self._failure or why
        self._wake()

    def tick(self) -> None:
        """Apply the new records, and send the resulting events to the watchers."""
        if self._failure is not None:
            return
        try:
            if self._advance():
                self._wake()
        except (CodecError, ReplayError) as error:
            # The text may contain hidden information of the match, so it is only logged.
            logger("web").error("live match", match=self.header.match_id, detail=str(error))
            self.fail("the match cannot be shown now; look at it when it is over")

    def _advance(self) -> bool:
        """Apply the new records; return True if there may be news for watchers."""
        if self.match is None:
            self.match = Match(self.header.spec(), self.header.limits())
            self._messages = WatchMessages(self.match)
        match, feed = self.match, self.match.feed
        before = len(feed.turn_ends), match.finished
        records, self._unread = self._unread, []
        for data in records:
            before_us = match.records[-1].time_us if match.records else 0
            record = record_from_bytes(data, before_us)
            if isinstance(record, ReplayHeader):
                raise CodecError("a match has one header")
            if isinstance(record, Results | Signature):  # it is over
                continue
            apply_record(match, record)
            match.outbox.clear()
        if self.ended_s is not None and not match.finished:
            match.abandon()
        return (len(feed.turn_ends), match.finished) != before

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # Watching

    async def updated(self) -> None:
        """Wait for news; raises StreamError if there will not be any."""
        self._check()
        await self._news.wait()
        self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise StreamError(ErrorKind.STOPPING, self._failure)

    async def watch(
        self, after: int, next_tick: Callable[[], Awaitable[object]]
    ) -> AsyncIterator[bytes]:
        """Yield the messages for one viewer, as `follow` does; raises StreamError."""
        self.watchers += 1
        try:
            if self.ended_s is not None:
                self.tick()
            elif self.watchers == 1:  # it was not simulated while nobody watched
                await next_tick()
            while self.match is None:
                self._check()
                await next_tick()
            assert self._messages is not None
            async for message in follow(self.match, self._messages, after, self.updated):
                yield message
        finally:
            self.watchers -= 1


class LiveRun:
    """The running matches of one directory."""

    def __init__(self, folder: Path) -> None:
        """Show matches that share a deal only if all bots are contained and so cannot watch."""
        self._folder = folder
        run = folder / JOURNAL
        self._journal = run if run.exists() else folder / TABLE
        self._log = LogFollower(self._journal)
        self._contained = False
        self._running: dict[int, LiveMatch] = {}
        self._over: dict[str, LiveMatch] = {}
        """Recently finished matches, by name, in the order in which they ended."""
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._tick = asyncio.Event()
        self._asked_s = self._failed_s = float("-inf")

    async def matches(self) -> list[LiveMatch]:
        """Return the running matches that may be watched, in the order in which they started."""
        return [match for match in await self.tables() if self.may_watch(match)]

    async def tables(self) -> list[LiveMatch]:
        """Return all running matches, in the order in which they started."""
        await self._connect()
        return list(self._running.values())

    async def find(self, match_id: str) -> LiveMatch | None:
        """Return the match of this name if it may be watched and is running or has just ended."""
        for match in await self.matches():
            if match.header.match_id == match_id:
                return match
        over = self._over.get(match_id)
        return over if over is not None and self.may_watch(over) else None

    def watch(self, match: LiveMatch, after: int) -> AsyncIterator[bytes]:
        """Yield the messages for a watcher of a match; raises StreamError."""
        return match.watch(after, self._next_tick)

    async def _next_tick(self) -> None:
        await self._tick.wait()

    def may_watch(self, match: LiveMatch) -> bool:
        return self._contained or not match.header.shared_deal

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
            if not await asyncio.to_thread(is_held, self._journal):
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
        except (JournalError, CodecError, ValueError, OSError) as error:
            self._failed_s = time.monotonic()
            logger("web").debug("no live matches", run=str(self._folder), detail=str(error))
            self._end_reading()
        finally:
            ticking.cancel()
            self._show_news()
            self._ready.set()

    def _news(self) -> tuple[bool, list[tuple[int, bytes]]]:
        """Return whether a program is writing the journal, and the frames added to it."""
        played = is_held(self._journal)  # checked first: the last write comes before the end
        return played, self._log.news()

    def _is_wanted(self) -> bool:
        now_s = time.monotonic()
        if any(match.watchers for match in self._running.values()):
            self._asked_s = now_s
        return now_s <= self._asked_s + _IDLE_S

    def _take(self, frames: list[tuple[int, bytes]]) -> None:
        """Apply frames of the journal to the matches; raises CodecError and ValueError."""
        for number, data in frames:
            match = self._running.get(number)
            if number and match is None:
                self._running[number] = LiveMatch(_header(data))
            elif match is not None:
                match.add(data)
            else:
                self._take_line(data)

    def _take_line(self, data: bytes) -> None:
        kind, number, name = split_line(data)
        if kind == "result" and (ended := self._running.pop(number, None)):
            ended.end()
            self._over.pop(ended.header.match_id, None)
            self._over[ended.header.match_id] = ended
        elif kind == "match":
            for before, running in list(self._running.items()):
                if running.header.match_id == name:  # it begins anew
                    del self._running[before]
                    running.fail("the match begins anew; look at it again")

    def _end_reading(self) -> None:
        self._show_news()
        for match in self._running.values():
            match.fail("the program that plays the match has stopped; try again")
        self._running.clear()
        self._log = LogFollower(self._journal)

    def tick_s(self) -> float:
        """Return the seconds between two ticks, which do not depend on anything in a match."""
        matches = (*self._running.values(), *self._over.values())
        return max(_TICK_S, sum(match.watchers for match in matches) / _SENT_PER_S)

    async def _tick_always(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            interval_s = self.tick_s()
            await asyncio.sleep(interval_s - loop.time() % interval_s)
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


def _header(data: bytes) -> ReplayHeader:
    """Return the header from the first record of a match in the journal; raises CodecError."""
    header = record_from_bytes(data)
    if not isinstance(header, ReplayHeader):
        raise CodecError("a match has no header")
    return header


def _contained(folder: Path) -> bool:
    """Return True if all bots of a run are contained.

    A bot on another machine is not contained. It may play at one table of a duplicate block while
    its author watches the others.
    """
    log = RunLog(folder, counts_only=True)
    try:
        log.read()
    except RunError:
        return False
    return log.info.sandbox != "none" and not log.info.remote


class LiveRuns:
    """The running matches of all served directories."""

    def __init__(self) -> None:
        self._runs: dict[Path, LiveRun] = {}

    def of(self, folder: Path) -> LiveRun:
        """Return the running matches of a run's directory."""
        run = self._runs.get(folder)
        if run is None:
            run = self._runs[folder] = LiveRun(folder)
        return run

    async def close(self) -> None:
        for run in self._runs.values():
            await run.close()
