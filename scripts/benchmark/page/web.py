"""The page: how soon it shows something, and what its viewers cost the referee.

`web_cpu` and `web_rate`: two referees, set up as in `referee`, play alternately. 200 viewers watch
one of them through a separate web server (`asara web`), which reads its journal. Halfway through,
the viewers change to the other referee, so that a difference between the two processes cancels out.

`web_delay`: one match is played at human speed, with 200 viewers. The delay runs from when the
referee has handled the reply that ends a turn until the turn arrives at one more viewer. The peer
is the longest wait caused by the interval for reading the journal and by the page's own interval.

`web_first_table` and `web_first_load`: Chromium opens a finished four-player match with the richest
rules in a fresh profile. `web_first_table` is the time from the navigation to the drawn table.
`web_first_load` is the size of all responses as sent.
"""

import asyncio
import importlib.util
import json
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, TypeAlias

import grpc
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply
from asara.v1.watch_pb2 import WatchRequest, WatchResponse
from asara_codec.clocks import Clocks
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server import bundled
from asara_server.event_loop import run
from asara_server.journal.journal import Journal
from asara_server.logs import configure
from asara_server.match.spec import MatchSpec, Player
from asara_server.network.grpc_server import PLAY_SERVICE, serve
from asara_server.referee.hosted import HostedMatch
from asara_server.referee.referee import Referee
from asara_server.tournament.run.directory import JOURNAL
from scripts.benchmark.children import Child, child
from scripts.benchmark.figures import Bar, BenchError, Figure, compare
from scripts.benchmark.referee import side

VIEWERS: Final = 200
COST_BAR: Final = Bar(1.05, most=True)
LOAD_BAR: Final = Bar(1, most=True)
_LOAD_KB: Final = 150
_MATCHES: Final = 8
_RULES: Final = "pro+gifts+genie"
_SEATS: Final = 4
_OWN_CONNECTION: Final = (("grpc.use_local_subchannel_pool", 1),)
_TABLE_S: Final = 20.0
_CLOCKS_MS: Final = 70.0
"""The page reads the journal every 20 ms, and viewers receive updates every 50 ms."""
_NOTE_TABLE: Final = """
const drawn = () => [...document.querySelectorAll("main svg[role]")].some(
  (svg) => svg.getBoundingClientRect().width > 200);
const look = () => {
  if (drawn()) {
    requestAnimationFrame(() => { window.firstTable = performance.now(); });
  } else requestAnimationFrame(look);
};
look();
"""
"""Records when the page first showed a drawing as large as the table."""
_LISTENS: Final = re.compile(r"http://([0-9.:]+)")


_Moments: TypeAlias = dict[int, float]
"""Seconds of the monotonic clock, by event number."""


_Round: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
"""Decisions per second and processor time per decision, for the watched referee and the other."""


def web(quick: bool) -> list[Figure]:
    """Measure what viewers cost, how late their updates are, and how soon a table appears."""
    viewers = 20 if quick else VIEWERS
    return [*_costs(quick, viewers), *_delays(quick, viewers), *_first_table(quick)]


@contextmanager
def _web_server(folder: Path) -> Iterator[str]:
    """Serve a folder with `asara web`, in a separate process; yield its address."""
    command = ["asara_server.cli", "web", str(folder), "--listen", "127.0.0.1:0", "--child"]
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        assert process.stdin
        assert process.stdout
        for line in process.stdout:
            if found := _LISTENS.search(line):
                yield found[1]
                break
        else:
            raise BenchError("web: `asara web` ended before it served anything")
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _viewers(folder: Path, viewers: int) -> Iterator[Child]:
    """Watch the matches of the referee that writes its journal to this folder."""
    with (
        _web_server(folder) as address,
        child("page.viewers", address=address, run=folder.name, viewers=viewers) as crowd,
    ):
        yield crowd


# The cost


def _costs(quick: bool, viewers: int) -> list[Figure]:
    seconds, rounds = (0.3, 3) if quick else (1.0, 8)
    costs, rates = [], []
    with side("referee_server") as one, side("referee_server") as other:
        for each in (one, other):
            each.start(_MATCHES)
            each.play(seconds)  # fills caches
        for watched, alone in ((one, other), (other, one)):
            with _viewers(watched.folder, viewers) as crowd:
                crowd.call("start")
                measured: list[_Round] = [
                    (watched.play(seconds), alone.play(seconds)) for _ in range(rounds)
                ]
                if not crowd.call("counted")["messages"]:
                    raise BenchError("web: the viewers received nothing")
            for (rate, cost), (peer_rate, peer_cost) in measured[1:]:
                rates.append((rate, peer_rate))
                costs.append((cost * 1e6, peer_cost * 1e6))
    peer = "no viewer"
    return [
        compare(f"web_cpu, {viewers} viewers", costs, unit="µs/decision", peer=peer, bar=COST_BAR),
        compare(f"web_rate, {viewers} viewers", rates, unit="decisions/s", peer=peer),
    ]


# The delay


def _delays(quick: bool, viewers: int) -> list[Figure]:
    configure("error")
    late = run(_delays_of_a_match(viewers, pause_s=0.004 if quick else 0.03))
    peer = "a look and a tick"
    return [
        Figure("web_delay, median", median(late), "ms", peer, _CLOCKS_MS),
        Figure("web_delay, p95", quantiles(late, n=20)[-1], "ms", peer, _CLOCKS_MS),
    ]


async def _delays_of_a_match(viewers: int, pause_s: float) -> list[float]:
    """Return the milliseconds from the end of each turn to its arrival at a viewer."""
    names = [f"bot-{seat}" for seat in range(_SEATS)]
    rules = Rules(load_edition(), parse_rule_sets(_RULES), _SEATS)
    players = tuple(Player(name, name) for name in names)
    match = MatchSpec("m0-1", rules, players, Clocks(), secrets.token_bytes(32))
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as made, ExitStack() as stack:
        folder = Path(made)
        referee = Referee(journal=stack.enter_context(Journal(folder / JOURNAL)))
        for name in names:
            referee.register_bot(name, name)
        running = await serve(referee, f"unix:{folder / 'socket'}")
        playing = asyncio.create_task(referee.play(match))
        answer = asyncio.Event()
        bots = [
            asyncio.create_task(_play_slowly(running.address, name, pause_s, answer))
            for name in names
        ]
        while not (running_matches := referee.running_matches()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        ends = asyncio.create_task(_note_ends(running_matches[0]))
        address = stack.enter_context(_web_server(folder))
        crowd = child("page.viewers", address=address, run=folder.name, viewers=viewers)
        await asyncio.to_thread(stack.enter_context(crowd).call, "start")
        watching = asyncio.create_task(_watch(address, folder.name, match.match_id))
        await asyncio.sleep(0.2)
        answer.set()
        await asyncio.gather(playing, *bots)
        late = _late(await ends, await watching)
        await running.stop(None)
    return late


async def _play_slowly(address: str, name: str, pause_s: float, answer: asyncio.Event) -> None:
    """Play one match at random, with a pause before every answer."""
    dice = random.Random(name)
    async with grpc.aio.insecure_channel(address, options=_OWN_CONNECTION) as channel:
        call: Any = channel.stream_stream(
            f"/{PLAY_SERVICE}/Play",
            request_serializer=PlayRequest.SerializeToString,
            response_deserializer=PlayResponse.FromString,
        )()
        await call.write(PlayRequest(hello=Hello(protocol_version=1, token=name)))
        while (response := await call.read()).WhichOneof("response") != "match_ended":
            if response.HasField("decision"):
                decision = response.decision
                await answer.wait()
                await asyncio.sleep(pause_s * (0.5 + dice.random()))
                reply = Reply(
                    match_id=decision.match_id,
                    decision_id=decision.decision_id,
                    actions=[dice.choice(decision.legal_actions)],
                )
                await call.write(PlayRequest(reply=reply))


async def _note_ends(hosted: HostedMatch) -> _Moments:
    """Record when each turn ended, by the number of its last event."""
    moments: _Moments = {}
    match = hosted.match
    assert match is not None
    ends = match.feed.turn_ends
    seen = len(ends)
    while not match.finished:
        await hosted.updated()
        now = time.monotonic()
        moments |= dict.fromkeys(ends[seen:], now)
        seen = len(ends)
    return moments


async def _watch(address: str, run_name: str, match_id: str) -> _Moments:
    """Record when the events up to each number arrived."""
    arrivals: _Moments = {}
    url = f"ws://{address}/ws/watch?run={run_name}"
    async with connect(url, proxy=None, compression=None) as socket:
        await socket.send(WatchRequest(match_id=match_id).SerializeToString())
        try:
            while True:
                data = await socket.recv(decode=False)
                arrivals[WatchResponse.FromString(data).update.sequence] = time.monotonic()
        except ConnectionClosed:
            return arrivals


def _late(moments: _Moments, arrivals: _Moments) -> list[float]:
    """Return, for every turn, the milliseconds from its end to its arrival."""
    sequences = sorted(arrivals)
    late = []
    for end, moment in moments.items():
        at = bisect_left(sequences, end)
        late.append(1e3 * (arrivals[sequences[at]] - moment))
    return late


# The first table


def _first_table(quick: bool) -> list[Figure]:
    missing = _missing_for_the_page()
    if missing:
        print(f"web_first_table and web_first_load are left out: {missing}", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as made:
        out = Path(made) / "run"
        bots = ["random"] * _SEATS
        command = ["asara_server.cli", "match", *bots, "--rules", _RULES, "--out", str(out)]
        subprocess.run(
            [sys.executable, "-m", *command, "--sandbox", "none"], check=True, capture_output=True
        )
        with _web_server(out) as address:
            loads = [_load(address, out.name) for _ in range(2 if quick else 10)]
    bar = "the bar itself"
    size = median(size for _, size in loads) / 1e3
    return [
        Figure("web_first_table", median(ms for ms, _ in loads), "ms", "a second", 1e3),
        Figure("web_first_load", size, "kB", bar, _LOAD_KB, LOAD_BAR),
    ]


def _missing_for_the_page() -> str:
    """Return what is missing for loading the page, or "" if nothing is."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: it comes with the extra `dev`"
    if not _chromium():
        return "there is no chromium on PATH"
    if not (bundled.page() / "app" / "index.html").is_file():
        return "the page is not built: run scripts/web"
    return ""


def _chromium() -> str:
    return shutil.which("chromium") or shutil.which("chromium-browser") or ""


def _load(address: str, run_name: str) -> tuple[float, float]:
    """Open a match in a fresh Chromium; return milliseconds to its table, and bytes received."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        received = 0.0

        def count(event: dict[str, Any]) -> None:
            nonlocal received
            received += event["encodedDataLength"]

        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", count)
        page.add_init_script(_NOTE_TABLE)
        match = _only_match(address, run_name)
        page.goto(f"http://{address}/runs/{run_name}/matches/{match}")
        latest = time.monotonic() + _TABLE_S
        while (first := page.evaluate("window.firstTable")) is None:
            if time.monotonic() > latest:
                raise BenchError(f"web: the page of a match drew no table within {_TABLE_S:g} s")
            page.wait_for_timeout(20)
        page.wait_for_load_state("networkidle")
        browser.close()
    return first, received


def _only_match(address: str, run_name: str) -> str:
    with urllib.request.urlopen(
        f"http://{address}/api/runs/{run_name}/matches", timeout=10
    ) as response:
        name: str = json.load(response)["matches"][0]["name"]
    return name
