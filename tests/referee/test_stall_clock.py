"""Time in which the referee itself does not run is charged to nobody.

Time moves only when a test moves it, so all that is said of it is exact.
"""

import asyncio
from collections.abc import Iterator

import grpc
import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.logs import logger
from asara_server.match.inputs import ReplyRecord
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stall_clock import (
    BEAT_US,
    CATCH_UP_US,
    SLACK_US,
    StallClock,
    monotonic_us,
)
from tests.events import until
from tests.match.playouts import replay_of
from tests.referee.harness import (
    MovedTime,
    RefereeServer,
    moved_time,
    play_bot,
    referee_server,
    spec,
    together,
)

STALL_S = 0.4
STALL_US = 400_000
AFTER_S = (CATCH_UP_US + BEAT_US) / 1e6
"""Seconds after which a clock runs again."""
TIGHT = Clocks(bank_us=200_000, increment_us=0, grace_us=50_000, reconnect_us=200_000)


@pytest.fixture
def time() -> Iterator[MovedTime]:
    with moved_time() as time:
        yield time


def new_clock() -> StallClock:
    return StallClock(logger("referee"))


async def test_past_moments_of_the_system_are_known_by_the_clock(time: MovedTime) -> None:
    clock = new_clock()
    with clock.held():
        before, before_us = monotonic_us(), clock.now_us()
        time.stall(STALL_S)
        during = monotonic_us() - STALL_US // 2
        await time.run(clock, AFTER_S)
        after, after_us = monotonic_us(), clock.now_us()
    assert clock.at_us(before) == before_us
    assert clock.at_us(after) == after_us
    assert clock.at_us(during) == before_us + SLACK_US, "it stood still then"
    assert clock.at_us(before - 3_600_000_000) is None, "before it began"


async def test_a_turn_within_the_slack_is_no_stall(time: MovedTime) -> None:
    clock = new_clock()
    with clock.held():
        before = clock.now_us()
        for _ in range(10):
            time.stall(SLACK_US / 1e6)
            clock._advance()
        assert clock.now_us() - before == 10 * SLACK_US
        assert clock.stalled_us == 0


@pytest.mark.parametrize("stalled_us", [STALL_US, SLACK_US + 20_000])
async def test_after_a_stall_the_clock_waits_for_what_arrived_meanwhile(
    time: MovedTime, stalled_us: int
) -> None:
    """It waits as long as the stall took, but no longer than the limit."""
    clock = new_clock()
    with clock.held():
        time.stall(stalled_us / 1e6)
        clock._advance()
        frozen, waited_us = clock.now_us(), 0
        while clock.now_us() == frozen:
            await time.run(clock, BEAT_US / 1e6)
            waited_us += BEAT_US
        caught_up_us = min(CATCH_UP_US, stalled_us - SLACK_US)
        assert waited_us == caught_up_us + BEAT_US
        assert clock.stalled_us == stalled_us - SLACK_US
        assert clock.stood_us == clock.stalled_us + caught_up_us


async def test_the_clock_never_goes_back_and_never_jumps(time: MovedTime) -> None:
    clock = new_clock()
    read_us, before = monotonic_us(), clock.now_us()
    for number in range(60):
        if number % 20 == 5:
            with clock.held():
                time.stall(0.03)
                await time.run(clock, BEAT_US / 1e6)
        time.stall(0.001)
        now = clock.now_us()
        assert 0 <= now - before <= monotonic_us() - read_us
        read_us, before = monotonic_us(), clock.now_us()


async def test_a_timer_counts_by_the_clock(time: MovedTime) -> None:
    clock = new_clock()
    called: list[int] = []
    with clock.held():
        began = clock.now_us()
        timer = clock.call_later(0.1, lambda: called.append(clock.now_us() - began))
        time.stall(STALL_S)
        clock._advance()
        timer._check()
        assert not called
        await time.run(clock, 0.13)
        timer._check()
        assert not called
        await time.run(clock, 0.01)
        await until(lambda: called)
        clock.call_later(0.01, called.clear).cancel()
        after: list[int] = []
        clock.call_later(0.01, lambda: after.append(1))
        await time.run(clock, 0.02)
        await until(lambda: after)
    assert called == [100_000]


async def seated(server: RefereeServer, clocks: Clocks = TIGHT):
    streams = await server.dial_all("ab")
    playing = asyncio.create_task(server.referee.play(spec(clocks=clocks)))
    return streams, playing, await streams[0].until("decision")


def stall(server: RefereeServer, time: MovedTime) -> None:
    """Let the referee notice that its event loop did not turn for a while."""
    time.stall(STALL_S)
    server.referee.clock._advance()


async def test_stalls_forfeit_nobody_even_at_every_decision(time: MovedTime) -> None:
    clocks = TIGHT._replace(bank_us=0)  # a decision has the grace, and no more
    async with referee_server() as server:
        streams, playing, decision = await seated(server, clocks)
        other = asyncio.create_task(play_bot(streams[1]))
        for _ in range(5):
            stall(server, time)
            await streams[0].answer(decision)
            decision = await streams[0].until("decision")
            await time.run(server.referee.clock, CATCH_UP_US / 1e6)
        await streams[0].answer(decision)
        record, *_ = await together(playing, other, play_bot(streams[0]))
        replies = [one for one in replay_of(record).records if isinstance(one, ReplyRecord)]
        assert max(one.bot_us for one in replies[:5]) <= SLACK_US
        assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 2
        assert server.referee.clock.stalled_us >= 5 * (STALL_US - SLACK_US)


async def test_a_bot_that_does_not_answer_still_times_out(time: MovedTime) -> None:
    async with referee_server() as server:
        _, playing, _ = await seated(server)
        for _ in range(5):
            stall(server, time)
            await time.run(server.referee.clock, 0.05)
        assert not playing.done()
        [hosted] = server.referee.running_matches()
        assert hosted.match is not None
        assert not hosted.match.faults
        await time.run(server.referee.clock, 0.3)
        await until(lambda: hosted.match and hosted.match.faults)
        assert hosted.match.termination(0) is Termination.TIME_OUT
        playing.cancel()


async def test_a_stall_costs_no_time_to_start_up_or_to_come_back(time: MovedTime) -> None:
    async with referee_server() as server:
        server.admit("a", "b")
        clocks = Clocks(start_up_us=STALL_US - 100_000, reconnect_us=STALL_US - 100_000)
        playing = asyncio.create_task(server.referee.play(spec(clocks=clocks)))
        await until(server.referee.waits)
        stall(server, time)
        streams = [await server.dial(name) for name in "ab"]
        decision = await streams[0].until("decision")
        streams[1].call.cancel()
        await until(lambda: not server.referee.is_connected("token-b"))
        stall(server, time)
        streams[1] = await server.dial("b")
        await streams[0].answer(decision)
        record, *_ = await together(playing, *map(play_bot, streams))
        assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 2


async def test_the_time_for_hello_stands_still_as_well(time: MovedTime) -> None:
    async with referee_server(LimitSettings(hello_s=STALL_S - 0.1)) as server:
        server.admit("a")
        stream = server.stream()
        await until(lambda: server.referee.stream_count_without_hello)
        stall(server, time)
        await stream.hello("token-a")
        assert (await stream.read()).WhichOneof("response") == "welcome"
        late = server.stream()
        await until(lambda: server.referee.stream_count_without_hello)
        await time.run(server.referee.clock, STALL_S)
        assert await late.ending() == (grpc.StatusCode.INVALID_ARGUMENT, "hello-first")


async def test_the_referee_beats_only_while_a_stream_or_match_is_open(time: MovedTime) -> None:
    async with referee_server() as server:
        clock = server.referee.clock
        stall(server, time)
        assert clock.stalled_us == 0
        server.admit("a")
        stream = await server.dial("a")
        time.stall(STALL_S)
        await until(lambda: clock.stalled_us)
        stalled = clock.stalled_us
        stream.call.cancel()
        await until(lambda: not server.referee.is_connected("token-a"))
        stall(server, time)
        assert clock.stalled_us == stalled
