"""Addresses with an authenticator, where only its own bots can connect."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from asara_codec.results import Termination
from asara_server.match.spec import ClockSettings
from asara_server.network.grpc_server import serve
from asara_server.referee.limits import LimitSettings
from tests.referee.harness import (
    RefereeServer,
    Stream,
    referee_server,
    spec,
)

UNKNOWN = (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")


class SecretAuthenticator:
    """Knows the bot that is registered as `token-x` by the token `secret-x`."""

    def __init__(self) -> None:
        self.changes = 0

    def authenticate(self, token: str) -> str | None:
        return token.replace("secret", "token") if token.startswith("secret-") else None

    def connections_changed(self) -> None:
        self.changes += 1


class GuardedServer(RefereeServer):
    """A referee with a guarded address, which has an authenticator, besides its own."""

    def __init__(
        self, server: RefereeServer, authenticator: SecretAuthenticator, guarded: str
    ) -> None:
        super().__init__(server.referee, server.address)
        self.authenticator = authenticator
        self._guarded = guarded

    def guarded_stream(self) -> Stream:
        """A new stream at the guarded address; nothing is sent."""
        return Stream(self.guarded_channel())

    def guarded_channel(self) -> grpc.aio.Channel:
        channel = grpc.aio.insecure_channel(
            self._guarded, options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self._channels.append(channel)
        return channel

    async def guarded_dial(self, token: str, **hello: int) -> Stream:
        """A stream at the guarded address that has sent Hello and received Welcome."""
        stream = self.guarded_stream()
        await stream.hello(token, **hello)
        await stream.expect("welcome")
        return stream


@asynccontextmanager
async def guarded_server(limits: LimitSettings | None = None) -> AsyncIterator[GuardedServer]:
    authenticator = SecretAuthenticator()
    async with referee_server(limits) as server:
        with tempfile.TemporaryDirectory() as folder:
            address = f"unix:{Path(folder) / 'guarded'}"
            running = await serve(server.referee, address, authenticator=authenticator)
            guarded = GuardedServer(server, authenticator, running.address)
            try:
                yield guarded
            finally:
                await guarded.close()
                await running.server.stop(0)


async def test_a_bot_connects_only_at_the_address_it_is_registered_for() -> None:
    async with guarded_server() as server:
        server.referee.register_bot("token-a", "a", authenticator=server.authenticator)
        server.referee.register_bot("token-b", "b")
        for stream, token in (
            (server.guarded_stream(), "token-a"),  # its key is not its token
            (server.guarded_stream(), "token-b"),
            (server.guarded_stream(), "secret-b"),
            (server.guarded_stream(), ""),
            (server.stream(), "token-a"),  # nor does the key admit it elsewhere
            (server.stream(), "secret-a"),
        ):
            await stream.hello(token)
            assert await stream.ending() == UNKNOWN
        assert server.authenticator.changes == 0
        await server.guarded_dial("secret-a")
        assert server.authenticator.changes == 1
        assert server.referee.is_connected("token-a")
        assert not server.referee.is_connected("token-b")


async def test_welcome_has_the_number_of_matches_of_a_bot() -> None:
    async with guarded_server() as server:
        server.referee.register_bot(
            "token-a", "a", authenticator=server.authenticator, max_matches=3
        )
        stream = server.guarded_stream()
        await stream.hello("secret-a", max_matches=50)
        assert (await stream.expect("welcome")).limits.matches == 3
        assert server.referee.match_capacity("token-a") == 3
        await server.guarded_dial("secret-a", max_matches=2)
        assert server.referee.match_capacity("token-a") == 2


async def test_a_disconnected_bot_forfeits_and_may_connect_again() -> None:
    async with guarded_server() as server:
        server.referee.register_bot("token-a", "a", authenticator=server.authenticator)
        server.admit("b")
        a, b = await server.guarded_dial("secret-a"), await server.dial("b")
        clocks = ClockSettings(bank_s=60, reconnect_s=60)
        playing = asyncio.create_task(server.referee.play(spec(clocks=clocks)))
        await a.until("match_started")
        await b.until("match_started")
        server.referee.disconnect_bot("token-a", "no longer wanted")
        assert not server.referee.is_connected("token-a")
        assert (await a.until("goodbye")).reason == "no longer wanted"
        result = (await playing).results[0]
        assert (result.termination, result.detail) == (
            Termination.CRASH,
            "dismissed: no longer wanted",
        )
        await server.guarded_dial("secret-a")
        assert server.referee.is_connected("token-a")
        server.referee.disconnect_bot("token-z", "there is none")
