"""A running match whose pace a test sets."""

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asara_server.event_loop import new_event_loop
from asara_server.match.feed import MatchFeed
from tests.events import EVENT_S, turns, until
from tests.referee.harness import Stream, spec
from tests.web.served import WatchedReferee, watched_referee


class LiveTable:
    """A match between bots that answer while they are allowed to.

    Its methods may be called from another thread than that of its event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._allowed = asyncio.Event()
        self._left = 0
        self._waits = False
        self.web: WatchedReferee
        self.feed: MatchFeed
        self.playing: asyncio.Task[Any]

    @property
    def url(self) -> str:
        return f"http://{self.web.address}/runs/{self.web.run}/matches/m1"

    def play(self, decisions: int) -> None:
        """Let the bots answer so many decisions more, or all; wait until viewers can see it."""
        asyncio.run_coroutine_threadsafe(self._play(decisions), self._loop).result(EVENT_S)

    async def _play(self, decisions: int) -> None:
        self._left += decisions
        self._waits = False
        self._allowed.set()
        await until(lambda: self._waits or self.playing.done())
        watcher = await self.web.watch()
        while watcher.sequence < self.feed.turn_ends[-1]:
            await watcher.read()

    async def answer(self, stream: Stream) -> None:
        """Play a bot to the end of the match."""
        dice = random.Random(1)
        while (response := await stream.read()).WhichOneof("response") != "match_ended":
            if response.HasField("decision"):
                while not self._left:
                    self._waits = True
                    self._allowed.clear()
                    await self._allowed.wait()
                self._left -= 1
                await turns()
                await stream.answer(response.decision, dice.choice(response.decision.legal_actions))


@contextmanager
def live_table(folder: Path, rule_sets: str = "basic") -> Iterator[LiveTable]:
    """Run a referee, a page and bots in a thread until the exit."""
    loop = new_event_loop()
    table = LiveTable(loop)
    ready, leave = threading.Event(), asyncio.Event()
    failures: list[BaseException] = []

    async def scenario() -> None:
        async with watched_referee(folder) as web:
            streams = await web.bots()
            table.web = web
            table.playing = asyncio.create_task(web.play(spec(rule_sets=rule_sets)))
            await until(web.referee.running_matches)
            table.feed = web.feed("m1")
            bots = [asyncio.create_task(table.answer(stream)) for stream in streams]
            ready.set()
            await leave.wait()
            for task in (table.playing, *bots):
                task.cancel()
            await asyncio.gather(table.playing, *bots, return_exceptions=True)

    def serve() -> None:
        try:
            loop.run_until_complete(scenario())
        except BaseException as error:  # noqa: BLE001 - raised in the test's thread
            failures.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait(EVENT_S)
    try:
        assert not failures, failures
        yield table
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(EVENT_S)
        loop.close()
    assert not failures, failures
