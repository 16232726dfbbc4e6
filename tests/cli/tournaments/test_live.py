"""Running matches that the page shows, from the commands that play them."""

import asyncio
import re
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.cli.command import started
from tests.cli.tournaments.test_serve import dial_in
from tests.events import EVENT_S
from tests.web.served import Watcher


@pytest.mark.long
def test_a_served_match_can_be_watched_on_the_page(tmp_path: Path) -> None:
    words = ("random", "--sandbox", "none", "--web", "127.0.0.1:0")
    with started("serve", "--listen", "127.0.0.1:0", *words, "--matches", "2") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = ""
        while not address:
            line = process.stderr.readline()
            assert line
            found = re.search(r"http://([0-9.:]+)", line)
            address = found[1] if found else ""
        while "ASARA_ADDRESS=" not in (line := process.stdout.readline()):
            assert line
        folder = tmp_path / "bot"
        folder.mkdir()
        run = asyncio.run(run_name(address))
        bot = dial_in(folder, line.strip())
        try:
            names = asyncio.run(watch_a_match(address, run))
        finally:
            bot.kill()
            bot.wait()
    assert sorted(names) == ["guest-1", "random"]


async def run_name(address: str) -> str:
    """Name of the run that the page shows."""
    import httpx2

    async with httpx2.AsyncClient() as client:
        runs = (await client.get(f"http://{address}/api/runs")).json()["runs"]
    return str(runs[0]["name"])


async def watch_a_match(address: str, run: str) -> list[str]:
    """Watch the first match to its end; return the names of its entries."""
    async with asyncio.timeout(EVENT_S):
        while True:
            url = f"ws://{address}/ws/watch?run={run}"
            async with connect(url, proxy=None, compression=None) as socket:
                watcher = Watcher(socket)
                await watcher.ask("r1-basic-0001")
                if await watcher.ending() == (4000, ""):
                    break
            await asyncio.sleep(0.02)
    assert watcher.responses[-1].HasField("ended")
    return list(watcher.responses[0].started.match.entries)
