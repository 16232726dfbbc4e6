"""What a run cost: the processor time of its bots and of the referee."""

import resource
from pathlib import Path

import pytest

from asara_server.system import usable_cores
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.runner import Runner
from asara_server.tournament.standings.match_result import MatchResult
from tests.tournament.runs import play
from tests.tournament.sample_bots import HEADER, STEADY, write_tournament
from tests.tournament.samples import COSTS
from tests.tournament.sandbox_config import sandbox_or_skip
from tests.tournament.worker_runs import PATIENT

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
    one = RunCosts(wall_s=2.0, bots_cpu_s=0.25)
    other = RunCosts(wall_s=1.5, referee_cpu_s=0.5)
    both = one + other
    assert both == RunCosts(wall_s=3.5, bots_cpu_s=0.25, referee_cpu_s=0.5)
    assert both - one == other
    assert one - both == RunCosts()


def test_a_sentence_says_where_the_time_went() -> None:
    assert COSTS.sentence == (
        "CPU usage: 50% of all cores; of that, 90% by bots, 10% by the referee"
    )
    elsewhere = COSTS.model_copy(update={"core_s": 0.0})
    assert elsewhere.sentence == "CPU time: 90% by bots, 10% by the referee"
    assert RunCosts(wall_s=1.0, referee_cpu_s=1.0).sentence == ""


def used_s() -> float:
    """Processor seconds of this process and its children that have ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def write_cup(folder: Path, rounds: int = 1) -> Path:
    header = f'{HEADER}process_per = "match"\njobs = 1\nrounds = {rounds}\n'
    return write_tournament(folder, {"ann": BURNS, "bob": STEADY}, header, PATIENT)


def assert_counted(run: Path, matches: int = 2) -> RunCosts:
    costs = read_run(run).info.costs
    assert costs is not None
    assert costs.bots_cpu_s >= matches * (START_S + DECISION_S + CHILD_S)
    assert costs.referee_cpu_s > 0
    assert costs.core_s == pytest.approx(costs.wall_s * usable_cores(), rel=0.01)
    return costs


@pytest.mark.long
def test_contained_bots_count_with_all_their_processes(tmp_path: Path) -> None:
    sandbox = sandbox_or_skip()
    play(write_cup(tmp_path), tmp_path / "run", sandbox=sandbox)
    assert_counted(tmp_path / "run")


@pytest.mark.long
def test_a_run_that_was_stopped_continues_the_sum(tmp_path: Path) -> None:
    file, run = write_cup(tmp_path, rounds=2), tmp_path / "run"

    def stop(runner: Runner, _: MatchResult) -> None:
        if runner.progress.matches_over > 1:
            runner.stop()

    before_s = used_s()
    first = play(file, run, finished=stop).costs
    used = used_s() - before_s
    assert first == assert_counted(run)
    assert 0.75 * used < first.cpu_s < 1.01 * used
    end = play(file, run, resume=True)
    assert end.costs.wall_s > first.wall_s
    assert assert_counted(run, matches=4) == end.costs
