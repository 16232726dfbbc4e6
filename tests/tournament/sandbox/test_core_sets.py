"""The bots of a match run on cores that no bot of another match has at the same time."""

import os
import re
from pathlib import Path

import pytest

from asara_server.tournament.execution.match_runner import CoreSets
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from tests.tournament.runs import play
from tests.tournament.sample_bots import GOOD, HEADER, write_tournament

# Of a thread that is there before the first match, and of the one that decides.
SAYS_ITS_CORES = """
import os, threading
import asara
told = threading.Event()
def tell():
    told.wait()
    print("cores", *sorted(os.sched_getaffinity(0)), flush=True)
threading.Thread(target=tell).start()
def decide(decision, match):
    if not told.is_set():
        print("cores", *sorted(os.sched_getaffinity(0)), flush=True)
        told.set()
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""


def test_each_match_at_once_has_its_own_cores(sandbox: Sandbox, tmp_path: Path) -> None:
    if not any(any(parent.glob("cpuset.*")) for parent in sandbox.cgroup_parents):
        pytest.skip("needs control groups that choose cores (cpuset)")
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("needs two processor cores")
    file = write_tournament(
        tmp_path, {"tells": SAYS_ITS_CORES, "plain": GOOD}, HEADER + "rounds = 2\njobs = 2\n"
    )
    end = play(file, tmp_path / "run", sandbox=sandbox)
    assert end.standings.complete
    logs = [log.read_text() for log in sorted((tmp_path / "run/logs").glob("*/*-tells.log"))]
    told = [set(re.findall(r"^cores (.*)$", log, re.MULTILINE)) for log in logs]
    size = len(usable) // 2
    halves = [" ".join(map(str, half)) for half in (usable[:size], usable[size : 2 * size])]
    assert [len(cores) for cores in told if cores] == [1, 1]
    assert set().union(*told) == set(halves)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processor cores")
@pytest.mark.parametrize("first_to_end", [0, 1])
def test_which_cores_are_next_does_not_tell_who_ended_first(first_to_end: int) -> None:
    sets = CoreSets(2, 1)
    matches = [sets.taken(), sets.taken()]
    taken = [match.__enter__() for match in matches]
    for match in (matches[first_to_end], matches[1 - first_to_end]):
        match.__exit__(None, None, None)
    with sets.taken() as one, sets.taken() as other:
        assert [one, other] == taken


def test_with_fewer_cores_than_needed_all_are_shared() -> None:
    usable = len(os.sched_getaffinity(0))
    with CoreSets(usable + 1, 1).taken() as cores:
        assert cores == ""
    with CoreSets(1, usable + 1).taken() as cores:
        assert cores == ""
    with CoreSets(1, usable).taken() as cores:
        assert len(cores.split(",")) == usable
