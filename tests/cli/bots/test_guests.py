"""`asara match` with guests: bots that somebody starts with the variables that it prints."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from asara_server.replay.file import read_replay
from tests.cli.command import asara, started
from tests.events import EVENT_S
from tests.tournament import sample_bots


@contextmanager
def expecting(*words: str, guests: int = 1) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Yield a running `asara match`, and the lines that it prints for its guests."""
    with started("match", *words) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while len(lines) < guests:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            if "ASARA_ADDRESS=" in line:
                lines.append(line.strip())
        yield process, lines


def dial_in(folder: Path, line: str) -> subprocess.Popen[bytes]:
    """Paste the line into a shell, before the command of a bot."""
    (folder / "bot.py").write_text(sample_bots.GOOD)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASARA_")}
    return subprocess.Popen(
        ["bash", "-c", f"{line} exec {shlex.quote(sys.executable)} bot.py"], cwd=folder, env=kept
    )


def seed_of(line: str) -> str:
    return re.findall(r"ASARA_SEED=(\d+)", line)[0]


def test_a_guest_plays_an_opponent_and_the_run_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("random", "guest", "--matches", "2", "--seed", "spring", "--sandbox", "none")
    with expecting(*words, "--out", str(run)) as (process, (line,)):
        bot = dial_in(tmp_path, line)
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert bot.wait(EVENT_S) == 0
    assert "random – guest" in stdout
    files = sorted((run / "replays").glob("*.asara"))
    assert [read_replay(path).header.entries for path in files] == [
        ("random", "guest"),
        ("guest", "random"),
    ]
    assert "2 passed, 0 failed" in asara("audit", run).stdout
    replay = str(files[0])
    asked = asara("replay", "ask", replay, "3", str(tmp_path / "bot.py"), "--seat", "1").stdout
    assert "The replies are the same" in asked
    with expecting(*words) as (process, (again,)):
        assert seed_of(again) == seed_of(line)


@pytest.mark.long
def test_two_guests_have_seats_of_their_own(tmp_path: Path) -> None:
    with expecting("guest", "guest", guests=2) as (process, lines):
        assert len({seed_of(line) for line in lines}) == 2
        guests = [dial_in(tmp_path, line) for line in lines]
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert [guest.wait(EVENT_S) for guest in guests] == [0, 0]
    assert "guest-2" in stdout


def test_while_it_waits_its_address_tells_its_health_and_it_stops_when_told() -> None:
    with expecting("guest", "guest", guests=2) as (process, (line, _)):
        address = re.findall(r"ASARA_ADDRESS=(\S+)", line)[0]
        with grpc.insecure_channel(address) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            health = stub.Check(health_pb2.HealthCheckRequest(), timeout=EVENT_S)
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 128 + signal.SIGTERM
        assert "Traceback" not in stderr
