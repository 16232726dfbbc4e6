"""Audits by several processes: order, memory, interrupts and processes that are killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.audit_pool import AuditError, map_in_processes
from tests.events import EVENT_S
from tests.match.playouts import random_replay
from tests.tournament.processes import die_while_returning


class Jobs(Sequence[int]):
    """The first numbers; `taken` is how many have been handed out."""

    def __init__(self, number: int) -> None:
        self._numbers = range(number)
        self.taken = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index):
        found = self._numbers[index]
        self.taken = max(self.taken, index.stop)
        return list(found)


def double(number: int) -> int:
    time.sleep(0.001 * (number % 3))
    return 2 * number


def end_at_once(_number: int) -> None:
    os._exit(1)


def test_verdicts_come_in_order_and_few_jobs_are_handed_out_ahead() -> None:
    jobs = Jobs(200)
    verdicts = map_in_processes(double, jobs, 2, 4)
    assert list(islice(verdicts, 20)) == list(range(0, 40, 2))
    assert jobs.taken <= 50
    assert list(verdicts) == list(range(40, 400, 2))


def test_a_process_that_is_killed_ends_the_audit_with_a_sentence() -> None:
    with pytest.raises(AuditError, match="--jobs 1"):
        list(map_in_processes(end_at_once, range(4), 2, 1))


def die_or_wait(number: int) -> bytes:
    if number == 0:
        return die_while_returning(number)
    time.sleep(0.5)
    return b""


def test_a_process_that_is_killed_while_it_sends_does_so_too() -> None:
    with pytest.raises(AuditError, match="--jobs 1"):
        list(map_in_processes(die_or_wait, range(12), 2, 1))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
@pytest.mark.parametrize("wait_s", [0.8, 2.5])  # while processes start, and while they work
def test_an_interrupt_ends_the_audit_at_once(tmp_path: Path, wait_s: float) -> None:
    replay = random_replay(RULE_COMBINATIONS[-1], 4, seed=1)
    write_replay(tmp_path / "m.asara", replay, SigningKey.new())
    for number in range(2_000):
        (tmp_path / f"m{number}.asara").hardlink_to(tmp_path / "m.asara")
    audit = subprocess.Popen(
        ["asara", "audit", str(tmp_path), "--leaks", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(wait_s)
    os.killpg(audit.pid, signal.SIGINT)
    _, errors = audit.communicate(timeout=EVENT_S)
    assert audit.returncode not in {0, 1}
    assert "Traceback" not in errors
    assert _all_gone(audit.pid)


def _all_gone(group: int) -> bool:
    for _ in range(50):  # the last process has closed its end of the pipe, but may not be gone
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
