"""Addresses of local bots: nobody else finds them, and floods below the level of requests end."""

import asyncio
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import grpc
import pytest

from asara_server.network.bot_server import BotServer
from asara_server.network.unread_bytes import CHECKS, UnreadBytes, break_connections, crowded_paths
from asara_server.referee.referee import Referee
from asara_server.tournament.bots import bot_addresses
from asara_server.tournament.bots.bot_addresses import BotAddresses
from tests.events import EVENT_S, until
from tests.network.sockets import connect_idle, open_files
from tests.referee.harness import Stream

FLOOD = """
import contextlib, socket, sys
PREFACE = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n"
SETTINGS = b"\\0\\0\\0\\4\\0\\0\\0\\0\\0"
with contextlib.suppress(OSError):
    one = socket.socket(socket.AF_UNIX)
    one.connect(sys.argv[1])
    one.sendall(PREFACE + SETTINGS)
    print("connected", flush=True)
    while True:
        one.sendall(SETTINGS * 5_000)
"""
"""A program that sends frames that gRPC handles by itself, without a request."""


@contextmanager
def flood(path: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", FLOOD, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


async def registered(addresses: BotAddresses, referee: Referee, name: str) -> BotServer:
    closed.pop(name, None)
    server = await addresses.open(f"token-{name}", lambda why: closed.update({name: why}))
    referee.register_bot(f"token-{name}", name, authenticator=server)
    return server


closed: dict[str, str] = {}


def path_of(server: BotServer) -> Path:
    return Path(server.address.removeprefix("unix:"))


async def test_sockets_have_random_names_in_a_directory_of_this_user() -> None:
    referee = Referee()
    with closing(BotAddresses(referee, "unix")) as addresses:
        a, b = [await registered(addresses, referee, name) for name in "ab"]
        assert stat.S_IMODE(addresses.folder.stat().st_mode) == 0o700
        assert path_of(a).parent == path_of(b).parent == addresses.folder
        assert path_of(a).name != path_of(b).name
        await addresses.discard(a)
        assert not path_of(a).exists()
        assert path_of(b).exists()
        await addresses.discard(b)
    assert not path_of(b).parent.exists()


async def test_a_connected_bot_may_not_connect_again_until_its_stream_ends() -> None:
    referee = Referee()
    with closing(BotAddresses(referee, "unix")) as addresses:
        server = await registered(addresses, referee, "a")
        for _ in range(3):
            async with grpc.aio.insecure_channel(server.address) as channel:
                stream = Stream(channel)
                await stream.hello("token-a")
                await stream.expect("welcome")
                assert stat.S_IMODE(path_of(server).stat().st_mode) == 0
            await until(lambda: not referee.is_connected("token-a"))
            (await connect_idle(server.address)).close()
        await addresses.discard(server)


async def test_a_bot_that_sends_without_pause_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_addresses, "CHECK_INTERVAL_S", 0.1)
    referee = Referee()
    with closing(BotAddresses(referee, "unix")) as addresses:
        honest = await registered(addresses, referee, "honest")
        flooding = await registered(addresses, referee, "flooding")
        async with grpc.aio.insecure_channel(honest.address) as channel:
            stream = Stream(channel)
            await stream.hello("token-honest")
            await stream.expect("welcome")
            with flood(str(path_of(flooding))) as process:
                await until(lambda: closed.get("flooding"))
                why = "sent data without pause for 0.4 s; its address was closed"
                assert why in closed["flooding"]
                assert await asyncio.to_thread(process.wait, EVENT_S) == 0
            assert "honest" not in closed
            assert referee.is_connected("token-honest")
        for server in (honest, flooding):
            await addresses.discard(server)


async def test_unread_bytes_below_the_limit_are_no_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_addresses, "CHECK_INTERVAL_S", 0.01)
    checks = 0

    class Counted(UnreadBytes):
        def check(self) -> list[str]:
            nonlocal checks
            checks += 1
            return super().check()

    monkeypatch.setattr(bot_addresses, "UnreadBytes", Counted)
    referee = Referee()
    with closing(BotAddresses(referee, "unix")) as addresses:
        server = await registered(addresses, referee, "a")
        async with grpc.aio.insecure_channel(server.address) as channel:
            stream = Stream(channel)
            await stream.hello("token-a")
            await stream.expect("welcome")
            with suppress(grpc.aio.AioRpcError):
                while checks < 10 * CHECKS:
                    await stream.send_bytes(b"\x12\x06\x0a\x02m1\x10\x01")
                    await asyncio.sleep(0.001)
        assert "a" not in closed
        await addresses.discard(server)


async def test_looking_at_the_descriptors_leaves_none_behind(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes(1 << 20))
    with large.open("rb"):  # the system reports the bytes of a file as unread, too
        before = open_files()
        for _ in range(10):
            assert crowded_paths() == set()
            break_connections("/no/such/socket")
        assert open_files() <= before
