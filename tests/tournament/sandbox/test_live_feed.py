"""A contained bot cannot reach the live feed, which holds the secrets of all running matches."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from asara_server.network.live_feed import live_feed
from asara_server.network.live_file import LiveFile
from asara_server.referee.referee import Referee
from tests.events import EVENT_S
from tests.tournament.sandbox.contained import python, running
from tests.tournament.sandbox_config import sandbox_or_skip

SPY = """
import os, socket, stat
try:
    with socket.socket(socket.AF_UNIX) as feed:
        feed.connect({path!r})
        print("feed:", feed.recv(100))
except OSError as error:
    print("feed:", type(error).__name__)
found = []
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if folder != "/" or name not in ("proc", "sys", "usr")]
    for name in files:
        path = os.path.join(folder, name)
        try:
            if stat.S_ISSOCK(os.lstat(path).st_mode) or name == "live.json":
                found.append(path)
        except OSError:
            pass
print("found:", {path!r} in found, {run!r} in found)
print("listed:", {path!r} in open("/proc/net/unix").read())
"""


@pytest.mark.long
async def test_a_contained_bot_does_not_find_the_feed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    folder = tmp_path / "bot"
    folder.mkdir()
    sandbox = sandbox_or_skip()
    async with live_feed(Referee(), run):
        live = LiveFile.read(run)
        assert live is not None
        code = SPY.format(path=str(live.socket), run=str(run / "live.json"))
        async with running(sandbox, folder, python(code)) as (process, log):
            await asyncio.wait_for(process.wait(), EVENT_S)
            assert log.read_text().endswith(
                "\nfeed: FileNotFoundError\nfound: False False\nlisted: False\n"
            )
        # The same program finds it outside.
        outside = code.replace('os.walk("/")', f"os.walk({str(live.socket.parent)!r})")
        command = [sys.executable, "-c", outside]
        printed = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=True
        )
        assert "asara live" in printed.stdout
        assert "found: True False" in printed.stdout
        assert "listed: True" in printed.stdout
