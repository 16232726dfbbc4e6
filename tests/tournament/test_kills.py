"""A run whose runner is killed again and again, or stopped, ends as if nothing had happened."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.match.inputs import ReopenRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.schedule.schedule import planned_matches
from tests.cli.command import asara
from tests.events import wait_until
from tests.tournament.processes import children, is_in_tree, running_processes
from tests.tournament.runs import play
from tests.tournament.sample_bots import SEED, STEADY, write_tournament
from tests.tournament.samples import read_results
from tests.tournament.sandbox_config import living, sandbox_or_skip
from tests.tournament.worker_runs import (
    PATIENT,
    finish,
    last_match,
    played_actions,
    sixth_decisions,
    slow,
    start,
    wait_until_gone,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

HEADER = f"""
title = "Cup"
seats = [2, 3]
rules = "pro+gifts"
seed = "{SEED}"
jobs = 2
"""

CLINGING = (Path(__file__).parent / "bots" / "clinging.py").read_text()


def begin(file: Path, run: Path, *options: str) -> "subprocess.Popen[str]":
    """Start a run, or resume it."""
    return start(file, run, *(["--resume"] if (run / "run.json").exists() else []), *options)


def wait_for_a_match(run: Path, process: "subprocess.Popen[str]", before: Counter[str]) -> None:
    """Wait until more sixth decisions than before have been reached."""
    wait_until(
        "a match is played",
        lambda: process.poll() is not None or sixth_decisions(run) != before,
    )


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    return children(process.pid, "spawn_main")


def reopened(run: Path) -> int:
    replays = map(read_replay, (run / "replays").iterdir())
    return sum(isinstance(record, ReopenRecord) for replay in replays for record in replay.records)


@pytest.mark.long
@pytest.mark.parametrize(
    ("blocks", "executor"), [("mirrored", ()), ("duplicate", ("--workers", "2"))]
)
def test_a_run_that_is_killed_many_times_ends_as_one_that_is_not(
    tmp_path: Path, blocks: str, executor: tuple[str, ...]
) -> None:
    """With workers, some of them are killed as well, after a start in one process."""
    kills, rounds = (6, 2) if executor else (10, 3)
    dice = random.Random(kills)
    names = ["ann", "bob", "cid", "dot"][: 4 if blocks == "duplicate" else 3]
    header = f'{HEADER}rounds = {rounds}\nblocks = "{blocks}"\n'
    if blocks == "duplicate":
        header = header.replace("[2, 3]", "2")
    file = write_tournament(tmp_path, dict.fromkeys(names, STEADY), header, PATIENT)
    play(file, tmp_path / "calm")
    run, gate = tmp_path / "run", tmp_path / "gate"
    file = slow(file, held=last_match(file), gate=gate)
    for number in range(kills):
        before = sixth_decisions(run)
        process = begin(file, run, *(executor if number else ()))
        if not number or dice.random() < 0.8:  # else while it starts
            wait_for_a_match(run, process, before)
        workers = workers_of(process)
        for victim in workers[: dice.randint(0, 1)]:
            os.kill(victim, signal.SIGKILL)
        try:
            process.wait(dice.uniform(0, 2.5))
            pytest.fail(f"the run was over after {number} kills: {process.communicate()}")
        except subprocess.TimeoutExpired:
            for victim in workers_of(process) if dice.random() < 0.5 else ():
                os.kill(victim, signal.SIGKILL)
            process.kill()
            process.communicate()
        wait_until_gone(workers, tmp_path)
    gate.touch()
    finish(begin(file, run, *executor))
    assert not (run / "journals").exists()

    calm, results = tmp_path / "calm", read_results(run / "results.jsonl")
    names = sorted(result.match_id for result in results)
    assert names == sorted(r.match_id for r in read_results(calm / "results.jsonl"))
    assert not any(result.void or result.forfeits for result in results)
    assert played_actions(run) == played_actions(calm)
    same = [(path / "standings.json").read_bytes() for path in (run, calm)]
    assert same[0] == same[1]
    assert reopened(run)
    if blocks == "duplicate":
        headers = [read_replay(path).header for path in (run / "replays").iterdir()]
        met = Counter((header.deal_secret, entry) for header in headers for entry in header.entries)
        assert set(met.values()) == {1}
    audited = asara("audit", run)
    assert audited.returncode == 0, audited.stdout
    assert " is void" not in audited.stdout


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["none", "bubblewrap"])
def test_no_bot_outlives_a_runner_that_is_killed(tmp_path: Path, sandbox: str) -> None:
    if sandbox == "bubblewrap":
        sandbox_or_skip()
    ann, bob = (f"{name}{uuid.uuid4().hex}" for name in ("ann", "bob"))
    file = write_tournament(tmp_path, {ann: CLINGING, bob: STEADY}, HEADER.replace(", 3", ""))
    process = start(file, tmp_path / "run", "--sandbox", sandbox)

    def clings() -> bool:
        assert process.poll() is None, process.communicate()
        logs = (tmp_path / "run/logs").glob(f"*/?-{ann}.log")
        return any("clings" in path.read_text() for path in logs)

    wait_until("the child starts", clings)
    socket = _address(map(int, living(f"{ann}.py")))
    process.kill()
    process.communicate()
    wait_until("the bots end", lambda: not living(f"{ann}.py") + living(f"{bob}.py"))
    wait_until("the socket is removed", lambda: not socket.parent.exists())


TIGHT = """
[clocks]
start_up_s = 20
time_bank_s = 30
increment_s = 0.05
reconnect_s = 2
"""
"""Enough for a busy machine, and less than the runner is stopped."""


@pytest.mark.long
def test_a_runner_that_is_stopped_charges_nobody(tmp_path: Path) -> None:
    """For longer than bots may think, and than a silent connection lasts; its bots go on."""
    header = HEADER.replace("[2, 3]", "2").replace("pro+gifts", "basic")
    header = header.replace("jobs = 2", "jobs = 1")
    file = write_tournament(tmp_path, {"ann": STEADY, "bob": STEADY}, header, TIGHT)
    run = tmp_path / "run"
    gate = tmp_path / "gate"
    process = start(slow(file, pause_s=0.02, held="r1", gate=gate), run)
    wait_for_a_match(run, process, Counter())
    os.kill(process.pid, signal.SIGSTOP)
    gate.touch()
    time.sleep(90)
    os.kill(process.pid, signal.SIGCONT)
    finish(process)
    results = read_results(run / "results.jsonl")
    assert len(results) == 2
    assert not any(result.void or result.forfeits for result in results), results
    assert "2 passed, 0 failed" in asara("audit", run).stdout
    log = (run / "run.log").read_text()
    assert log.count("referee stalled") == 1
    stalled = [float(text) for text in re.findall(r"match over .*stalled_s=([\d.]+)", log)]
    assert max(stalled) > 89.9
    assert json.loads((run / "run.json").read_text())["stalled_s"] >= max(stalled)
    assert "; the referee stood still for" in asara("status", run).stdout


VICTIM = """
import json, os, signal
import asara
KILLED = json.loads(os.environ["KILLED"])
def decide(decision, match):
    if KILLED.get(match.match_id) == [match.seat, decision.decision_id]:
        print("waits", flush=True)
        signal.pause()
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""
"""A bot that waits to be killed at some decisions of some matches."""


def test_a_bot_that_is_killed_forfeits_that_match_and_no_other(tmp_path: Path) -> None:
    sandbox_or_skip()
    dice = random.Random(4)
    header = HEADER.replace("[2, 3]", "2").replace("pro+gifts", "basic")
    header += 'blocks = "independent"\n'
    header += "[clocks]\nstart_up_s = 300\ntime_bank_s = 3_600\n[limits]\nsuspend_share = 1.0\n"
    file = write_tournament(tmp_path, dict.fromkeys(("ann", "bob", "cid"), VICTIM), header)
    matches = {one.match_id: one.entries for one in planned_matches(load_tournament(file))}
    chosen = dice.sample(sorted(matches), 4)
    killed = {match: [dice.randrange(2), dice.randint(1, 8)] for match in chosen}
    setting = f"[[entries]]\nenvironment = {{ KILLED = '{json.dumps(killed)}' }}\n"
    file.write_text(file.read_text().replace("[[entries]]\n", setting))
    run = tmp_path / "run"
    process = start(file, run, "--sandbox", "bubblewrap")
    waiting = {match: _bot_log(run, match, seat, matches) for match, (seat, _) in killed.items()}

    def waits() -> list[str]:
        assert process.poll() is None, process.communicate()
        return [match for match, log in waiting.items() if "\nwaits\n" in _text(log)]

    while waiting:
        for match in wait_until("a bot waits", waits):
            outermost = int(
                _text(waiting.pop(match)).partition(" process ")[2].split()[0].strip(":,")
            )
            members = [pid for pid in running_processes() if is_in_tree(pid, outermost)]
            os.kill(dice.choice([outermost, max(members)]), signal.SIGKILL)
    finish(process)
    results = read_results(run / "results.jsonl")
    assert sorted(result.match_id for result in results) == sorted(matches)
    assert not any(result.void for result in results)
    forfeits = {
        (result.match_id, seat, line.termination)
        for result in results
        for seat, line in enumerate(result.seats)
        if line.termination.forfeit
    }
    expected = {(match, seat, Termination.CRASH) for match, (seat, _) in killed.items()}
    assert forfeits == expected


def _bot_log(run: Path, match: str, seat: int, matches: Mapping[str, tuple[str, ...]]) -> Path:
    return run / "logs" / match / f"{seat}-{matches[match][seat]}.log"


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _address(pids: Iterable[int]) -> Path:
    for pid in pids:
        for setting in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = os.fsdecode(setting).partition("=")
            if name == "ASARA_ADDRESS":
                return Path(value.removeprefix("unix:"))
    raise AssertionError("no bot has an address")
