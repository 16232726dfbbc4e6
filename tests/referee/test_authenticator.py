"""Doors: addresses where only the bots come in that were admitted for them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from asara.v1 import watch_pb2
from asara_codec.results import Termination
from asara_server.match.spec import ClockSettings
from asara_server.network.grpc_server import WATCH, serve
from asara_server.referee.limits import LimitSettings
from tests.referee.harness import (
    Court,
    Stream,
    asynchronous,
    court,
    play_bot,
    spec,
    together,
    until,
)

Unary = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
UNKNOWN = (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")


class Porter:
    """A door that knows a bot as `token-x` by the word `secret-x`."""

    def __init__(self) -> None:
        self.changes = 0

    def identify(self, token: str) -> str | None:
        return token.replace("secret", "token") if token.startswith("secret-") else None

    def changed(self) -> None:
        self.changes += 1


class House(Court):
    """A referee with a door besides its own address."""

    def __init__(self, held: Court, porter: Porter, door: str) -> None:
        super().__init__(held.referee, held.address)
        self.porter = porter
        self._door = door

    def knock(self) -> Stream:
        """A stream through the door; nothing is sent."""
        return Stream(self.at_the_door())

    def at_the_door(self) -> grpc.aio.Channel:
        channel = grpc.aio.insecure_channel(
            self._door, options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self._channels.append(channel)
        return channel

    async def enter(self, token: str, **hello: int) -> Stream:
        """A bot that came in through the door."""
        stream = self.knock()
        await stream.hello(token, **hello)
        await stream.expect("welcome")
        return stream


@asynccontextmanager
async def house(limits: LimitSettings | None = None) -> AsyncIterator[House]:
    porter = Porter()
    async with court(limits) as held:
        with tempfile.TemporaryDirectory() as folder:
            serving = await serve(held.referee, f"unix:{Path(folder) / 'door'}", door=porter)
            found = House(held, porter, serving.address)
            try:
                yield found
            finally:
                await found.close()
                await serving.server.stop(0)


@asynchronous
async def test_a_bot_comes_in_only_where_it_was_admitted() -> None:
    async with house() as held:
        held.referee.admit("token-a", "a", door=held.porter)
        held.referee.admit("token-b", "b")
        for stream, token in (
            (held.knock(), "token-a"),  # what it is known by is not what it presents
            (held.knock(), "token-b"),
            (held.knock(), "secret-b"),
            (held.knock(), ""),
            (held.stream(), "token-a"),  # nor does it open another door
            (held.stream(), "secret-a"),
        ):
            await stream.hello(token)
            assert await stream.ending() == UNKNOWN
        assert held.porter.changes == 0
        await held.enter("secret-a")
        assert held.porter.changes == 1
        assert held.referee.connected("token-a")
        assert not held.referee.connected("token-b")


@asynchronous
async def test_bots_of_two_doors_play_each_other() -> None:
    async with house() as held:
        held.referee.admit("token-a", "a", door=held.porter)
        held.admit("b")
        a, b = await held.enter("secret-a"), await held.dial("b")
        record, _, _ = await together(held.referee.play(spec()), play_bot(a), play_bot(b))
        assert [r.termination for r in record.results] == [Termination.COMPLETED] * 2


@asynchronous
async def test_nobody_without_a_token_is_told_anything_at_a_door() -> None:
    async with house() as held:
        for method, request in (
            ("ListMatches", watch_pb2.ListMatchesRequest()),
            ("Watch", watch_pb2.WatchRequest(match_id="m1")),
        ):
            call: Unary = held.at_the_door().unary_unary(f"/{WATCH}/{method}")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(request.SerializeToString())
            assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


async def strangers(held: House, number: int) -> None:
    """Wait until so many streams are open that have not said hello."""
    await until(lambda: held.referee.streams_without_hello == number)


@asynchronous
async def test_who_crowds_one_door_does_not_close_the_other() -> None:
    async with house(LimitSettings(streams_without_hello=2)) as held:
        held.admit("a")
        silent = [held.knock() for _ in range(2)]
        await strangers(held, len(silent))
        turned_away = held.knock()
        assert await turned_away.ending() == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "too-many-streams",
        )
        await held.dial("a")
        for stream in silent:
            stream.call.cancel()
        await strangers(held, 0)


@asynchronous
async def test_a_bot_is_told_how_many_matches_it_may_play() -> None:
    async with house() as held:
        held.referee.admit("token-a", "a", door=held.porter, matches=3)
        stream = held.knock()
        await stream.hello("secret-a", max_matches=50)
        assert (await stream.expect("welcome")).limits.matches == 3
        assert held.referee.capacity("token-a") == 3
        await held.enter("secret-a", max_matches=2)
        assert held.referee.capacity("token-a") == 2


@asynchronous
async def test_who_is_sent_away_forfeits_and_may_come_again() -> None:
    async with house() as held:
        held.referee.admit("token-a", "a", door=held.porter)
        held.admit("b")
        a, b = await held.enter("secret-a"), await held.dial("b")
        clocks = ClockSettings(bank_s=60, reconnect_s=60)
        playing = asyncio.create_task(held.referee.play(spec(clocks=clocks)))
        await a.until("match_started")
        await b.until("match_started")
        held.referee.send_away("token-a", "no longer wanted")
        assert not held.referee.connected("token-a")
        assert (await a.until("goodbye")).reason == "no longer wanted"
        result = (await playing).results[0]
        assert (result.termination, result.detail) == (
            Termination.CRASH,
            "dismissed: no longer wanted",
        )
        await held.enter("secret-a")
        assert held.referee.connected("token-a")
        held.referee.send_away("token-z", "there is none")
