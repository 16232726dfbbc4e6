"""A limit of the machine, or a sandbox that fails, is never charged to a bot."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from asara_codec.results import Termination
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.sandbox import machine_limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import (
    Ceiling,
    effective_limits,
    find_ceilings,
    match_limits,
    reductions,
    warn_of_shared_limits,
)
from tests.cli.command import command_line, environment
from tests.tournament.runs import play
from tests.tournament.sample_bots import HEADER, STEADY, entry_table
from tests.tournament.samples import read_results
from tests.tournament.sandbox_config import sandbox_or_skip

CUP = f'{HEADER}jobs = 1\nprocess_per = "match"\n\n[limits]\nidle_processes = 0\n'

PRETENDER = """
import sys
sys.exit("prlimit: failed to set the NOFILE resource limit: Operation not permitted")
"""


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(STEADY)
    (tmp_path / "cup.toml").write_text(CUP + entry_table("a") + entry_table("b"))
    return tmp_path / "cup.toml"


def run_with(limit: str, cup: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """Play a tournament under a hard limit of prlimit."""
    sandbox_or_skip()
    if "nproc" in limit and os.geteuid():
        pytest.skip("Linux counts the processes of this user that are no bots, too")
    words = ("tournament", "run", cup, "--out", out, "--sandbox", "bubblewrap")
    return subprocess.run(
        ["prlimit", limit, *command_line(*words)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
        timeout=300,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("--nproc=100:100", "limits.processes is 256|permits 96|--nproc=260:260"),
        ("--data=400000000:400000000", "limits.memory_mib is 1,024|permits 381|--data=1073741824:"),
    ],
)
def test_a_run_with_less_than_half_is_refused_with_the_number_the_cause_and_the_command(
    cup: Path, tmp_path: Path, limit: str, words: str
) -> None:
    done = run_with(limit, cup, tmp_path / "run")
    assert done.returncode == 2, done.stderr
    assert all(word in done.stderr for word in words.split("|")), done.stderr
    assert "namespaces" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_the_control_groups_around_a_run_limit_its_bots_and_builds(tmp_path: Path) -> None:
    """The folder looks like the control group of a container."""
    (tmp_path / "cgroup.procs").touch()
    (tmp_path / "memory.max").write_text(f"{700 << 20}\n")
    (tmp_path / "pids.max").write_text("104\n")
    ceilings = find_ceilings(tmp_path)
    limits = effective_limits(Limits(), ceilings)
    assert (limits.memory_mib, limits.processes) == (700, 100)
    assert limits.build_memory_mib + limits.build_mib == 700
    found = {one.name: one for one in reductions(Limits(), ceilings, builds=True)}
    assert found["limits.processes"].too_much
    assert not found["limits.memory_mib"].too_much
    assert found["limits.build_memory_mib + limits.build_mib"].too_much
    assert f"echo 260 | sudo tee {tmp_path / 'pids.max'}" in found["limits.processes"].remedy
    assert match_limits(limits, ceilings) == match_limits(Limits(), ceilings)


def failing(sandbox: Sandbox, folder: Path, fails: str) -> Sandbox:
    """Return the sandbox with a bubblewrap that fails while the shell says so."""
    program = folder / "bwrap"
    program.write_text(
        f'#!/bin/sh\nif {fails}; then echo "bwrap: out of pivots" >&2; exit 1; fi\n'
        f'exec {sandbox.tools.bubblewrap} "$@"\n'
    )
    program.chmod(0o755)
    return Sandbox(replace(sandbox.tools, bubblewrap=str(program)))


@pytest.mark.long
def test_a_match_is_played_again_if_the_sandbox_of_a_bot_fails(cup: Path, tmp_path: Path) -> None:
    """A bot that only speaks like a failing sandbox forfeits."""
    (tmp_path / "a" / "main.py").write_text(PRETENDER)
    once = failing(sandbox_or_skip(), tmp_path, f"mkdir {tmp_path}/failed 2>/dev/null")
    end = play(cup, tmp_path / "run", sandbox=once)
    void, *played = sorted(end.results, key=lambda result: not result.void)
    assert void.void
    assert "could not start" in void.void_reason
    assert len(played) == 2
    forfeits = [[(seat.entry, seat.termination) for seat in one.forfeits] for one in played]
    assert forfeits == [[("a", Termination.NEVER_STARTED)]] * 2
    assert end.out == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("build", "why", "void"),
    [
        ("", "3 attempts: the sandbox did not start: bwrap: out of", 2),
        ('build = "true"\n', "the sandbox did not start", 0),
    ],
    ids=["match", "build"],
)
def test_a_run_stops_if_no_sandbox_starts_and_goes_on_when_they_do(
    cup: Path, tmp_path: Path, build: str, why: str, void: int
) -> None:
    cup.write_text(cup.read_text() + build)
    (tmp_path / "broken").touch()
    sandbox = failing(sandbox_or_skip(), tmp_path, f"[ -e {tmp_path}/broken ]")
    with pytest.raises(MachineError, match=why):
        play(cup, tmp_path / "run", sandbox=sandbox)
    results = read_results(tmp_path / "run" / "results.jsonl")
    assert [result.void for result in results] == [True] * void
    (tmp_path / "broken").unlink()
    end = play(cup, tmp_path / "run", sandbox=sandbox, resume=True)
    assert end.out == {}
    assert sum(not result.void for result in end.results) == 2
    assert not any(result.forfeits for result in end.results)


@pytest.mark.parametrize(
    ("bots", "remedies"),
    [
        (1, []),
        (3, ["sysctl fs.epoll.max_user_watches=10033164"]),
        (4, ["sysctl fs.epoll.max_user_watches=11710886", "echo 1044"]),
    ],
)
def test_limits_of_the_user_that_bots_could_use_up_are_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bots: int, remedies: list[str]
) -> None:
    (tmp_path / "watches").write_text("5000000\n")
    monkeypatch.setattr(machine_limits, "_WATCHES", tmp_path / "watches")
    ceilings = {"processes": Ceiling(900, "pids.max", "echo {}", extra=4)}
    with capture_logs() as lines:
        warn_of_shared_limits(bots, Limits(memory_mib=256, processes=256), ceilings)
    assert [line["remedy"].split(",")[0] for line in lines] == remedies
