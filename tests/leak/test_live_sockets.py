"""What the page's WebSocket sends of a running match, bytes and moments, by the real server."""

import asyncio
import random

import pytest

from asara_server.web import live_matches
from tests.events import until
from tests.referee.harness import spec
from tests.web.served import watched_referee

QUIET_S = 0.06
"""Longer than the way of a record through the journal, a tick and the socket."""


@pytest.fixture(autouse=True)
def quick_ticks(monkeypatch):
    monkeypatch.setattr(live_matches, "_INTERVAL_S", 0.005)
    monkeypatch.setattr(live_matches, "_TICK_S", 0.01)


async def next_decision(stream):
    """The next decision of a bot; None at the end of the match."""
    while (response := await stream.read()).WhichOneof("response") != "match_ended":
        if response.HasField("decision"):
            return response.decision
    return None


@pytest.mark.long
@pytest.mark.parametrize("rule_sets", ["basic", "pro+gifts+genie"])
async def test_within_a_turn_nothing_is_sent_and_a_new_watcher_sees_what_was_before(
    tmp_path, rule_sets
):
    rng = random.Random(1)
    async with watched_referee(tmp_path) as web:
        streams = await web.bots()
        playing = asyncio.create_task(web.play(spec(rule_sets=rule_sets)))
        await until(web.referee.running_matches)
        feed = web.feed("m1")
        decisions = {asyncio.create_task(next_decision(each)): each for each in streams}
        constant = await web.watch()
        before: list[bytes] = []
        within = 0
        while within < 8:
            [done], _ = await asyncio.wait(decisions, return_when=asyncio.FIRST_COMPLETED)
            stream = decisions.pop(done)
            decision = done.result()
            received = len(constant.data)
            await constant.read_to(feed.turn_ends[-1], QUIET_S)
            watcher = await web.watch(after=feed.turn_ends[-1] - 3)
            await watcher.read_to(feed.turn_ends[-1], QUIET_S)
            if len(feed.events) > feed.turn_ends[-1]:
                assert len(constant.data) == received
                assert watcher.data == before
                within += 1
            assert constant.sequence == watcher.sequence == feed.turn_ends[-1]
            before = watcher.data
            await stream.answer(decision, rng.choice(decision.legal_actions))
            decisions[asyncio.create_task(next_decision(stream))] = stream
        for task in (playing, *decisions):
            task.cancel()


async def test_no_message_holds_a_secret_of_the_running_match(tmp_path):
    async with watched_referee(tmp_path) as web:
        streams = await web.bots()
        played = spec(rule_sets="pro+gifts")
        playing = asyncio.create_task(web.play(played))
        await until(web.referee.running_matches)
        watcher = await web.watch()
        decisions = {asyncio.create_task(next_decision(each)): each for each in streams}
        while decisions:
            [done, *_], _ = await asyncio.wait(decisions, return_when=asyncio.FIRST_COMPLETED)
            stream = decisions.pop(done)
            if (decision := done.result()) is not None:
                await stream.answer(decision)
                decisions[asyncio.create_task(next_decision(stream))] = stream
        await playing
        assert await watcher.ending() == (4000, "")
    *running, ended = watcher.data
    assert watcher.responses[-1].HasField("ended")
    assert running
    for data in running:
        assert played.secret not in data
        assert b"token-" not in data
    assert played.secret in ended  # which anybody may check afterwards
