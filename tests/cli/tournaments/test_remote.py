"""`asara tournament` with entries on other machines, for organisers and authors."""

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asara_server.cli.display import progress
from asara_server.cli.display.progress import RunMeter, awaited_text, building_text
from asara_server.tournament.standings.match_result import utc_now
from tests.cli.command import asara, refusal, started
from tests.events import EVENT_S, wait_until
from tests.tournament import sample_bots
from tests.tournament.remote_bots import CERTIFICATE, DATA, dial_in, remote_table, write_cup
from tests.tournament.samples import match, read_results, seat

HERE = '\n[[entries]]\nname = "here"\ncommand = "python here.py"\n'


@contextmanager
def playing(file: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield the run of a tournament file, and the address at which bots connect."""
    out = file.parent / "run"
    key = file.parent / "key"
    with started("tournament", "run", file, *words, "--out", out, "--key", key) as process:
        assert process.stderr is not None
        address = None
        while address is None:
            line = process.stderr.readline()
            assert line, "it ended"
            address = re.fullmatch(r"Bots on other machines connect at (\S+) \(TLS\)\n", line)
        yield process, address[1]


def status_with(run: Path, text: str) -> str:
    """Wait until `asara status` prints this text; return its output."""

    def shown() -> str:
        printed = asara("status", run).stdout
        return printed if text in printed else ""

    return wait_until(text, shown)


def shout(port: int) -> None:
    """Send what would change a terminal that shows it, as a stranger could."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    name = "x\x1b[31mRED\x1b[0m\nasara: the run is void"
    with (
        suppress(OSError),
        socket.create_connection(("localhost", port), 10) as stranger,
        context.wrap_socket(stranger, server_hostname=name) as greeted,
    ):
        greeted.sendall(b"not HTTP/2\x1b[31m\r\n\r\n")
        greeted.recv(1)
    with suppress(OSError), socket.create_connection(("localhost", port)) as stranger:
        stranger.sendall(b"GET /\x1b[31m HTTP/1.1\r\n\r\n")
        stranger.recv(1)


def test_a_bot_on_another_machine_plays_a_tournament(tmp_path: Path) -> None:
    file, tokens = write_cup(tmp_path, ("far",))
    (tmp_path / "here.py").write_text(sample_bots.GOOD)
    file.write_text(file.read_text() + HERE)
    run = tmp_path / "run"
    with playing(file) as (process, address):
        shown = status_with(run, "not connected; waiting")
        assert f"Bots that connect at {address}" in shown
        assert re.search(r"^far +not connected; waiting up to 10 min +20\d\d-", shown, re.MULTILINE)
        shout(int(address.rpartition(":")[2]))
        stranger = dial_in(tmp_path, address, "x" * 43)
        assert stranger.wait(EVENT_S) == 1
        assert "no bot with this token may connect" in stranger.communicate()[1]
        bot = dial_in(tmp_path, address, tokens["far"])
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        assert bot.wait(EVENT_S) == 0
        assert bot.communicate()[1] == ""
    assert re.search(r"^1 +(far|here) ", stdout, re.MULTILINE)
    assert [one.forfeits for one in read_results(run / "results.jsonl")] == [(), ()]
    assert tokens["far"] not in (run / "run.log").read_text() + stdout + stderr
    assert not [word for word in ("RED", "\x1b", "ssl_transport") if word in stdout + stderr]
    assert "Bots that connect" not in asara("status", run).stdout


def test_what_cannot_be_received_is_said_before_anything_is_written(tmp_path: Path) -> None:
    file, _ = write_cup(tmp_path, ("ann", "bob"))
    begun = file.read_text()
    words = ("tournament", "run", file, "--out", tmp_path / "run", "--key", tmp_path / "key")

    def refused(old: str, new: str) -> str:
        assert old in begun
        file.write_text(begun.replace(old, new))
        return refusal(*words)

    key = str(DATA / "localhost.key")
    assert "both must be PEM files that belong together" in refused(key, str(CERTIFICATE))
    assert refused("localhost:0", "no.such.host.invalid:1").startswith(
        "asara: cup.toml: remote: address 'no.such.host.invalid:1': no such host"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused("localhost:0", f"127.0.0.1:{port}") == (
            f"asara: cup.toml: remote: cannot listen on '127.0.0.1:{port}': another program "
            "listens there; choose another port, or 0\n"
        )
    assert not (tmp_path / "run").exists()


def activity(over: int = 0, awaited: Sequence[str] = (), **building: object) -> Any:
    """Return what stands in for a runner whose bots do this."""
    return SimpleNamespace(
        progress=SimpleNamespace(matches_over=over, results=(), stopping=asyncio.Event()),
        executor=SimpleNamespace(awaited=awaited, waits=()),
        **{"building": {}, "to_build": (), **building},
    )


def test_progress_says_who_is_waited_for_and_what_is_built() -> None:
    assert awaited_text([]) == ""
    assert awaited_text(["ann", "bob", "cid", "dan", "eve"]) == (
        "; waiting for ann, bob, cid and 2 more to connect"
    )
    assert building_text({"ann": 65.0}, ()) == "building ann for 1 min 5 s"
    assert building_text({"ann": 5.0, "bob": 1.0}, ["cid", "dan"]) == (
        "building ann for 5 s, bob for 1 s; 2 entries still to build"
    )
    meter = RunMeter(7)
    meter.start(activity(awaited=["ann"]))
    assert meter.summary().endswith("; waiting for ann to connect")
    meter.start(activity(building={"ann": utc_now()}, to_build=["bob"]))
    assert meter.summary() == "building ann for 0 s; 1 entry still to build"


def test_the_pace_of_a_resumed_run_is_that_of_what_it_plays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 0.0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now_s))
    meter = RunMeter(10)
    run = activity(6)
    meter.start(run)
    now_s = 60.0
    assert meter.summary() == "6 of 10 matches after 1 min"
    began = "2026-01-01T00:00:00+00:00"
    meter.add_result(replace(match("m", seat("a", 1), seat("b", 2)), started=began))
    assert meter.summary() == "7 of 10 matches, 1.0 per minute, about 3 min left"
    guests = RunMeter(10, paced=False)
    guests.start(activity(6, awaited=["guest"]))
    guests.add_result(replace(match("m", seat("a", 1), seat("b", 2)), started=began))
    now_s = 90.0
    assert guests.summary() == "7 of 10 matches after 30 s; waiting for guest to connect"
    now_s = 0.5
    assert meter.summary() == "7 of 10 matches, 120.0 per minute, about 2 s left"
    run.progress.stopping.set()
    assert meter.summary() == "7 of 10 matches, 120.0 per minute"
    for name in "nop":
        meter.add_result(match(name, seat("a", 1), seat("b", 2)))
    assert meter.summary() == "10 of 10 matches; writing the results"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_bots_of_this_machine_see_neither_the_key_of_the_certificate_nor_the_tokens(
    tmp_path: Path,
) -> None:
    spy = """
import os, pathlib
for name in ("key.pem", "tokens.json"):
    print(name, pathlib.Path(name).is_file(), flush=True)
"""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "spy.py").write_text(spy + sample_bots.GOOD)
    file, tokens = write_cup(tmp_path, ("far",))
    (folder / "key.pem").write_bytes((DATA / "localhost.key").read_bytes())
    (tmp_path / "tokens.json").rename(folder / "tokens.json")
    table = remote_table()
    assert table in file.read_text()
    file.write_text(
        file.read_text().replace(table, remote_table(key="mine/key.pem", tokens="mine/tokens.json"))
        + '[[entries]]\nname = "spy"\ncommand = "python spy.py"\ndirectory = "mine"\n'
    )
    with playing(file, "--sandbox", "bubblewrap") as (process, address):
        bot = dial_in(tmp_path, address, tokens["far"])
        _, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 0, stderr
        bot.wait(EVENT_S)
        bot.communicate()
    printed = next((tmp_path / "run" / "logs").glob("*/*-spy.log")).read_text()
    assert "key.pem False" in printed
    assert "tokens.json False" in printed
