"""`asara match` with guests: bots that somebody starts with the variables that it prints."""

import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from asara_server.replay.file import read_replay
from tests.cli.command import asara, started
from tests.events import EVENT_S
from tests.tournament.remote_bots import start_bot


@contextmanager
def expecting(
    *words: str, guests: int = 1, env: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], list[dict[str, str]]]]:
    """Yield a running `asara match`, and the variables that it prints for each of its guests."""
    with started("match", *words, env=env) as process:
        assert process.stdout is not None
        found: list[dict[str, str]] = []
        while len(found) < guests:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            if "ASARA_ADDRESS=" in line:
                found.append(dict(word.split("=", 1) for word in line.split()))
        yield process, found


def test_a_guest_plays_an_opponent_and_the_run_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("random", "guest", "--matches", "2", "--seed", "spring", "--sandbox", "none")
    with expecting(*words, "--out", str(run)) as (process, (variables,)):
        bot = start_bot(tmp_path, variables)
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert bot.communicate(timeout=EVENT_S)[1] == ""
        assert bot.returncode == 0
    assert "random – guest" in stdout
    files = sorted((run / "replays").glob("*.asara"))
    assert [read_replay(path).header.entries for path in files] == [
        ("random", "guest"),
        ("guest", "random"),
    ]
    assert "2 passed, 0 failed" in asara("audit", run).stdout
    words_of_ask = ("replay", "ask", files[0], "3", tmp_path / "far.py", "--seat", "1")
    assert "The replies are the same" in asara(*words_of_ask, "--sandbox", "none").stdout
    with expecting(*words) as (process, (again,)):
        assert again["ASARA_SEED"] == variables["ASARA_SEED"]


@pytest.mark.long
def test_two_guests_have_seats_of_their_own(tmp_path: Path) -> None:
    with expecting("guest", "guest", guests=2) as (process, found):
        assert len({variables["ASARA_SEED"] for variables in found}) == 2
        guests = [start_bot(tmp_path, variables) for variables in found]
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert [guest.communicate(timeout=EVENT_S)[1] for guest in guests] == ["", ""]
    assert "guest-2" in stdout


def test_while_it_waits_its_address_tells_its_health_and_it_stops_when_told() -> None:
    with expecting("guest", "guest", guests=2) as (process, (variables, _)):
        with grpc.insecure_channel(variables["ASARA_ADDRESS"]) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            health = stub.Check(health_pb2.HealthCheckRequest(), timeout=EVENT_S)
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 128 + signal.SIGTERM
        assert stderr.endswith("No match was played.\n")
        assert "pending" not in stderr  # no decision is open
        assert "Traceback" not in stderr
