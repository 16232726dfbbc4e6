"""A page watches a running match, and loses its connection."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute

from asara.v1.play_pb2 import DecisionKind
from tests.events import EVENT_S, until
from tests.referee.harness import Stream, spec
from tests.web.browser.scripts import bundled, run_in_page
from tests.web.served import watched_referee

_WATCH = """
import { watchMatch } from "./match/watch.js";
const seen = { lengths: [], kept: true, connections: [], failed: "", record: undefined };
Object.assign(window, { seen });
const [run, match] = decodeURIComponent(location.hash.slice(1)).split("/");
watchMatch(run ?? "", match ?? "", {
  grown(record) {
    const before = seen.record?.moments ?? [];
    seen.kept &&= before.every((moment, index) => record.moments[index] === moment);
    seen.lengths.push(record.moments.length);
    seen.record = record;
    if (record.results !== undefined) document.body.dataset["over"] = "";
  },
  connectionChanged: (connected) => seen.connections.push(connected),
  failed(reason) {
    seen.failed = reason;
    document.body.dataset["over"] = "";
  },
});
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    return bundled(_WATCH, tmp_path_factory.mktemp("watch"))


class Pace:
    """Lets the first turns of a match begin only when the page has been sent those before."""

    turns = 12

    def __init__(self) -> None:
        self.sent = 0
        """Messages that the page has been sent."""
        self._begun = 0

    async def begin_turn(self) -> None:
        self._begun += 1
        begun = min(self._begun, self.turns)
        await until(lambda: self.sent >= begun)


async def play_in_step(stream: Stream, pace: Pace | None) -> None:
    """Play a match at random."""
    random = Random(0)
    while (response := await stream.read()).WhichOneof("response") != "match_ended":
        if response.HasField("decision"):
            decision = response.decision
            if pace is not None and decision.kind == DecisionKind.DECISION_KIND_SPACE:
                await pace.begin_turn()
            await stream.answer(decision, random.choice(decision.legal_actions))


@contextmanager
def running_match(folder: Path, pace: Pace | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the address of a web server, and the future record of a match that two bots play."""
    addresses: SimpleQueue[str] = SimpleQueue()
    left = asyncio.Event()
    loops: SimpleQueue[asyncio.AbstractEventLoop] = SimpleQueue()

    async def serve() -> Any:
        loops.put(asyncio.get_running_loop())
        async with watched_referee(folder) as web:
            a, b = await web.bots()
            playing = asyncio.create_task(web.referee.play(spec()))
            bots = [asyncio.create_task(play_in_step(bot, pace)) for bot in (a, b)]
            addresses.put(web.address)
            leaving = asyncio.create_task(left.wait())
            await asyncio.wait((playing, leaving), return_when=asyncio.FIRST_COMPLETED)
            record = await playing if playing.done() else None
            await leaving
            for task in (playing, *bots):
                task.cancel()
            return record

    with ThreadPoolExecutor(1) as threads:
        served = threads.submit(lambda: asyncio.run(serve()))
        try:
            yield addresses.get(timeout=EVENT_S), served
        finally:
            loops.get(timeout=EVENT_S).call_soon_threadsafe(left.set)


def test_a_match_goes_on_where_its_connection_broke(
    page: Page, script: str, tmp_path: Path
) -> None:
    sockets: list[WebSocketRoute] = []
    pace = Pace()

    def break_the_first(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        received = 0

        def pass_on(message: str | bytes) -> None:
            nonlocal received
            received += 1
            pace.sent += 1
            if len(sockets) == 1 and received == 6:
                socket.close(code=1011)
                return
            socket.send(message)

        socket.connect_to_server().on_message(pass_on)

    page.route_web_socket(re.compile("/ws/watch"), break_the_first)
    with running_match(tmp_path, pace) as (address, served):
        run_in_page(page, f"http://{address}/api/runs#{tmp_path.name}/m1", script)
        page.locator("[data-over]").wait_for()
        seen = page.evaluate("""({
            lengths: seen.lengths, kept: seen.kept, connections: seen.connections,
            failed: seen.failed, sequence: seen.record.moments.at(-1).sequence,
            prestige: seen.record.results.map((result) => result.prestige),
        })""")
        page.close()
    record = served.result()
    assert seen["failed"] == ""
    assert seen["connections"] == [True, False, True]
    assert len(sockets) == 2
    assert seen["sequence"] == len(record.events)
    assert seen["prestige"] == [result.prestige for result in record.results]
    assert seen["kept"]
    assert seen["lengths"] == sorted(seen["lengths"])
    assert len(seen["lengths"]) > 5


def test_a_match_that_is_not_there_is_an_error_in_words(
    page: Page, script: str, tmp_path: Path
) -> None:
    with running_match(tmp_path) as (address, _):
        run_in_page(page, f"http://{address}/api/runs#{tmp_path.name}/m2", script)
        page.locator("[data-over]").wait_for()
        assert page.evaluate("seen.failed") == "no match 'm2' can be watched now"
        page.close()
