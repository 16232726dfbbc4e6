import contextlib
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asara_server.replay.file import read_replay
from tests.cli.command import refusal, started
from tests.events import EVENT_S
from tests.tournament import sample_bots

CLIENT_TESTS = Path(__file__).parents[2] / "contract/client"


@contextmanager
def serving(*words: str, seats: int = 1) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Yield a running `asara serve`, and the lines that it prints for its free seats."""
    with started("serve", "--listen", "127.0.0.1:0", *words) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while len(lines) < seats:
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


def test_a_guest_plays_an_opponent_and_the_replay_stays(tmp_path: Path) -> None:
    replays = tmp_path / "replays"
    words = ("random", "--matches", "2", "--out", str(replays))
    with serving(*words) as (process, (line,)):
        bot = dial_in(tmp_path, line)
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert bot.wait(EVENT_S) == 0
    assert "guest-1" in stdout
    assert "guest-1 – random" in stdout
    assert f"\nReplay: {replays / 'r1-basic-0001.asara'}\n" in stdout
    assert "Waiting for guest-1 to connect" in stderr
    files = sorted(replays.glob("*.asara"))
    assert [read_replay(path).header.entries for path in files] == [
        ("guest-1", "random"),
        ("random", "guest-1"),
    ]
    assert refusal("serve", *words) == (
        f"asara: --out {replays}: already contains replays; choose another folder\n"
    )


def shout(port: int) -> None:
    """Send what would change a terminal that shows it, as a stranger could."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    name = "x\x1b[31mRED\x1b[0m\nasara: the run is void"
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("localhost", port), 10) as stranger,
        context.wrap_socket(stranger, server_hostname=name) as greeted,
    ):
        greeted.sendall(b"not HTTP/2\x1b[31m\r\n\r\n")
        greeted.recv(1)
    with contextlib.suppress(OSError), socket.create_connection(("localhost", port)) as stranger:
        stranger.sendall(b"GET /\x1b[31m HTTP/1.1\r\n\r\n")
        stranger.recv(1)


@pytest.mark.long
def test_guests_meet_over_tls_and_no_stranger_writes_to_the_terminal(tmp_path: Path) -> None:
    tls = (
        *("--tls-cert", str(CLIENT_TESTS / "localhost.pem")),
        *("--tls-key", str(CLIENT_TESTS / "localhost.key")),
        *("--listen", "localhost:0"),
    )
    with serving(*tls, seats=2) as (process, lines):
        assert all("ASARA_CA=" in line for line in lines)
        shout(int(re.findall(r"ASARA_ADDRESS=\S*:(\d+)", lines[0])[0]))
        guests = [dial_in(tmp_path, line) for line in lines]
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert [guest.wait(EVENT_S) for guest in guests] == [0, 0]
    assert "guest-2" in stdout
    assert not [word for word in ("RED", "\x1b", "ssl_transport") if word in stdout + stderr]


@pytest.mark.long
def test_a_referee_that_waits_for_guests_stops_when_told(tmp_path: Path) -> None:
    with serving("--seats", "3", "random", seats=2) as (process, lines):
        assert len({re.findall("ASARA_TOKEN=([^ ]+)", line)[0] for line in lines}) == 2
        guest = dial_in(tmp_path, lines[0])
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 128 + signal.SIGTERM
        assert "Traceback" not in stderr
        guest.kill()
        guest.wait()


def test_a_guest_could_find_a_short_seed_from_its_own_so_it_is_refused() -> None:
    error = refusal("serve", "--seed", "spring")
    assert error.startswith("asara: --seed: needs 64 random hexadecimal digits; bots could guess")
    with serving("--seed", error.split()[-1]) as (_, (line,)):
        assert re.search(r" ASARA_SEED=\d+ ?", line)
