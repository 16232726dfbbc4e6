"""Attacks on a referee in a process of its own, at an address for bots from elsewhere.

Five hundred addresses knock without rest, and a new bot with a valid token has its seat. Refused
calls leave nothing in memory.
"""

import asyncio
import shutil
import socket
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from asara.v1.play_pb2 import PlayRequest, Reply
from asara_server.network.grpc_server import PLAY_SERVICE
from tests.docs.documents import blocks
from tests.events import EVENT_S, until
from tests.network.crowd import crowd
from tests.network.served import secure_channel, served
from tests.referee.harness import Stream, dial_until_welcome

ADDRESSES = 500


LARGEST = 65_000
"""Bytes of a name in the largest requests that are read at all."""


async def seat(address: str) -> None:
    """Dial in as a bot does, again if that fails, until Welcome."""
    async with asyncio.timeout(EVENT_S):
        stream = await dial_until_welcome(lambda: Stream(secure_channel(address)), "secret-a")
    await stream.channel.close()


async def test_a_new_bot_has_its_seat_and_the_organiser_one_line() -> None:
    with (
        served(open_files=1024) as process,
        crowd(int(process.address.rpartition(":")[2]), ADDRESSES) as strangers,
    ):
        await asyncio.to_thread(strangers.wait_for_knocks, 6 * ADDRESSES)
        await seat(process.address)
        assert process.open_files < 576  # as many as `require_open_files` says
        assert process.log.count("connection refused") == len(process.log.splitlines()) > 0


@pytest.mark.long
@pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed")
async def test_a_new_bot_has_its_seat_behind_the_documented_haproxy(tmp_path: Path) -> None:
    page = "server/asara_server/network/README.md"
    (text,) = (block.content for block in blocks(page, "haproxy"))
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    with served(open_files=1024) as process:
        referee = process.address.rpartition(":")[2]
        configuration = tmp_path / "haproxy.cfg"
        configuration.write_text(text.replace("50051", str(port)).replace("50052", referee))
        words = ("haproxy", "-db", "-f", str(configuration))
        proxy = await asyncio.create_subprocess_exec(*words)
        try:
            await until(partial(listens, port))
            with crowd(port, ADDRESSES) as strangers:
                await asyncio.to_thread(strangers.wait_for_knocks, 20 * ADDRESSES)
                await seat(f"localhost:{port}")
        finally:
            proxy.terminate()
            await proxy.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("localhost", port)) == 0


async def refused(channel: grpc.aio.Channel, method: str, request: bytes, times: int) -> str:
    """Call a method repeatedly, eight calls at a time; return the text of the last refusal."""
    call: Any = channel.unary_unary(method)
    detail = ""

    async def repeat() -> None:
        nonlocal detail
        for _ in range(times // 8):
            try:
                await call(request)
            except grpc.aio.AioRpcError as error:
                detail = error.details() or ""

    await asyncio.gather(*(repeat() for _ in range(8)))
    return detail


@pytest.mark.long
async def test_refused_calls_leave_nothing_in_memory() -> None:
    with served() as process:
        async with secure_channel(process.address) as channel:
            before = 0.0
            for size, times in ((100, 100), (LARGEST, 800), (6 << 20, 16)):
                request = PlayRequest(reply=Reply(match_id="x" * size)).SerializeToString()
                for method in ("Play", "Cheat"):
                    text = await refused(channel, f"/{PLAY_SERVICE}/{method}", request, times)
                    assert len(text) < 300
                before = before or process.memory_mib
            assert process.memory_mib - before < 32
