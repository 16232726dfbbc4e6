"""Worker processes: the same run, even if a worker or the runner dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from asara_server.tournament.execution.match_runner import ExecutionContext
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.workers.process_workers import process_workers
from asara_server.tournament.workers.worker_executor import WorkerExecutor
from tests.cli.command import asara
from tests.events import EVENT_S, wait_until
from tests.tournament import sample_bots
from tests.tournament.processes import children
from tests.tournament.runs import play
from tests.tournament.sample_bots import STEADY, write_tournament
from tests.tournament.test_kills import reopened
from tests.tournament.worker_runs import (
    finish,
    interrupt_group,
    outcome,
    played_cup,
    playing,
    sixth_decisions,
    slow,
    start,
    until_stopping,
    wait_until_gone,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

WORKER = "multiprocessing"
"""Part of the command line of a worker process."""


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played_cup(tmp_path_factory.mktemp("cup"))


TWO_WORKERS = ("--workers", "2")


def busy_workers(process: "subprocess.Popen[str]", folder: Path) -> list[int]:
    """Wait until both workers have bots that play, and return them."""

    def found() -> list[int]:
        busy = playing(children(process.pid, WORKER), folder)
        return busy if len(busy) == 2 else []

    workers: list[int] = wait_until("both workers play", found)
    return workers


@pytest.mark.long
def test_a_block_whose_worker_dies_is_continued_by_another(cup: Path, tmp_path: Path) -> None:
    run, gate = cup / "killed", tmp_path / "gate"
    process = start(slow(cup / "cup.toml", held="r1", gate=gate), run, *TWO_WORKERS)
    victim = busy_workers(process, cup)[0]
    wait_until("both are in a match", lambda: len(+sixth_decisions(run)) == 2)
    os.kill(victim, signal.SIGKILL)
    gate.touch()
    finish(process)
    log = (run / "run.log").read_text()
    assert log.count("block lost") == 1
    assert "its worker process died" in log
    assert reopened(run) == 1
    assert outcome(run) == outcome(cup / "local")
    audited = asara("audit", run)
    assert audited.returncode == 0, audited.stdout
    assert "which did not return it: its worker process died" in audited.stdout
    wait_until_gone([], cup)


@pytest.mark.long
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_says_what_was_cut_and_leaves_no_process(cup: Path, presses: int) -> None:
    """The second one does not wait for anybody."""
    file = slow(cup / "cup.toml", pause_s=2 if presses == 1 else 60)
    process = start(file, cup / f"interrupted-{presses}", *TWO_WORKERS, process_group=0)
    left = [*busy_workers(process, cup), *children(process.pid, WORKER)]
    interrupt_group(process)
    said = until_stopping(process)
    assert said.startswith("Stopping once the pending decisions have been answered.")
    if presses == 2:
        interrupt_group(process)
    _, stderr = process.communicate(timeout=EVENT_S)
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in stderr
    if presses == 1:
        assert "To resume this run, repeat the command with --resume." in stderr
        assert "\nmatch r1-basic-000" in stderr  # and how far it was when it was stopped
    else:
        assert "stopped immediately" in stderr
    wait_until_gone(left, cup)


CURIOUS = """
import os
found = set()
for name in os.listdir("/proc/self/fd"):
    try:
        found.add(os.readlink(f"/proc/self/fd/{name}"))
    except OSError:
        pass  # the descriptor of the listing
own = {os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)}
print("open:", sorted(found - own), flush=True)
"""
"""A bot that prints the files that it has open besides its input and output."""


class AsksWhoLives(WorkerExecutor):
    lives: Sequence[str] = ("not played",)

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        await super().play(progress, context)
        self.lives = tuple(progress.directory.processes.living)


def test_bots_inherit_no_pipe_cost_something_and_have_ended_when_their_record_is_signed(
    tmp_path: Path,
) -> None:
    programs = {"ann": CURIOUS + STEADY, "bob": CURIOUS + STEADY}
    file = write_tournament(tmp_path, programs, sample_bots.HEADER)
    with process_workers(1) as backend:
        executor = AsksWhoLives(backend)
        end = play(file, tmp_path / "run", executor)
    logs = [path.read_text() for path in (tmp_path / "run" / "logs").glob("*/*.log")]
    assert any("open: []" in log for log in logs), logs
    assert not any("open: ['" in log for log in logs), logs
    assert end.costs.bots_cpu_s > 0
    assert end.costs.referee_cpu_s > 0
    assert executor.lives == ()
