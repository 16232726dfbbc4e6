"""`asara web` and `--web` as commands: addresses, limits on connections, and their ends."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from asara_server.web.settings import WebLimits, WebSettings
from tests.cli.command import refusal, started
from tests.events import EVENT_S, until, wait_until
from tests.network.sockets import connect_idle, is_open
from tests.tournament.processes import children, running_processes
from tests.tournament.samples import mirrored, write_run
from tests.web.play_pipe import serving
from tests.web.web_process import asara_web


def get_json(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=EVENT_S) as answer:
        return json.load(answer)


@pytest.mark.long
def test_without_a_directory_it_is_the_current_one_or_runs(tmp_path: Path):
    write_run(tmp_path / "runs" / "cup", mirrored())
    with asara_web(cwd=tmp_path) as address:
        assert [run["name"] for run in get_json(f"{address}/api/runs")["runs"]] == ["cup"]


@pytest.mark.long
def test_a_port_in_use_is_named_before_anything_is_played(tmp_path: Path):
    write_tournament(tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        run = ("tournament", "run", "cup.toml", "--out", "cup", "--web", f"127.0.0.1:{port}")
        printed = refusal(*run, cwd=tmp_path)
    assert "--web: cannot listen" in printed
    assert not (tmp_path / "cup").exists()


TOURNAMENT = """
title = "Cup"
seats = 2
rules = "basic"
rounds = 2

[[entries]]
name = "one"
command = "python random_bot.py"

[[entries]]
name = "other"
command = "python random_bot.py"
"""
BOT = """
import time
import asara

def decide(decision, match):
    time.sleep(0.003)
    return match.random_action(decision)

asara.run(decide)
"""


def write_tournament(folder: Path) -> None:
    (folder / "cup.toml").write_text(TOURNAMENT)
    (folder / "random_bot.py").write_text(BOT)


@contextmanager
def playing(folder: Path, *options: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A tournament that shows its matches, and the address of its page."""
    write_tournament(folder)
    run = ("tournament", "run", "cup.toml", "--out", "cup", "--sandbox", "none", *options)
    with started(*run, "--web", "127.0.0.1:0", cwd=folder) as process:
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("Showing matches at "):
            assert line, "the tournament ended without a page"
        yield process, line.removeprefix("Showing matches at ").strip()


@pytest.mark.long
def test_a_page_that_is_killed_does_not_stop_the_tournament(tmp_path: Path):
    with playing(tmp_path) as (process, _):
        os.kill(page_of(process), signal.SIGKILL)
        _, said = process.communicate(timeout=EVENT_S)
    assert process.returncode == 0
    assert "the web server has ended, but the matches continue" in said


@pytest.mark.long
def test_the_page_of_a_killed_tournament_ends(tmp_path: Path):
    with playing(tmp_path) as (process, address):
        child = page_of(process)
        process.kill()
        wait_until("its page ends", lambda: child not in running_processes())
        with pytest.raises(urllib.error.URLError):
            get_json(f"{address}api/runs")


def page_of(process: "subprocess.Popen[str]") -> int:
    """The process of the page that a command has started."""
    (child,) = children(process.pid, "--child")
    return child


async def test_connections_of_one_peer_are_limited():
    settings = WebSettings(limits=WebLimits(connections_per_peer=3))
    async with serving(settings) as address:
        port = int(address.rpartition(":")[2])
        held = [await connect_idle(port) for _ in range(3)]
        late = await connect_idle(port)
        await until(lambda: not is_open(late))
        assert all(map(is_open, held))
        held.pop().close()
        while not await _is_served(address):  # until the end of that connection is noticed
            pass
        for connection in (*held, late):
            connection.close()


async def test_a_connection_that_sends_nothing_is_closed():
    async with serving(WebSettings(limits=WebLimits(head_s=0.2))) as address:
        port = int(address.rpartition(":")[2])
        silent, slow = await connect_idle(port), await connect_idle(port)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        await until(lambda: not is_open(silent) and not is_open(slow))
        silent.close()
        slow.close()


async def _is_served(address: str) -> bool:
    reader, writer = await asyncio.open_connection(*address.split(":"))
    writer.write(f"GET /api/runs HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
    answer = await reader.read(1)
    writer.close()
    return bool(answer)
