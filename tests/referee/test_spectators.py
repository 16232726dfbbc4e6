"""Watching: the public events of a match, turn by turn, from any event on."""

import asyncio
import random
from typing import Any

import grpc

from asara.v1.watch_pb2 import (
    ListMatchesRequest,
    ListMatchesResponse,
    MatchSummary,
    WatchRequest,
    WatchResponse,
    WatchStarted,
)
from asara_server.network.grpc_server import WATCH_SERVICE
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stream_errors import REASON_KEY
from tests.events import EVENT_S, until
from tests.referee.harness import (
    one_at_random,
    play_bot,
    referee_server,
    spec,
    together,
)


def watch(server, match_id, after=0):
    method = server.channel().unary_stream(
        f"/{WATCH_SERVICE}/Watch",
        request_serializer=WatchRequest.SerializeToString,
        response_deserializer=WatchResponse.FromString,
    )
    return method(WatchRequest(match_id=match_id, after_sequence=after))


async def list_matches(server):
    method = server.channel().unary_unary(
        f"/{WATCH_SERVICE}/ListMatches",
        request_serializer=ListMatchesRequest.SerializeToString,
        response_deserializer=ListMatchesResponse.FromString,
    )
    return (await method(ListMatchesRequest())).matches


async def rest(call):
    """Read the responses to the end."""
    responses = []
    while (response := await call.read()) is not grpc.aio.EOF:
        responses.append(response)
    return responses


async def refusal(call):
    try:
        async for _ in call:
            pass
    except grpc.aio.AioRpcError:
        pass
    metadata = dict(await call.trailing_metadata())
    return await call.code(), metadata.get(REASON_KEY)


async def test_a_watcher_receives_every_event_turn_by_turn():
    async with referee_server() as server:
        server.admit("a", "b")
        a, b = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(spec(rule_sets="pro+gifts")))
        first_told = await a.until("match_started")
        first = await a.until("decision")
        watching = watch(server, "m1")
        responses = [await watching.read()]
        await a.answer(first)
        _, _, record, *_ = await together(play_bot(a), play_bot(b), playing)
        responses += await rest(watching)
        started = responses[0].started
        assert list(started.match.rule_sets) == [1, 2, 3]
        assert started == WatchStarted(
            match=MatchSummary(
                match_id="m1",
                entries=["a", "b"],
                rule_sets=started.match.rule_sets,
                sequence=first.sequence,
            ),
            edition=first_told.edition,
            public_view=first_told.view.public_view,
            deal_commitment=record.spec.commitment,
        )
        updates = [r.update for r in responses[1:-1]]
        assert sum(len(u.events) for u in updates) == len(record.events)
        assert updates[0].sequence == started.match.sequence
        for update in updates[1:]:
            kinds = [e.WhichOneof("event") for e in update.events]
            assert kinds.count("buyers_dispatched") == 1
        ended = responses[-1].ended
        assert [r.rank for r in ended.results] == [r.rank for r in record.results]
        assert ended.deal_secret == record.spec.secret


async def test_watching_can_be_resumed():
    async with referee_server() as server:
        server.admit("a", "b")
        a, b = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(spec()))
        first = await a.until("decision")
        watching = watch(server, "m1", after=first.sequence - 2)
        assert (await watching.read()).HasField("started")
        update = (await watching.read()).update
        assert (update.sequence, len(update.events)) == (first.sequence, 2)
        late = watch(server, "m1", after=10**9)
        assert (await late.read()).HasField("started")
        await a.answer(first)
        await together(play_bot(a), play_bot(b), playing)
        assert [r.WhichOneof("response") for r in await rest(late)] == ["ended"]


async def test_the_start_of_a_watch_does_not_tell_whether_the_seat_has_dispatched():
    """A watch that starts shows the same, immediately, from the beginning of a turn to its end."""
    async with referee_server() as server:
        server.admit("a", "b")
        streams = [await server.dial("a"), await server.dial("b")]
        playing = asyncio.create_task(server.referee.play(spec(rule_sets="pro+gifts+genie")))
        reading = [asyncio.ensure_future(stream.until("decision")) for stream in streams]
        rng = random.Random(1)
        within, shown = 0, b""
        for _ in range(60):
            [read], _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
            seat, decision = reading.index(read), read.result()
            seen = await seen_by_watchers(server)
            if decision.kind == 1:  # a turn begins
                shown = seen
            assert seen == shown, "a watch that starts shows how far the turn has come"
            within += decision.kind not in (1, 2)
            reading[seat] = asyncio.ensure_future(streams[seat].until("decision"))
            await streams[seat].answer(decision, *one_at_random(decision, rng))
        assert within > 5
        for task in (*reading, playing):
            task.cancel()


async def seen_by_watchers(server):
    """The first message of a watch that starts now, serialized."""
    watching = watch(server, "m1")
    async with asyncio.timeout(EVENT_S):
        started = (await watching.read()).started
        update = (await watching.read()).update
    watching.cancel()
    [summary] = await list_matches(server)
    assert summary == started.match
    assert update.sequence <= started.match.sequence
    return started.SerializeToString(deterministic=True)


async def test_running_matches_are_listed():
    async with referee_server() as server:
        server.admit("a", "b")
        assert list(await list_matches(server)) == []
        a = await server.dial("a")
        playing = asyncio.create_task(server.referee.play(spec(rule_sets="pro+genie")))
        await until(server.referee.waits)
        assert list(await list_matches(server)) == []
        await server.dial("b")
        await a.until("decision")
        [summary] = await list_matches(server)
        assert (summary.match_id, list(summary.entries)) == ("m1", ["a", "b"])
        assert list(summary.rule_sets) == [1, 2, 4]
        assert summary.sequence > 0
        playing.cancel()


async def test_an_unknown_match_is_not_found():
    async with referee_server() as server:
        assert await refusal(watch(server, "m1")) == (grpc.StatusCode.NOT_FOUND, "match")


async def test_the_watcher_of_a_cut_match_receives_void():
    async with referee_server() as server:
        server.admit("a", "b")
        a, _ = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("decision")
        watching = watch(server, "m1", after=10**9)
        assert (await watching.read()).HasField("started")
        playing.cancel()
        ended = (await watching.read()).ended
        assert ended.void
        assert ended.deal_secret == b""


async def test_watchers_are_limited():
    async with referee_server(LimitSettings(watchers=1)) as server:
        server.admit("a", "b")
        a, _ = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("decision")
        first = watch(server, "m1")
        await first.read()
        assert await refusal(watch(server, "m1")) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "too-many-streams",
        )
        first.cancel()
        await until(lambda: not server.referee.watcher_count)
        assert (await watch(server, "m1").read()).HasField("started")
        playing.cancel()


async def test_a_garbage_request_is_refused():
    async with referee_server() as server:
        method: Any = server.channel().unary_stream(f"/{WATCH_SERVICE}/Watch")
        call = method(b"\xff")
        assert await refusal(call) == (grpc.StatusCode.INVALID_ARGUMENT, "unreadable-request")
