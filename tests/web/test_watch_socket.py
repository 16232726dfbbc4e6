"""Watching matches over a WebSocket: running ones as they grow, finished ones at once."""

import asyncio
import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from asara.v1.watch_pb2 import WatchRequest
from asara_server.match.match import Match
from asara_server.web import live_matches
from asara_server.web.run_catalogue import RunCatalogue
from asara_server.web.settings import WebLimits, WebSettings
from asara_server.web.watch_socket import WatchSockets
from tests.events import until
from tests.match.playouts import replay_bytes, replay_of
from tests.referee.harness import play_bot, spec, together
from tests.report.runs import KEY, played
from tests.tournament.samples import RUNNING, write_run
from tests.web.play_pipe import serving
from tests.web.served import Watcher, watched_referee


async def play_in_step(stream, *, pace=lambda: True, stop=lambda: False):
    """Play a match, or until `stop` holds; nothing is answered before `pace` holds."""
    rng = random.Random(0)
    while (response := await stream.read()).WhichOneof("response") != "match_ended":
        if response.HasField("decision"):
            await until(pace)
            if stop():
                return
            await stream.answer(response.decision, rng.choice(response.decision.legal_actions))


async def test_a_running_match_grows_to_its_end(tmp_path):
    async with watched_referee(tmp_path) as web:
        a, b, playing = await web.begin()
        feed = web.feed("m1")
        watcher = await web.watch()
        seen = lambda: watcher.sequence == feed.turn_ends[-1]  # noqa: E731
        bots = [asyncio.create_task(play_in_step(each, pace=seen)) for each in (a, b)]
        assert await watcher.ending() == (4000, "")
        record = await playing
        await asyncio.gather(*bots)
    first, *updates, last = watcher.responses
    assert first.started.match.match_id == "m1"
    assert list(first.started.match.entries) == ["a", "b"]
    assert len(updates) > 5
    sequences = [each.update.sequence for each in updates]
    assert sequences == sorted(set(sequences))
    assert len(watcher.events) == feed.turn_ends[-1] == sequences[-1]
    assert [each.prestige for each in last.ended.results] == [
        result.prestige for result in record.ends
    ]
    assert last.ended.deal_secret == replay_of(record).header.deal_secret


async def test_a_watcher_who_lost_the_connection_goes_on_where_he_was(tmp_path):
    async with watched_referee(tmp_path) as web:
        a, b, playing = await web.begin(spec(rule_sets="pro"))
        feed = web.feed("m1")
        whole = watcher = await web.watch()
        events, sequence, connections = [], 0, 0
        seen = lambda: max(sequence, watcher.sequence) == feed.turn_ends[-1]  # noqa: E731
        bots = [asyncio.create_task(play_in_step(each, pace=seen)) for each in (a, b)]
        while True:
            watcher = await web.watch(after=sequence)
            connections += 1
            try:
                for _ in range(4):
                    await watcher.read()
                watcher.socket.transport.abort()
            except ConnectionClosed:
                events += watcher.events
                break
            events += watcher.events
            sequence = max(sequence, watcher.sequence)
        await whole.ending()
        await asyncio.gather(*bots, playing)
    assert connections > 5
    assert events == whole.events


async def test_turns_are_told_at_a_tick_of_the_clock_and_at_no_other_time(tmp_path, monkeypatch):
    """The moment of a message must not depend on when something happened that is not shown."""
    runs: list[live_matches.LiveRun] = []

    async def never_tick(run):
        runs.append(run)
        await asyncio.Event().wait()

    monkeypatch.setattr(live_matches.LiveRun, "_tick_always", never_tick)
    async with watched_referee(tmp_path) as web:
        a, b, playing = await web.begin()
        watcher = await web.watch()
        await until(lambda: runs and any(each.watchers for each in runs[0]._running.values()))
        runs[0]._show_news()
        await watcher.read()
        await watcher.read()
        await together(play_in_step(a), play_in_step(b))
        await playing
        await until(lambda: not runs[0]._running)  # all of the match has been received
        runs[0]._show_news()
        assert await watcher.ending() == (4000, "")
    kinds = [each.WhichOneof("response") for each in watcher.responses]
    assert kinds == ["started", "update", "update", "ended"]


# What ends a watch


async def test_the_watcher_of_a_void_match_is_sent_void(tmp_path, monkeypatch):
    async with watched_referee(tmp_path) as web:
        a, _, playing = await web.begin()
        first = await a.until("decision")
        watcher = await web.watch()
        assert (await watcher.read()).HasField("started")

        def fail(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(Match, "reply", fail)
        await a.answer(first)
        assert (await playing).void
        assert await watcher.ending() == (4000, "")
        ended = watcher.responses[-1].ended
        assert ended.void
        assert ended.deal_secret == b""


async def test_a_referee_that_goes_away_is_unavailable(tmp_path, monkeypatch):
    async with watched_referee(tmp_path) as web:
        a, _, playing = await web.begin()
        await a.until("decision")
        watcher = await web.watch()
        assert (await watcher.read()).HasField("started")
        monkeypatch.setattr(live_matches, "known_holder", lambda _: None)
        code, reason = await watcher.ending()
        assert (code, reason.partition(":")[0]) == (4014, "stopping")
        playing.cancel()


NO_MATCHES = ("m2", "", "../x", "m1.asara", "\x00", "x" * 2000, "\u202em1")
NO_RUNS = ("none", "../..", "\x00", "x" * 2000)


async def test_a_match_or_a_run_that_is_not_there_is_not_found(tmp_path):
    async with watched_referee(tmp_path) as web:
        for run, match_id in (
            *((web.run, name) for name in NO_MATCHES),
            *((r, "m1") for r in NO_RUNS),
        ):
            watcher = await web.watcher(run)
            await watcher.ask(match_id)
            code, reason = await watcher.ending()
            assert (code, reason.partition(":")[0]) == (4005, "match")
            assert str(tmp_path) not in reason
            assert "\u202e" not in reason


async def test_garbage_is_refused(tmp_path):
    async with watched_referee(tmp_path) as web:
        for message, expected in (
            (b"\xff", (4003, "unreadable-request")),
            ("text", (4003, "unreadable-request")),
            (bytes(5000), (4008, "request-too-large")),
            (bytes(70_000), (1009, "")),
        ):
            watcher = await web.watcher()
            await watcher.socket.send(message)
            code, reason = await watcher.ending()
            assert code == expected[0]
            assert reason.startswith(expected[1])


async def test_a_second_message_is_refused(tmp_path):
    async with watched_referee(tmp_path) as web:
        a, _, playing = await web.begin()
        await a.until("decision")
        watcher = await web.watch()
        await watcher.read()
        await watcher.ask()
        assert (await watcher.ending())[0] == 4003
        playing.cancel()


async def test_silence_is_ended(tmp_path):
    async with watched_referee(tmp_path, limits=WebLimits(hello_s=0.1)) as web:
        watcher = await web.watcher()
        code, reason = await watcher.ending()
        assert (code, reason) == (4003, "empty-request: send a WatchRequest within 0.1 s")


async def test_watchers_are_limited(tmp_path):
    async with watched_referee(tmp_path, limits=WebLimits(watchers=2)) as web:
        a, _, playing = await web.begin()
        await a.until("decision")
        watchers = [await web.watch() for _ in range(2)]
        for watcher in watchers:
            await watcher.read()
        code, reason = await (await web.watch()).ending()
        assert (code, reason.partition(":")[0]) == (4008, "too-many-streams")
        watchers[0].socket.transport.abort()
        while True:  # until the page has noticed that the WebSocket is gone
            again = await web.watch()
            try:
                assert (await again.read()).HasField("started")
            except ConnectionClosed:
                continue
            break
        playing.cancel()


async def test_a_watcher_who_does_not_read_is_disconnected(tmp_path):
    """Its messages are not queued: after a reconnection it goes on where it was."""

    class Stuck:
        def __init__(self):
            self.query_params = {"run": tmp_path.name}
            self.closed = 0, ""
            self.requests: asyncio.Queue[dict[str, object]] = asyncio.Queue()
            self.sent: list[bytes] = []

        async def accept(self):
            pass

        async def receive(self):
            return await self.requests.get()

        async def send_bytes(self, data):
            if len(self.sent) == 2:
                await asyncio.Event().wait()
            self.sent.append(data)

        async def close(self, code, reason):
            self.closed = code, reason

    async with watched_referee(tmp_path) as web:
        a, b, playing = await web.begin(spec(rule_sets="pro"))
        catalogue = RunCatalogue((tmp_path,))
        sockets = WatchSockets(WebLimits(send_s=0.2), catalogue)
        stuck: Any = Stuck()
        request = WatchRequest(match_id="m1").SerializeToString()
        stuck.requests.put_nowait({"type": "websocket.receive", "bytes": request})
        serving_it = asyncio.create_task(sockets.serve(stuck))
        quick = await web.watch()
        await together(play_in_step(a), play_in_step(b))
        await playing
        assert await quick.ending() == (4000, "")
        await serving_it
        await catalogue.close()
        code, reason = stuck.closed
        assert (code, reason.partition(":")[0]) == (4008, "responses-unread")
        assert len(stuck.sent) == 2


# Matches that are over


def finished(folder):
    """Write the replay of a match that is over, and return it."""
    replay, _ = played("m1")
    (folder / "m1.asara").write_bytes(replay_bytes(replay, KEY))
    return replay


async def test_a_finished_match_is_sent_at_once(tmp_path):
    replay = finished(tmp_path)
    async with serving(WebSettings(sources=(tmp_path,))) as address:
        url = f"ws://{address}/ws/watch?run={tmp_path.name}"
        watcher = Watcher(await connect(url, proxy=None))
        started, update, ended = await watcher.all()
        events = len(update.update.events)
        assert started.started.match.sequence == update.update.sequence == events > 50
        assert ended.ended.results[0].prestige == replay.ends[0].prestige
        again = Watcher(await connect(url, proxy=None))
        assert len(await again.all(after=events)) == 2


async def test_a_link_and_a_damaged_replay_are_not_found_and_say_no_more(tmp_path):
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    run.mkdir()
    elsewhere.mkdir()
    finished(elsewhere)
    (run / "m1.asara").symlink_to(elsewhere / "m1.asara")
    data = (elsewhere / "m1.asara").read_bytes()
    (run / "m2.asara").write_bytes(data[: len(data) // 2])
    async with serving(WebSettings(sources=(run,))) as address:
        for name in ("m1", "m2"):
            watcher = Watcher(await connect(f"ws://{address}/ws/watch?run=run", proxy=None))
            await watcher.ask(name)
            code, reason = await watcher.ending()
            assert (code, reason.partition(":")[0]) == (4005, "match")
            assert str(tmp_path) not in reason


async def test_a_match_can_be_watched_from_its_end_to_its_publication(tmp_path):
    async with watched_referee(tmp_path) as web:
        a, b, playing = await web.begin()
        early = await web.watch()
        await early.read()
        await together(play_in_step(a), play_in_step(b))
        await playing
        assert await early.ending() == (4000, "")
        late = await web.watch(after=early.sequence - 3)
        assert await late.ending() == (4000, "")
        assert len(late.events) == 3
        assert late.data[-1] == early.data[-1]


# The list of running matches


async def get(web, path="", **query):
    """The answer of the API about the run."""
    async with httpx2.AsyncClient() as client:
        response = await client.get(f"http://{web.address}/api/runs/{web.run}{path}", params=query)
    return response.json()


async def running(web):
    """The running matches that the page lists."""
    return (await get(web, "/matches", state="running"))["matches"]


async def listed(web, number):
    """Wait until the page lists so many running matches, and return them."""
    while len(rows := await running(web)) != number:
        pass
    return rows


async def test_running_matches_are_listed_with_what_everybody_may_know(tmp_path):
    """The rows are compared whole: all that the header holds besides is secret."""
    async with watched_referee(tmp_path) as web:
        assert await running(web) == []
        a, b = await web.bots()
        matches = [
            spec(rule_sets="pro+gifts"),
            replace(spec(match_id="m2"), shared_deal="block-1"),  # other matches have its deal
            spec(match_id="m3"),
        ]
        tasks = [asyncio.create_task(web.play(match)) for match in matches]
        rows = await listed(web, 2)
        assert [datetime.fromisoformat(row.pop("started")).tzinfo for row in rows] == [UTC] * 2
        seats = [{"entry": name, "rank": 0, "prestige": 0, "fault": ""} for name in "ab"]
        every = {"block": "", "round": 0, "seconds": 0.0, "state": "running", "seats": seats}
        assert rows == [
            {"name": "m1", "rules": "pro+gifts", **every},
            {"name": "m3", "rules": "basic", **every},
        ]
        tables = (await get(web))["running"]
        assert all(isinstance(table.pop("started_ms"), int) for table in tables)
        assert tables == [
            {"name": "m3", "rules": "basic", "entries": ["a", "b"]},
            {"entries": ["a", "b"]},  # of m2, who plays, since when, and nothing else
            {"name": "m1", "rules": "pro+gifts", "entries": ["a", "b"]},
        ]
        await together(play_bot(a, matches=3), play_bot(b, matches=3))
        await asyncio.gather(*tasks)
        await listed(web, 0)


# Mirrored blocks


@pytest.mark.parametrize(
    ("sandbox", "remote", "shown"),
    [
        ("bubblewrap", (), True),
        ("bubblewrap", ("far",), False),
        ("none", (), False),
    ],
)
async def test_a_mirrored_match_is_shown_live_if_all_bots_are_contained(
    tmp_path, sandbox, remote, shown
):
    write_run(tmp_path, (), **RUNNING, sandbox=sandbox, remote=remote)
    async with watched_referee(tmp_path) as web:
        a, b = await web.bots()
        mirrored = replace(spec(), shared_deal="block-1")
        playing = asyncio.create_task(web.play(mirrored))
        await until(web.referee.running_matches)
        feed = web.feed("m1")
        watcher = await web.watch()
        bots = [asyncio.create_task(play_in_step(each)) for each in (a, b)]
        ending = await watcher.ending()
        await playing
        await asyncio.gather(*bots)
        late = await web.watch()  # its block is not over: there is no replay of it
        assert (await late.ending())[0] == (4000 if shown else 4005)
    secrets = [spec().secret, spec().deal_secret]
    for data in (*watcher.data, *late.data):
        assert not any(secret in data for secret in secrets)
    if shown:
        assert ending == (4000, "")
        assert len(watcher.events) == len(feed.events)
        assert watcher.responses[-1].ended.deal_secret == b""
    else:
        assert ending[0] == 4005
        assert not watcher.data
        assert not late.data


async def test_a_mirrored_match_that_is_not_shown_cannot_be_told_from_none(tmp_path):
    write_run(tmp_path, (), **RUNNING)
    async with watched_referee(tmp_path) as web:
        a, _, playing = await web.begin(replace(spec(), shared_deal="block-1"))
        await a.until("decision")
        endings = [await (await web.watch(name)).ending() for name in ("m1", "m2")]
        assert endings[0][1].replace("m1", "m2") == endings[1][1]
        playing.cancel()
