"""Bots that violate the protocol on a real stream, and the effect on them and on other bots."""

import asyncio
import contextlib
from types import SimpleNamespace
from unittest import mock

import grpc
import pytest

from asara.v1.play_pb2 import Hello, PlayRequest, Reply
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.referee import streams as streams_module
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stream_errors import ErrorKind, StreamError
from asara_server.referee.streams import StreamHandler
from tests.events import until
from tests.referee.harness import Stream, own_address, play_bot, referee_server, spec, together

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
INVALID = grpc.StatusCode.INVALID_ARGUMENT
OTHER_VERSION = (grpc.StatusCode.FAILED_PRECONDITION, "protocol-version")


def request(**member):
    """Return the bytes of a request with this member."""
    return PlayRequest(**member).SerializeToString()


def limiters_clock_stands():
    """On a busy machine, a bot would otherwise earn more requests while it sends them."""
    return mock.patch.object(streams_module, "time", SimpleNamespace(monotonic=lambda: 100.0))


async def seated(server, clocks=None):
    """Bots a, b and c in a match; a has received its first decision."""
    streams = await server.dial_all("abc")
    playing = asyncio.create_task(server.referee.play(spec(3, clocks=clocks)))
    decision = await streams[0].until("decision")
    return streams, playing, decision


async def forfeited(streams, playing, termination, detail):
    """Play to the end with bots b and c; bot a has forfeited."""
    record, *_ = await together(playing, play_bot(streams[1]), play_bot(streams[2]))
    ends = record.ends
    assert ends[0].termination is termination
    assert detail in ends[0].detail
    assert ends[0].rank == 3
    assert [end.termination for end in ends[1:]] == [Termination.COMPLETED] * 2


async def completed(streams, playing):
    """Play to the end with all three bots."""
    record, *_ = await together(playing, *map(play_bot, streams))
    assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 3
    return record


async def test_requests_that_answer_nothing_are_ignored_and_answers_are_not_counted():
    with limiters_clock_stands():
        async with referee_server(LimitSettings(requests_per_second=1, rate_window_s=3)) as server:
            streams, playing, decision = await seated(server)
            await streams[0].answer(decision, match_id="m2")
            await streams[0].answer(decision, match_id="\x1b[2J")
            await streams[0].answer(decision)
            await completed(streams, playing)


@pytest.mark.parametrize(("requests", "actions"), [(101, 0), (2, 30_000)])
async def test_more_requests_than_allowed_forfeit_and_large_ones_count_as_many(requests, actions):
    """Reading 30,000 empty actions takes as long as hundreds of ordinary requests."""
    reply = Reply(match_id="x", decision_id=1, actions=[ActionMessage()] * actions)
    with limiters_clock_stands():
        async with referee_server(
            LimitSettings(requests_per_second=1, rate_window_s=100)
        ) as server:
            streams, playing, _ = await seated(server)
            for _ in range(requests):
                await streams[0].send(reply=reply)
            assert await streams[0].ending() == (EXHAUSTED, "request-rate")
            await forfeited(
                streams,
                playing,
                Termination.PROTOCOL_VIOLATION,
                "more than 1 requests per second that answer no open decision",
            )


async def test_a_bot_that_has_forfeited_is_limited_like_any_other():
    with limiters_clock_stands():
        async with referee_server(
            LimitSettings(requests_per_second=1, rate_window_s=100)
        ) as server:
            streams, playing, decision = await seated(server)
            for _ in range(4):  # three are forgiven
                await streams[0].answer(decision, ActionMessage())
            await streams[0].until("update")
            for _ in range(101):
                await streams[0].answer(decision)
            assert await streams[0].ending() == (EXHAUSTED, "request-rate")
            await forfeited(streams, playing, Termination.REJECTED_REPLIES, "UNKNOWN_ACTION")


async def test_a_request_over_the_size_limit_forfeits():
    async with referee_server() as server, own_address(server, "a") as own:
        server.admit("b", "c")
        streams = [await own.dial("a"), await server.dial("b"), await server.dial("c")]
        playing = asyncio.create_task(server.referee.play(spec(3)))
        await streams[0].until("decision")
        await streams[0].send(reply=Reply(match_id="x" * 65_529))
        assert await streams[0].ending() == (EXHAUSTED, "request-too-large")
        await forfeited(
            streams,
            playing,
            Termination.PROTOCOL_VIOLATION,
            "a request of 65537 bytes; 65536 are allowed",
        )


@pytest.mark.parametrize("too_large", [True, False])
async def test_a_stream_that_breaks_or_that_the_bot_ends_is_a_disconnection(too_large):
    async with referee_server() as server:
        streams, playing, _ = await seated(server, Clocks(reconnect_us=100_000))
        if too_large:
            await streams[0].send(reply=Reply(match_id="x" * 70_000))
            assert await streams[0].ending() == (EXHAUSTED, None)
        else:
            await streams[0].call.done_writing()
            assert await streams[0].ending() == (grpc.StatusCode.OK, None)
        await forfeited(streams, playing, Termination.CRASH, "did not come back within 0.1 s")


async def matches_in_a_row(server, reader, count):
    """Start this number of matches of a and b, each when b has read the start of the one before."""
    started = 0
    read = reader.read

    async def count_starts():
        nonlocal started
        response = await read()
        started += response.HasField("match_started")
        return response

    reader.read = count_starts
    playing = []
    for number in range(count):
        match = spec(match_id=f"m{number}", clocks=Clocks(start_up_us=100_000))
        playing.append(asyncio.create_task(server.referee.play(match)))
        await until(lambda: started > number)  # noqa: B023
    return playing


@pytest.mark.long
@pytest.mark.parametrize(
    ("limits", "detail"),
    [
        (LimitSettings(responses_unread=20, unread_patience_s=0.5), "wait unread; 20 ("),
        (LimitSettings(unread_bytes=20_000), "(20000 bytes) may"),
    ],
)
async def test_a_bot_that_never_reads_forfeits(limits, detail):
    async with referee_server(limits) as server:
        server.admit("a", "b")
        # Bot a reads nothing more: what it is sent fills the connection, then its queue. The
        # connection takes 16 KiB; gRPC by itself would let it take 4 MiB.
        narrow = ("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 16_384)
        a = await server.dial("a", *narrow, max_matches=100)
        b = await server.dial("b", max_matches=100)
        reading = asyncio.create_task(play_bot(b, 60))
        terminations = []
        for match in await matches_in_a_row(server, b, 60):
            result = (await match).ends[0]
            terminations.append(result.termination)
            if result.termination is Termination.PROTOCOL_VIOLATION:
                assert detail in result.detail
        assert terminations.count(Termination.PROTOCOL_VIOLATION) > 10
        assert Termination.COMPLETED not in terminations
        assert len(await reading) == 60
        assert await a.ending() == (EXHAUSTED, "responses-unread")


VIOLATIONS = [
    (b"\xff\xff\xff", "unreadable-request", "a request "),
    (b"", "empty-request", "no member set"),
    (request(hello=Hello(protocol_version=1, token="token-a")), "second-hello", "only once"),
]


@pytest.mark.parametrize(("data", "reason", "detail"), VIOLATIONS)
async def test_a_request_that_means_nothing_forfeits(data, reason, detail):
    async with referee_server() as server:
        streams, playing, _ = await seated(server)
        await streams[0].send_bytes(data)
        assert await streams[0].ending() == (INVALID, reason)
        await forfeited(streams, playing, Termination.PROTOCOL_VIOLATION, detail)


async def test_a_violation_costs_all_running_matches_but_not_the_next_one():
    async with referee_server() as server:
        a, b = await server.dial_all("ab", max_matches=2)
        running = [
            asyncio.create_task(server.referee.play(spec(match_id=name))) for name in ("m1", "m2")
        ]
        await a.until("decision")
        await a.until("decision")
        await a.send_bytes(b"\xff")
        for record in await asyncio.gather(*running):
            assert record.ends[0].termination is Termination.PROTOCOL_VIOLATION
        for _ in running:
            await b.until("match_ended")
        a = await server.dial("a")
        record, *_ = await together(server.referee.play(spec()), play_bot(a), play_bot(b))
        assert record.ends[0].termination is Termination.COMPLETED


# Before Hello


async def test_hello_must_come_in_time():
    async with referee_server(LimitSettings(hello_s=0.1)) as server:
        stream = server.stream()
        await stream.call.wait_for_connection()
        assert await stream.ending() == (INVALID, "hello-first")
        assert "no Hello within 0.1 s" in (await stream.call.details())


async def test_unknown_tokens_are_refused():
    async with referee_server() as server:
        server.admit("a")
        for token in ("", "token-b", "token-A", "token-a "):
            stream = server.stream()
            await stream.hello(token)
            assert await stream.ending() == (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")
            assert token not in (await stream.call.details()) or not token


async def test_what_does_not_begin_with_hello_is_refused():
    async with referee_server() as server:
        server.admit("a")
        for data, code, reason in (
            (request(reply=Reply(match_id="m1")), INVALID, "hello-first"),
            (b"\xff", INVALID, "unreadable-request"),
            (b"\0" * 70_000, EXHAUSTED, None),  # gRPC itself refuses it
            (request(hello=Hello(protocol_version=2, token="token-a")), *OTHER_VERSION),
        ):
            stream = server.stream()
            await stream.send_bytes(data)
            assert await stream.ending() == (code, reason)
            if reason == "protocol-version":
                assert "speaks version 1" in (await stream.call.details())


async def test_a_crowd_of_silent_streams_gives_way_to_a_bot_that_sends_hello():
    async with referee_server(LimitSettings(streams_without_hello=3)) as server:
        server.admit("a")
        silent: list[Stream] = []
        while len(silent) < 3:
            silent.append(server.stream())
            await until(lambda: server.referee.stream_count_without_hello == len(silent))
        await server.dial("a")
        assert await silent[0].ending() == (EXHAUSTED, "too-many-streams")
        await until(lambda: server.referee.stream_count_without_hello == 2)


async def test_a_bot_that_connects_too_often_is_refused_for_a_while_and_forfeits_nothing():
    with limiters_clock_stands():
        async with referee_server(LimitSettings(streams_opened=5, stream_window_s=1)) as server:
            streams, playing, decision = await seated(server)  # each has opened one stream
            again = [await server.dial("b") for _ in range(4)]
            refused = server.stream()
            await refused.hello("token-b")
            assert await refused.ending() == (EXHAUSTED, "too-many-streams")
            streams[1] = again[-1]
            await streams[0].answer(decision)
            await completed(streams, playing)


async def test_streams_that_are_gone_at_once_leave_nothing_behind():
    async with referee_server(LimitSettings(streams_without_hello=3)) as server:
        server.admit("a")
        channel = server.channel()
        for _ in range(200):
            stream = Stream(channel)
            with contextlib.suppress(grpc.aio.AioRpcError):  # too many are on their way
                await stream.call.wait_for_connection()
            stream.call.cancel()
        await until(lambda: server.referee.stream_count_without_hello == 0)
        await server.dial("a")


async def test_a_stream_that_ends_during_its_first_response_receives_the_reason(monkeypatch):
    on_hello = StreamHandler.on_hello

    def connect_and_abort(handler, session, hello):
        on_hello(handler, session, hello)
        loop = asyncio.get_running_loop()
        replaced = StreamError(ErrorKind.REPLACED, "by another")
        loop.call_soon(loop.call_soon, session.abort, replaced)  # the welcome is on its way then

    monkeypatch.setattr(StreamHandler, "on_hello", connect_and_abort)
    async with referee_server() as server:
        server.admit("a")
        stream = await server.dial("a")
        assert await stream.ending() == (grpc.StatusCode.ABORTED, "replaced")


@pytest.mark.sources_only
async def test_a_bot_that_reconnects_again_and_again_forfeits(monkeypatch):
    """Each return is a record of the match, and a replay has a limited number of them."""
    monkeypatch.setattr("asara_server.referee.hosted.MOST_RECONNECTIONS", 3)
    async with referee_server() as server:
        _, playing, _ = await seated(server)
        for _ in range(4):
            await server.dial("b")
        [hosted] = server.referee.running_matches()
        match = hosted.match
        assert match is not None
        await until(lambda: match.termination(1).forfeit)
        assert match.termination(1) is Termination.PROTOCOL_VIOLATION
        assert match.termination(0) is Termination.UNSPECIFIED
        playing.cancel()
