"""A referee and a web server in the event loop of a test, and watchers of its matches."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from asara.v1.watch_pb2 import WatchRequest, WatchResponse
from asara_server.journal.journal import Journal
from asara_server.match.feed import MatchFeed
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.tournament.run import status
from asara_server.tournament.run.directory import JOURNAL
from asara_server.web import live_matches
from asara_server.web.settings import WebLimits, WebSettings
from tests.events import EVENT_S, until
from tests.referee.harness import RefereeServer, Stream, referee_server, spec
from tests.tournament.samples import RUNNING, match, seat, write_run
from tests.web.play_pipe import serving


class Watcher:
    """A WebSocket on `/ws/watch`; `data` and `responses` collect what it receives."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.data: list[bytes] = []

    @property
    def responses(self) -> list[WatchResponse]:
        return [WatchResponse.FromString(data) for data in self.data]

    @property
    def sequence(self) -> int:
        """Number of the last event received."""
        updates = (each.update.sequence for each in self.responses if each.HasField("update"))
        return max(updates, default=0)

    async def ask(self, match_id: str = "m1", after: int = 0) -> None:
        request = WatchRequest(match_id=match_id, after_sequence=after)
        with suppress(ConnectionClosed):  # the server may have refused it before
            await self.socket.send(request.SerializeToString())

    async def read(self) -> WatchResponse:
        data = await self.socket.recv(decode=False)
        self.data.append(data)
        return WatchResponse.FromString(data)

    async def read_to(self, sequence: int, quiet_s: float) -> None:
        """Read up to an event, and then until nothing comes for a while."""
        async with asyncio.timeout(EVENT_S):
            while self.sequence < sequence:
                await self.read()
        with suppress(TimeoutError):
            while True:
                await asyncio.wait_for(self.read(), quiet_s)

    async def ending(self) -> tuple[int, str]:
        """Read to the end; return the close code and the reason."""
        with suppress(ConnectionClosed):
            while True:
                await self.read()
        await self.socket.wait_closed()
        assert self.socket.close_code is not None
        return self.socket.close_code, self.socket.close_reason or ""

    async def all(self, match_id: str = "m1", after: int = 0) -> list[WatchResponse]:
        """Watch a match to its end."""
        await self.ask(match_id, after)
        assert await self.ending() == (4000, "")
        return self.responses

    @property
    def events(self) -> list[Any]:
        return [event for each in self.responses for event in each.update.events]


class WatchedReferee:
    """A referee with a journal, and a web server that shows its matches."""

    def __init__(self, server: RefereeServer, journal: Journal, address: str, run: str) -> None:
        self.server = server
        self._journal = journal
        self.referee = server.referee
        self.address = address
        self.run = run
        self._watchers: list[Watcher] = []

    async def play(self, played: MatchSpec) -> MatchRecord:
        """Play a match to its end, as a run does."""
        record = await self.referee.play(played)
        result = match(played.match_id, *(seat(player.entry, 1) for player in played.players))
        self._journal.end(played.match_id, result.to_json())
        return record

    async def watcher(self, run: str | None = None) -> Watcher:
        """A new watcher, who has asked nothing yet."""
        url = f"ws://{self.address}/ws/watch?run={quote(run or self.run)}"
        watcher = Watcher(await connect(url, proxy=None, max_size=None, compression=None))
        self._watchers.append(watcher)
        return watcher

    async def watch(self, match_id: str = "m1", after: int = 0) -> Watcher:
        """A new watcher, who has asked for a match."""
        watcher = await self.watcher()
        await watcher.ask(match_id, after)
        return watcher

    def feed(self, match_id: str) -> MatchFeed:
        """The events of a running match, as the referee has them."""
        [hosted] = [h for h in self.referee.running_matches() if h.spec.match_id == match_id]
        assert hosted.match is not None
        return hosted.match.feed

    async def bots(self, names: str = "ab") -> list[Stream]:
        return await self.server.dial_all(names, max_matches=64)

    async def begin(
        self, played: MatchSpec | None = None
    ) -> tuple[Stream, Stream, asyncio.Task[MatchRecord]]:
        """Begin a match of two bots, who have been sent its start."""
        a, b = await self.bots()
        playing = asyncio.create_task(self.play(played or spec()))
        await until(self.referee.running_matches)
        return a, b, playing

    async def close(self) -> None:
        for watcher in self._watchers:
            watcher.socket.transport.abort()


@asynccontextmanager
async def watched_referee(
    folder: Path, *, limits: WebLimits | None = None
) -> AsyncIterator[WatchedReferee]:
    """Serve a referee, with the journal of the run in `folder`, and a web server, until the exit.

    Without a run in the folder, a new one begins.
    """
    settings = WebSettings(sources=(folder,), limits=limits or WebLimits())
    if not (folder / JOURNAL).exists():
        write_run(folder, [], **RUNNING)
    with pytest.MonkeyPatch.context() as patch, Journal(folder / JOURNAL) as journal:
        patch.setattr(live_matches, "_READY_S", EVENT_S)
        for module in (live_matches, status):  # a process does not see its own lock
            patch.setattr(module, "known_holder", lambda _: 0)
        async with referee_server(journal=journal) as server, serving(settings) as address:
            watched = WatchedReferee(server, journal, address, folder.name)
            try:
                yield watched
            finally:
                await watched.close()
