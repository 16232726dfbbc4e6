"""Five hundred addresses knock without rest; a new bot with a valid token has its seat."""

import asyncio
import shutil
import socket
from functools import partial
from pathlib import Path

import pytest

from tests.docs.documents import blocks
from tests.events import EVENT_S, until
from tests.network.crowd import crowd
from tests.network.served import served
from tests.network.test_exhaustion import channel_to
from tests.referee.harness import Stream, dial_until_welcome

ADDRESSES = 500


async def seat(address: str) -> None:
    """Dial in as a bot does, again if that fails, until Welcome."""
    async with asyncio.timeout(EVENT_S):
        stream = await dial_until_welcome(lambda: Stream(channel_to(address, tls=True)), "secret-a")
    await stream.channel.close()


async def test_a_new_bot_has_its_seat_and_the_organiser_one_line() -> None:
    with served("remote", open_files=1024) as process:
        address = process.addresses[0]
        with crowd(int(address.rpartition(":")[2]), ADDRESSES) as strangers:
            await asyncio.to_thread(strangers.wait_for_knocks, 6 * ADDRESSES)
            await seat(address)
            assert process.open_files < 576  # as many as `files_needed` says
            assert process.log.count("connection refused") == len(process.log.splitlines()) > 0


@pytest.mark.long
@pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed")
async def test_a_new_bot_has_its_seat_behind_the_documented_haproxy(tmp_path: Path) -> None:
    page = "server/asara_server/network/README.md"
    (text,) = (block.content for block in blocks(page, "haproxy"))
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    with served("remote", open_files=1024) as process:
        referee = process.addresses[0].rpartition(":")[2]
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
