"""The address of one bot: what it does there concerns no other bot."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from asara_codec.results import Termination
from asara_server.network.bot_server import BotServer
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from tests.events import turns, until
from tests.network.sockets import connect_idle, is_open, open_files
from tests.referee.harness import Stream, play_bot, spec, together

UNKNOWN = (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")
LIMITS = LimitSettings()


class Addresses:
    """A referee with an address for each of its bots, which are named by letters."""

    def __init__(self, referee: Referee, folder: Path) -> None:
        self.referee = referee
        self.servers: dict[str, BotServer] = {}
        self.closed: dict[str, str] = {}
        self._folder = folder
        self._channels: list[grpc.aio.Channel] = []

    async def open(self, name: str) -> None:
        """Register a bot at an address of its own."""
        token = f"token-{name}"
        server = BotServer(self.referee, token, lambda why: self.closed.update({name: why}))
        await server.start(f"unix:{self._folder / name}")
        self.referee.register_bot(token, name, authenticator=server)
        self.servers[name] = server

    def channel(self, name: str) -> grpc.aio.Channel:
        options = [("grpc.use_local_subchannel_pool", 1)]
        channel = grpc.aio.insecure_channel(self.servers[name].address, options=options)
        self._channels.append(channel)
        return channel

    async def dial(self, name: str) -> Stream:
        stream = Stream(self.channel(name))
        await stream.hello(f"token-{name}")
        await stream.expect("welcome")
        return stream

    async def close(self) -> None:
        await self.referee.stop(finish_s=0)
        for channel in self._channels:
            await channel.close()
        for server in self.servers.values():
            await server.stop()


@asynccontextmanager
async def addresses(*names: str, limits: LimitSettings = LIMITS) -> AsyncIterator[Addresses]:
    with tempfile.TemporaryDirectory() as folder:
        opened = Addresses(Referee(limits=limits), Path(folder))
        try:
            for name in names:
                await opened.open(name)
            yield opened
        finally:
            await opened.close()


async def test_only_the_bots_own_token_is_accepted() -> None:
    async with addresses("a", "b") as opened:
        for token in ("token-b", "", "token-a "):
            stream = Stream(opened.channel("a"))
            await stream.hello(token)
            assert await stream.ending() == UNKNOWN
        await opened.dial("a")


async def test_silent_streams_and_connections_of_one_bot_harm_no_other() -> None:
    async with addresses("a", "b", "c") as opened:
        channels = [opened.channel("c") for _ in range(30)]
        silent = [Stream(channel) for channel in channels for _ in range(10)]
        idle = [await connect_idle(opened.servers["c"].address) for _ in range(300)]
        await turns()
        a, b = await opened.dial("a"), await opened.dial("b")
        record, *_ = await together(opened.referee.play(spec()), play_bot(a), play_bot(b))
        assert [r.termination for r in record.results] == [Termination.COMPLETED] * 2
        assert opened.referee.stream_count_without_hello <= (
            LIMITS.bot_connections * LIMITS.streams_per_connection
        )
        for stream in silent:
            stream.call.cancel()
        for connection in idle:
            connection.close()


async def test_connections_are_limited_and_idle_ones_are_closed() -> None:
    async with addresses("a", limits=LimitSettings(bot_connections=3, hello_s=0.5)) as opened:
        before = open_files()
        idle = [await connect_idle(opened.servers["a"].address) for _ in range(100)]
        await until(lambda: sum(map(is_open, idle)) <= 3)
        assert open_files() <= before + len(idle) + 3
        await until(lambda: not any(map(is_open, idle)))
        for connection in idle:
            connection.close()
        await opened.dial("a")


async def test_a_bot_that_opens_streams_all_the_time_forfeits_and_its_address_closes() -> None:
    limits = LimitSettings(streams_opened=20, stream_window_s=60)
    async with addresses("a", "b", limits=limits) as opened:
        a, b = await opened.dial("a"), await opened.dial("b")
        playing = asyncio.create_task(opened.referee.play(spec()))
        await b.until("match_started")
        channel = opened.channel("a")
        while "a" not in opened.closed:
            stream = Stream(channel)
            with contextlib.suppress(grpc.aio.AioRpcError):
                await stream.call.wait_for_connection()
            stream.call.cancel()
        assert (
            opened.closed["a"] == "opened more than 20 streams within 60 s; its address was closed"
        )
        result = (await playing).results[0]
        assert result.termination is Termination.PROTOCOL_VIOLATION
        assert result.detail == opened.closed["a"]
        await until(lambda: not Path(opened.servers["a"].address.removeprefix("unix:")).exists())
        await a.ending()  # with OK if the goodbye overtook the end of the connection
        assert opened.referee.is_connected("token-b")


async def test_an_honest_bot_may_connect_again_and_again() -> None:
    async with addresses("a") as opened:
        for _ in range(LIMITS.streams_opened // 2):
            stream = await opened.dial("a")
            await stream.channel.close()
        assert not opened.closed


async def test_an_address_costs_one_descriptor() -> None:
    async with addresses("warm") as opened:
        before = open_files()
        for number in range(100):
            await opened.open(f"bot-{number}")
        assert open_files() - before <= 100
