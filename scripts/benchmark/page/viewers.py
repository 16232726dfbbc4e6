"""A child process of viewers who watch running matches over WebSockets, as the page does."""

import asyncio
import json
import urllib.request
from itertools import count
from typing import Any, Final

import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from asara.v1.watch_pb2 import WatchRequest
from scripts.benchmark.children import options, serve_commands

_NOT_FOUND: Final = 4005
_BETWEEN_S: Final = 0.1


class Viewers:
    """A number of WebSockets, spread over the running matches of a run."""

    def __init__(self, address: str, run: str, viewers: int) -> None:
        self._address = address
        self._run = run
        self._viewers = viewers
        self._met: set[asyncio.Task[None] | None] = set()
        self._messages = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> dict[str, float]:
        """Begin to watch; return when every viewer has received a table."""
        names = await asyncio.to_thread(self._running)
        for number in range(self._viewers):
            name = names[number % len(names)]
            self._tasks.append(asyncio.create_task(self._watch_on(name)))
        while len(self._met) < self._viewers:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)
        return {}

    async def counted(self) -> dict[str, float]:
        """Return the number of messages since the previous call."""
        messages, self._messages = self._messages, 0
        return {"messages": messages}

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _running(self) -> list[str]:
        url = f"http://{self._address}/api/runs/{self._run}/matches?state=running"
        with urllib.request.urlopen(url, timeout=10) as response:
            found: dict[str, Any] = json.load(response)
        return [match["name"] for match in found["matches"]]

    async def _watch_on(self, name: str) -> None:
        """Watch a match, then the next matches at the same table (see `referee_server`)."""
        table, _, first = name.rpartition("-")
        for number in count(int(first)):
            while not await self._watch(f"{table}-{number}"):  # noqa: ASYNC110
                await asyncio.sleep(_BETWEEN_S)  # it has not begun yet

    async def _watch(self, name: str) -> bool:
        """Watch a match to its end; return False if the match does not exist."""
        url = f"ws://{self._address}/ws/watch?run={self._run}"
        async with connect(url, proxy=None, compression=None) as socket:
            await socket.send(WatchRequest(match_id=name).SerializeToString())
            try:
                while True:
                    await socket.recv(decode=False)
                    self._messages += 1
                    self._met.add(asyncio.current_task())
            except ConnectionClosed:
                return socket.close_code != _NOT_FOUND


async def main(address: str, run: str, viewers: int) -> None:
    watching = Viewers(address, run, viewers)
    try:
        await serve_commands({"start": watching.start, "counted": watching.counted})
    finally:
        await watching.close()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(**options()))
