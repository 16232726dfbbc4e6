"""Time in which the referee itself does not run is charged to nobody."""

import asyncio
import time

import grpc
import pytest

from asara_codec.results import Termination
from asara_server.logs import logger
from asara_server.match.inputs import ReplyRecord
from asara_server.match.spec import ClockSettings
from asara_server.referee.limits import LimitSettings
from asara_server.referee.match_clock import (
    BEAT_US,
    CATCH_UP_US,
    SLACK_US,
    MatchClock,
    monotonic_us,
)
from tests.referee.harness import RefereeServer, play_bot, referee_server, spec, together, until

STALL_S = 0.4
STALL_US = 400_000
TIGHT = ClockSettings(bank_s=0.2, increment_s=0, grace_s=0.05, reconnect_s=0.2)


def stall(seconds: float = STALL_S) -> None:
    """Keep the event loop from turning, as a slow disk or a stopped process does."""
    time.sleep(seconds)


def new_clock() -> MatchClock:
    return MatchClock(logger("referee"))


async def beats() -> None:
    """Let the loop turn for longer than the clock waits after a stall."""
    await asyncio.sleep(CATCH_UP_US / 1e6 + 0.05)


async def test_a_clock_that_nobody_holds_runs_on_during_a_stall() -> None:
    clock = new_clock()
    before = clock.now_us()
    stall()
    assert clock.now_us() - before >= STALL_US
    assert clock.stalled_us == 0


async def test_past_moments_of_the_system_are_known_by_the_clock() -> None:
    clock = new_clock()
    with clock.held():
        before, before_us = monotonic_us(), clock.now_us()
        stall()
        during = monotonic_us() - STALL_US // 2
        await beats()
        after, after_us = monotonic_us(), clock.now_us()
    assert abs((clock.at_us(before) or 0) - before_us) <= 1_000
    assert abs((clock.at_us(after) or 0) - after_us) <= 1_000
    at_stall_us = clock.at_us(during)
    assert at_stall_us is not None
    assert before_us <= at_stall_us <= before_us + SLACK_US + BEAT_US, "it stood still then"
    assert clock.at_us(before - 3_600_000_000) is None, "before it began"


async def test_the_clock_stands_still_during_a_stall_except_for_the_slack() -> None:
    clock = new_clock()
    with clock.held():
        before = clock.now_us()
        stall()
        assert clock.now_us() - before <= SLACK_US
        await asyncio.sleep(0)
        assert clock.now_us() - before <= SLACK_US
        await beats()
        assert clock.stalled_us >= STALL_US - SLACK_US - BEAT_US


async def test_the_time_for_which_the_clock_stood_still_is_that_by_which_it_is_behind() -> None:
    clock = new_clock()
    began_us, real_us = clock.now_us(), monotonic_us()
    with clock.held():
        await beats()
        stall()
        await beats()
    stood_us, behind_us = clock.stood_us, monotonic_us() - real_us - (clock.now_us() - began_us)
    assert stood_us == pytest.approx(behind_us, abs=1_000)
    assert stood_us >= clock.stalled_us >= STALL_US - SLACK_US - BEAT_US


async def test_after_a_stall_the_clock_waits_for_what_arrived_meanwhile() -> None:
    clock = new_clock()
    with clock.held():
        stall()
        await until(lambda: clock.stalled_us)
        frozen = clock.now_us()
        began = monotonic_us()
        await until(lambda: clock.now_us() > frozen)
        assert monotonic_us() - began >= CATCH_UP_US / 2


async def test_the_clock_never_goes_back_and_never_jumps() -> None:
    clock = new_clock()
    read_us, before = monotonic_us(), clock.now_us()
    for number in range(60):
        if number % 20 == 5:
            with clock.held():
                stall(0.03)
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.001)
        now = clock.now_us()
        assert 0 <= now - before <= monotonic_us() - read_us + 1
        read_us, before = monotonic_us(), clock.now_us()


async def test_a_timer_counts_by_the_clock() -> None:
    clock = new_clock()
    called: list[int] = []
    with clock.held():
        began = clock.now_us()
        clock.call_later(0.1, lambda: called.append(clock.now_us() - began))
        stall()
        await asyncio.sleep(0.05)
        assert not called
        await until(lambda: called)
        clock.call_later(0.01, called.clear).cancel()
        await asyncio.sleep(0.03)
    assert called[0] >= 100_000


async def test_a_timeout_counts_by_the_clock() -> None:
    clock = new_clock()
    with clock.held():
        async with clock.timeout(0.2):
            stall()
            await asyncio.sleep(0.05)
        try:
            async with clock.timeout(0.05):
                await asyncio.sleep(5)
        except TimeoutError:
            return
    raise AssertionError("the timeout has no effect")


async def seated(server: RefereeServer, clocks: ClockSettings = TIGHT):
    server.admit("a", "b")
    streams = [await server.dial(name) for name in "ab"]
    playing = asyncio.create_task(server.referee.play(spec(clocks=clocks)))
    return streams, playing, await streams[0].until("decision")


async def test_a_reply_that_arrives_during_a_stall_is_in_time() -> None:
    async with referee_server() as server:
        streams, playing, decision = await seated(server)
        await streams[0].answer(decision)
        stall()
        record, *_ = await together(playing, *map(play_bot, streams))
        reply = next(one for one in record.records if isinstance(one, ReplyRecord))
        assert reply.seat == 0
        assert reply.bot_us < STALL_US / 2
        assert [r.termination for r in record.results] == [Termination.COMPLETED] * 2


@pytest.mark.long
async def test_stalls_forfeit_nobody_even_at_every_decision() -> None:
    async with referee_server() as server:
        streams, playing, decision = await seated(server)
        stall()
        await streams[0].answer(decision)
        ticking = asyncio.create_task(_stall_often())
        record, *_ = await together(playing, *map(play_bot, streams))
        ticking.cancel()
        assert [r.termination for r in record.results] == [Termination.COMPLETED] * 2
        assert server.referee.clock.stalled_us > STALL_US


async def _stall_often() -> None:
    for _ in range(5):
        await asyncio.sleep(0.002)  # less than a match takes
        stall()


async def test_a_bot_that_does_not_answer_still_times_out() -> None:
    async with referee_server() as server:
        streams, playing, _ = await seated(server)
        ticking = asyncio.create_task(_stall_often())
        record, _ = await together(playing, play_bot(streams[1]))
        ticking.cancel()
        assert record.results[0].termination is Termination.TIME_OUT


async def test_bots_that_dial_in_after_a_stall_are_in_time() -> None:
    async with referee_server() as server:
        server.admit("a", "b")
        playing = asyncio.create_task(
            server.referee.play(spec(clocks=ClockSettings(start_up_s=STALL_S - 0.1)))
        )
        await asyncio.sleep(0)
        stall()
        streams = [await server.dial(name) for name in "ab"]
        record, *_ = await together(playing, *map(play_bot, streams))
        assert [r.termination for r in record.results] == [Termination.COMPLETED] * 2


async def test_a_bot_whose_stream_broke_may_come_back_after_a_stall() -> None:
    async with referee_server() as server:
        clocks = ClockSettings(reconnect_s=STALL_S - 0.1)
        streams, playing, decision = await seated(server, clocks)
        streams[1].call.cancel()
        await until(lambda: not server.referee.is_connected("token-b"))
        stall()
        streams[1] = await server.dial("b")
        await streams[0].answer(decision)
        record, *_ = await together(playing, *map(play_bot, streams))
        assert [r.termination for r in record.results] == [Termination.COMPLETED] * 2


async def test_the_time_for_hello_stands_still_as_well() -> None:
    async with referee_server(LimitSettings(hello_s=STALL_S - 0.1)) as server:
        server.admit("a")
        stream = server.stream()
        await until(lambda: server.referee.stream_count_without_hello)
        stall()
        await stream.hello("token-a")
        assert (await stream.read()).WhichOneof("response") == "welcome"
        late = server.stream()
        assert await late.ending() == (grpc.StatusCode.INVALID_ARGUMENT, "hello-first")


async def test_the_referee_beats_only_while_a_stream_or_match_is_open() -> None:
    async with referee_server() as server:
        clock = server.referee.clock
        stall()
        await beats()
        assert clock.stalled_us == 0
        server.admit("a")
        stream = await server.dial("a")
        stall()
        await beats()
        assert (stalled := clock.stalled_us) > 0
        stream.call.cancel()
        await until(lambda: not server.referee.is_connected("token-a"))
        stall()
        await beats()
        assert clock.stalled_us == stalled
