"""Costs of a run: where its time went."""

import asyncio
import json
import resource
import shutil
import time
from pathlib import Path

import pytest

from asara_server.match.inputs import ReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.replay.file import read_replay
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.run import costs_file
from asara_server.tournament.run.cost_meter import CostMeter
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.costs_file import COSTS_FILE, read_costs
from asara_server.tournament.run.directory import read_info
from asara_server.tournament.run.status import StatusReader
from asara_server.tournament.runner import Runner
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.workers.process_workers import process_workers
from asara_server.tournament.workers.worker_executor import WorkerExecutor
from tests.events import turns
from tests.tournament.runs import play
from tests.tournament.sample_bots import HEADER, STEADY, write_tournament
from tests.tournament.samples import COSTS
from tests.tournament.sandbox_config import sandbox_or_skip

START_S, CHILD_S, DECISION_S = 0.1, 0.05, 0.1

BURNS = f"""
import subprocess, sys, time
import asara
BURN = "import time\\nwhile time.process_time() < {CHILD_S}: pass"
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
class Bot(asara.Bot):
    def decide(self, decision):
        if not self.asked:
            burn({DECISION_S})
            subprocess.run([sys.executable, "-S", "-c", BURN])
        self.asked = True
        return self.match.random.choice(decision.legal_actions)
    asked = False
burn({START_S})
asara.run(Bot)
"""
"""A bot that uses that much processor time before it connects, and in its first decision."""


def test_parts_add_up_and_nothing_becomes_negative() -> None:
    one = RunCosts(wall_s=2.0, matches=3, start_cpu_s=0.25)
    other = RunCosts(wall_s=1.5, matches=1, bots_cpu_s=0.5)
    both = one + other
    assert both == RunCosts(wall_s=3.5, matches=4, start_cpu_s=0.25, bots_cpu_s=0.5)
    assert both - one == other
    assert one - both == RunCosts()
    assert RunCosts.model_validate_json(both.model_dump_json()) == both


def test_shares() -> None:
    assert COSTS.cpu_s == pytest.approx(10.0)
    assert COSTS.share(COSTS.start_cpu_s) == pytest.approx(0.6)
    assert COSTS.busy == pytest.approx(0.5)
    assert COSTS.deciding == pytest.approx(0.2)
    assert COSTS.model_copy(update={"core_s": 1.0}).busy == 1.0  # clocks are not that exact
    assert RunCosts().share(0.0) == 0.0
    assert RunCosts().busy is RunCosts().deciding is None


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_work_of_the_runner_is_what_its_coroutines_do_and_not_what_they_wait_for() -> None:
    meter = CostMeter()

    async def work() -> str:
        burn(0.02)
        await turns()  # meanwhile the other task works
        await meter.thread_as_runner(burn, 0.02)
        return "done"

    async def other() -> None:
        await turns(1)
        burn(0.1)

    async def scenario() -> str:
        done, _ = await asyncio.gather(meter.as_runner(work()), other())
        return done

    assert asyncio.run(scenario()) == "done"
    meter.stop()
    assert 0.04 <= meter.costs.runner_cpu_s < 0.1
    assert meter.costs.referee_cpu_s >= 0.1
    before = meter.costs
    burn(0.01)
    assert meter.costs == before


def test_a_measured_coroutine_fails_and_is_cancelled_like_any_other() -> None:
    meter = CostMeter()
    ended = []

    async def fail() -> None:
        await turns(1)
        raise ValueError("no")

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
            await turns(1)
            ended.append("cleaned up")

    async def scenario() -> None:
        with pytest.raises(ValueError, match="no"):
            await meter.as_runner(fail())
        task = asyncio.create_task(meter.as_runner(wait()))
        await turns(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert ended == ["cancelled", "cleaned up"]


def used_s() -> float:
    """Processor seconds of this process and its children that have ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def write_cup(folder: Path, concurrency: int = 1) -> Path:
    header = f'{HEADER}process_per = "match"\njobs = {concurrency}\n'
    return write_tournament(folder, {"ann": BURNS, "bob": STEADY}, header)


def assert_counted(run: Path) -> RunCosts:
    """Compare the costs of a run of `write_cup` with its replays, and return them."""
    costs = read_info(run).costs
    assert costs is not None
    replies = [
        record
        for path in (run / "replays").iterdir()
        for record in read_replay(path).records
        if isinstance(record, ReplyRecord)
    ]
    assert (costs.matches, costs.starts) == (2, 4)
    assert costs.decisions == len(replies)
    assert costs.deciding_s == pytest.approx(sum(one.bot_us for one in replies) / SECOND_US)
    assert costs.start_cpu_s >= 2 * START_S
    assert costs.bots_cpu_s >= 2 * (DECISION_S + CHILD_S)
    assert costs.start_wall_s >= 2 * START_S
    assert min(costs.referee_cpu_s, costs.journal_cpu_s, costs.runner_cpu_s) > 0
    assert costs.core_s == pytest.approx(costs.wall_s * usable_cores(), rel=0.01)
    assert not (run / COSTS_FILE).exists()
    return costs


@pytest.mark.long
def test_a_run_says_where_its_time_went(tmp_path: Path) -> None:
    file = write_cup(tmp_path)
    began_s, before_s = time.monotonic(), used_s()
    end = play(file, tmp_path / "run")
    used, elapsed_s = used_s() - before_s, time.monotonic() - began_s
    costs = assert_counted(tmp_path / "run")
    assert end.costs == costs
    assert 0.75 * used < costs.cpu_s < 1.01 * used
    assert 0 < costs.wall_s < elapsed_s
    assert costs.slot_s == pytest.approx(costs.wall_s)
    assert costs.deciding is not None
    assert costs.deciding > 0.05


@pytest.mark.long
def test_contained_bots_count_with_all_their_processes(tmp_path: Path) -> None:
    sandbox = sandbox_or_skip()
    play(write_cup(tmp_path), tmp_path / "run", sandbox=sandbox)
    assert_counted(tmp_path / "run")


@pytest.mark.long
def test_workers_return_their_part(tmp_path: Path) -> None:
    with process_workers(1) as backend:
        play(write_cup(tmp_path), tmp_path / "run", WorkerExecutor(backend))
    costs = assert_counted(tmp_path / "run")
    assert costs.slot_s == pytest.approx(costs.wall_s)


@pytest.mark.long
def test_a_run_that_was_stopped_or_killed_continues_the_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs_file, "_INTERVAL_S", 0.0)
    programs = {"ann": STEADY, "bob": STEADY}
    file = write_tournament(tmp_path, programs, f"{HEADER}rounds = 2\njobs = 1\n")
    stopped, killed = tmp_path / "stopped", tmp_path / "killed"

    def copy_and_stop(runner: Runner, _: MatchResult) -> None:
        if runner.matches_over > 1 and not killed.exists():
            shutil.copytree(stopped, killed)  # as if the runner were killed now
            runner.stop()

    play(file, stopped, finished=copy_and_stop)
    before = StatusReader(killed).read().costs
    assert before == read_costs(killed)
    assert before is not None
    assert (killed / COSTS_FILE).stat().st_mode & 0o777 == 0o600
    assert json.loads((killed / "run.json").read_text())["costs"] is None
    for run, matches in ((stopped, 2), (killed, 1)):  # the second was not written yet
        first = StatusReader(run).read().costs
        assert first is not None
        assert first.matches == matches
        end = play(file, run, resume=True)
        assert end.costs.matches == first.matches + 2
        assert end.costs.wall_s > first.wall_s > 0
        assert end.costs.starts >= first.starts + 2
        assert end.costs.cpu_s > first.cpu_s > 0


@pytest.mark.parametrize("content", ["", "{", '{"wall_s": -1}', '{"matches": "many"}'])
def test_a_damaged_file_costs_nothing_but_the_figures(tmp_path: Path, content: str) -> None:
    (tmp_path / COSTS_FILE).write_text(content)
    assert read_costs(tmp_path) is None
