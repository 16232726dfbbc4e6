"""A runner that is stopped for longer than its bots may think charges nobody for it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asara_server.replay.audit import audit
from tests.cli.command import asara
from tests.events import wait_until
from tests.tournament.processes import living_in
from tests.tournament.sample_bots import STEADY, write_tournament
from tests.tournament.samples import read_results
from tests.tournament.test_kills import wait_for_a_match, wait_for_a_worker
from tests.tournament.worker_runs import finish, slow, start

HEADER = """
title = "Cup"
seats = 2
rules = "basic"
jobs = 1
"""

TIGHT = """
[clocks]
start_up_s = 20
time_bank_s = 5
increment_s = 0.05
reconnect_s = 2
"""
"""Enough for a busy machine, and less than the runner is stopped."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def stop(pid: int, seconds: float) -> None:
    """Stop a process for a while, as Ctrl-Z does; its bots go on."""
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        os.kill(pid, signal.SIGCONT)


def begin(folder: Path, rounds: int = 1, *options: str) -> "subprocess.Popen[str]":
    programs = {"ann": STEADY, "bob": STEADY}
    file = write_tournament(folder, programs, f"{HEADER}rounds = {rounds}\n", TIGHT)
    return start(slow(file, pause_s=0.02), folder / "run", *options)


def assert_nobody_was_charged(run: Path) -> None:
    results = read_results(run / "results.jsonl")
    assert results
    assert not any(result.void or result.forfeits for result in results), results
    replays = list((run / "replays").iterdir())
    assert len(replays) == len(results)
    for path in replays:
        assert audit(path.read_bytes()).fault is None


@pytest.mark.long
def test_a_runner_that_is_stopped_charges_nobody(tmp_path: Path) -> None:
    """For longer than bots may think, and than a silent connection lasts."""
    process = begin(tmp_path)
    wait_for_a_match(tmp_path / "run" / "run.log", process)
    stop(process.pid, 90)
    finish(process)
    assert_nobody_was_charged(tmp_path / "run")
    log = (tmp_path / "run" / "run.log").read_text()
    assert log.count("referee stalled") == 1
    stalled = [float(text) for text in re.findall(r"match over .*stalled_s=([\d.]+)", log)]
    assert max(stalled) > 89.9
    assert json.loads((tmp_path / "run" / "run.json").read_text())["stalled_s"] >= max(stalled)
    assert "; the referee stood still for" in asara("status", tmp_path / "run").stdout


@pytest.mark.long
def test_a_worker_that_is_stopped_charges_nobody(tmp_path: Path) -> None:
    process = begin(tmp_path, 2, "--workers", "2")
    bots = wait_until("bots are started", lambda: living_in(tmp_path))
    worker = _parent(bots[0])
    assert worker != process.pid
    wait_for_a_worker(tmp_path / "run", process)
    stop(worker, 7.5)
    finish(process)
    assert_nobody_was_charged(tmp_path / "run")


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
