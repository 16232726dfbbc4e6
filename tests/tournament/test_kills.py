"""A run whose runner is killed again and again ends as if nothing had happened."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from asara_server.eventlog.resimulate import resimulated_steps
from asara_server.match.inputs import ReopenRecord, ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.standings.match_result import read_results
from tests.cli.command import command_line, environment
from tests.tournament.sample_bots import write_tournament

#: Chooses by the decision alone, so that a process that was started again goes on as the first.
STEADY = """
import random, time
import asara
def decide(decision, match):
    time.sleep(0.004)
    dice = random.Random(repr((match.match_id, match.seat, decision.decision_id)))
    return dice.choice(decision.legal_actions)
asara.run(decide)
"""

HEADER = """
title = "Cup"
seats = [2, 3]
rule_sets = "pro+gifts"
seed = "spring"
concurrency = 2
"""

#: Holds on where it can: in a session of its own, deaf to signals.
CLINGING = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    open("child", "w").close()
    while True:
        time.sleep(60)
while True:
    time.sleep(60)
"""


def start(file: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    own = ("--out", out, "--key", out.parent / "key")
    return subprocess.Popen(
        command_line("tournament", "run", file, *own, *options),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def begin(file: Path, run: Path) -> "subprocess.Popen[str]":
    """The run, or more of it."""
    return start(file, run, *(["--resume"] if (run / "run.json").exists() else []))


def wait_for_a_match(log: Path, process: "subprocess.Popen[str]") -> None:
    """Until one more match is played, or played on."""

    def matches() -> int:
        text = log.read_text() if log.exists() else ""
        return text.count("match started") + text.count("match reopened")

    before = matches()
    while process.poll() is None and matches() == before:
        time.sleep(0.01)


def finish(process: "subprocess.Popen[str]") -> None:
    _, told = process.communicate(timeout=900)
    assert process.returncode == 0, told


def living_in(folder: Path) -> list[int]:
    """Processes that work in a folder, which is where bots are started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_until_gone(folder: Path) -> None:
    deadline = time.monotonic() + 10
    while living_in(folder):
        assert time.monotonic() < deadline, "bots outlive their runner"
        time.sleep(0.05)


def actions(run: Path) -> dict[str, list[Any]]:
    """By match, what was played; every replay holds to the last byte."""
    played = {}
    for path in (run / "replays").iterdir():
        replay = read_replay(path)
        list(resimulated_steps(replay))
        replies = [record for record in replay.records if isinstance(record, ReplyRecord)]
        played[path.name] = [(reply.seat, reply.actions) for reply in replies]
    return played


def reopened(run: Path) -> int:
    replays = map(read_replay, (run / "replays").iterdir())
    return sum(isinstance(record, ReopenRecord) for replay in replays for record in replay.records)


def survive(folder: Path, kills: int, rounds: int, most_s: float) -> None:
    seed = random.randrange(10**9)
    dice = random.Random(seed)
    programs = {"ann": STEADY, "bob": STEADY, "cid": STEADY}
    file = write_tournament(folder, programs, f"{HEADER}rounds = {rounds}\n", "")
    finish(start(file, folder / "calm"))
    run = folder / "run"
    for number in range(kills):
        process = begin(file, run)
        if dice.random() < 0.8:  # else while it starts
            wait_for_a_match(run / "run.log", process)
        try:
            process.wait(dice.uniform(0, most_s))
            pytest.fail(f"the run was over after {number} kills: {process.communicate()}")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        wait_until_gone(folder)
    finish(begin(file, run))

    about = f"seed {seed}"
    calm, results = folder / "calm", list(read_results(run / "results.jsonl"))
    names = sorted(result.match_id for result in results)
    assert names == sorted(r.match_id for r in read_results(calm / "results.jsonl")), about
    assert not any(result.void or result.forfeits for result in results), about
    assert actions(run) == actions(calm), about
    same = [(path / "standings.json").read_bytes() for path in (run, calm)]
    assert same[0] == same[1], about
    assert reopened(run), about


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_run_that_is_killed_some_times_ends_as_one_that_is_not(tmp_path: Path) -> None:
    survive(tmp_path, kills=6, rounds=1, most_s=1.5)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_run_that_is_killed_a_hundred_times_ends_as_one_that_is_not(tmp_path: Path) -> None:
    survive(tmp_path, kills=100, rounds=25, most_s=2.5)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_bot_outlives_a_runner_that_is_killed(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"ann": CLINGING, "bob": STEADY}, HEADER.replace(", 3", ""))
    process = start(file, tmp_path / "run")
    deadline = time.monotonic() + 20
    while not (tmp_path / "child").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    socket = _address(living_in(tmp_path))
    process.kill()
    process.communicate()
    wait_until_gone(tmp_path)
    while socket.parent.exists():
        assert time.monotonic() < deadline + 10, "the socket is left"
        time.sleep(0.05)


def _address(pids: list[int]) -> Path:
    for pid in pids:
        for setting in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = os.fsdecode(setting).partition("=")
            if name == "ASARA_ADDRESS":
                return Path(value.removeprefix("unix:"))
    raise AssertionError("no bot has an address")
