"""Running matches that the page shows, from the commands that play them."""

import asyncio
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from asara_server.network.live_feed import LiveFeedError, open_feed
from asara_server.network.live_file import LIVE_FILE, LiveFile
from tests.cli.command import command_line, environment
from tests.cli.test_cli_serve import dial_in
from tests.events import EVENT_S, wait_until
from tests.tournament import sample_bots
from tests.web.served import Watcher


@contextmanager
def playing(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a command until the exit, at most a minute."""
    process = subprocess.Popen(
        command_line(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    killer = threading.Timer(60, process.kill)
    killer.start()
    try:
        yield process
    finally:
        killer.cancel()
        process.kill()
        process.wait()


def offered(out: Path, process: "subprocess.Popen[str]") -> LiveFile:
    """Wait until the matches of a run are offered."""

    def live() -> LiveFile | None:
        assert process.poll() is None, process.communicate()[1]
        return LiveFile.read(out)

    offered = wait_until("the matches are offered", live)
    assert offered
    return offered


async def headers(live: LiveFile, number: int) -> list[bytes]:
    """The first records of some matches in a feed."""
    found: dict[int, bytes] = {}
    async with asyncio.timeout(EVENT_S), open_feed(live.socket) as batches:
        async for batch in batches:
            for match, record in batch:
                found.setdefault(match, record)
            if len(found) >= number:
                break
    return list(found.values())


@pytest.mark.long
def test_a_run_with_a_directory_offers_its_matches_until_it_is_over(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("random", "random", "--sandbox", "none", "--matches", "8", "--out", str(out))
    with playing("match", *words) as process:
        live = offered(out, process)
        assert live.process == process.pid
        assert any(b"random" in header for header in asyncio.run(headers(live, 2)))
        assert process.wait() == 0
    assert not (out / LIVE_FILE).exists()
    assert not live.socket.parent.exists()


@pytest.mark.long
def test_a_killed_run_leaves_a_socket_that_is_known_to_be_dead(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("random", "random", "--sandbox", "none", "--matches", "500", "--out", str(out))
    with playing("match", *words) as process:
        live = offered(out, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert LiveFile.read(out) == live
    with pytest.raises(LiveFeedError):
        asyncio.run(headers(live, 1))


@pytest.mark.long
def test_matches_of_worker_processes_are_not_offered(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(sample_bots.GOOD)
    entries = "".join(
        f'[[entries]]\nname = "{name}"\ncommand = ["python", "bot.py"]\ndirectory = "{name}"\n'
        for name in ("a", "b")
    )
    file.write_text(
        f'title = "cup"\nseats = 2\nrules = ["basic"]\nrounds = 1\n{entries}', encoding="utf-8"
    )
    out = tmp_path / "run"
    words = ("--workers", "2", "--sandbox", "none", "--out", str(out))
    with playing("tournament", "run", str(file), *words) as process:

        def over_and_never_offered() -> bool:
            assert not (out / LIVE_FILE).exists()
            return process.poll() is not None

        wait_until("the run is over", over_and_never_offered)
        assert process.returncode == 0, process.communicate()[1]


@pytest.mark.long
def test_a_served_match_can_be_watched_on_the_page(tmp_path: Path) -> None:
    words = ("random", "--sandbox", "none", "--web", "127.0.0.1:0")
    with playing("serve", "--listen", "127.0.0.1:0", *words, "--matches", "2") as process:
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
