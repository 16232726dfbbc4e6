"""The address of one bot: what it does there concerns no other bot."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc

from asara_codec.results import Termination
from asara_server.referee.limits import LimitSettings
from tests.events import turns, until
from tests.network.sockets import connect_idle, is_open, open_files
from tests.referee.harness import (
    RefereeServer,
    Stream,
    own_address,
    play_bot,
    referee_server,
    spec,
    together,
)

UNKNOWN = (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")
LIMITS = LimitSettings()


@asynccontextmanager
async def addresses(
    *names: str, limits: LimitSettings = LIMITS
) -> AsyncIterator[dict[str, RefereeServer]]:
    """Serve a referee with an address for each of these bots; yield it at these addresses."""
    async with referee_server(limits) as server, AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(own_address(server, name)) for name in names}


async def test_only_the_bots_own_token_is_accepted() -> None:
    async with addresses("a", "b") as opened:
        for token in ("token-b", "", "token-a "):
            stream = opened["a"].stream()
            await stream.hello(token)
            assert await stream.ending() == UNKNOWN
        await opened["a"].dial("a")


async def test_silent_streams_and_connections_of_one_bot_harm_no_other() -> None:
    async with addresses("a", "b", "c") as opened:
        referee = opened["c"].referee
        channels = [opened["c"].channel() for _ in range(30)]
        silent = [Stream(channel) for channel in channels for _ in range(10)]
        idle = [await connect_idle(opened["c"].address) for _ in range(300)]
        await turns()
        a, b = await opened["a"].dial("a"), await opened["b"].dial("b")
        record, *_ = await together(referee.play(spec()), play_bot(a), play_bot(b))
        assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 2
        assert referee.stream_count_without_hello <= (
            LIMITS.bot_connections * LIMITS.streams_per_connection
        )
        for stream in silent:
            stream.call.cancel()
        for connection in idle:
            connection.close()


async def test_connections_are_limited_and_idle_ones_are_closed() -> None:
    async with addresses("a", limits=LimitSettings(bot_connections=3, hello_s=0.5)) as opened:
        before = open_files()
        idle = [await connect_idle(opened["a"].address) for _ in range(100)]
        await until(lambda: sum(map(is_open, idle)) <= 3)
        assert open_files() <= before + len(idle) + 3
        await until(lambda: not any(map(is_open, idle)))
        for connection in idle:
            connection.close()
        await opened["a"].dial("a")


async def test_a_bot_that_opens_streams_all_the_time_forfeits_and_its_address_closes() -> None:
    limits = LimitSettings(streams_opened=20, stream_window_s=60)
    async with addresses("a", "b", limits=limits) as opened:
        referee = opened["a"].referee
        a, b = await opened["a"].dial("a"), await opened["b"].dial("b")
        playing = asyncio.create_task(referee.play(spec()))
        await b.until("match_started")
        channel = opened["a"].channel()
        while not playing.done():
            stream = Stream(channel)
            with contextlib.suppress(grpc.aio.AioRpcError):
                await stream.call.wait_for_connection()
            stream.call.cancel()
        result = (await playing).ends[0]
        assert result.termination is Termination.PROTOCOL_VIOLATION
        detail = "opened more than 20 streams within 60 s; its address was closed"
        assert result.detail == detail
        await until(lambda: not Path(opened["a"].address.removeprefix("unix:")).exists())
        await a.ending()  # with OK if the goodbye overtook the end of the connection
        assert referee.is_connected("token-b")


async def test_an_honest_bot_may_connect_again_and_again() -> None:
    async with addresses("a") as opened:
        for _ in range(LIMITS.streams_opened // 2):
            stream = await opened["a"].dial("a")
            await stream.channel.close()


async def test_an_address_costs_one_descriptor() -> None:
    async with addresses("warm"):
        before = open_files()
        async with addresses(*(f"bot-{number}" for number in range(100))):
            assert open_files() - before <= 102  # with those of another referee
