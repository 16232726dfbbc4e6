"""Work in several processes: order, memory, interrupts and processes that are killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.process_pool import map_in_processes
from asara_server.replay.signing import SigningKey
from asara_server.user_error import UserError
from tests.events import EVENT_S, wait_until
from tests.match.playouts import random_replay, replay_bytes
from tests.tournament.processes import children, die_while_returning


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
    sum(range(10_000 * (number % 3)))
    return 2 * number


def test_verdicts_come_in_order_and_few_jobs_are_handed_out_ahead() -> None:
    jobs = Jobs(100)
    verdicts = map_in_processes(double, jobs, 2, 4)
    assert list(islice(verdicts, 20)) == list(range(0, 40, 2))
    assert jobs.taken <= 50
    assert list(verdicts) == list(range(40, 200, 2))


def die_or_wait(number: int) -> bytes:
    if number == 0:
        return die_while_returning(number)
    return b""


def test_a_process_that_is_killed_while_it_sends_ends_the_audit_with_a_sentence() -> None:
    with pytest.raises(UserError, match="--jobs 1"):
        list(map_in_processes(die_or_wait, range(12), 2, 1))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
@pytest.mark.parametrize("used_s", [0.0, 2.0])  # while processes start, and while they work
def test_an_interrupt_ends_the_audit_at_once(tmp_path: Path, used_s: float) -> None:
    replay = random_replay(RULE_COMBINATIONS[-1], 4, seed=1)
    (tmp_path / "m.asara").write_bytes(replay_bytes(replay, SigningKey.new()))
    for number in range(2_000):
        (tmp_path / f"m{number}.asara").hardlink_to(tmp_path / "m.asara")
    audit = subprocess.Popen(
        ["asara", "audit", str(tmp_path), "--leaks", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(
        "processes",
        lambda: any(_used_s(pid) >= used_s for pid in children(audit.pid, "spawn_main")),
    )
    os.killpg(audit.pid, signal.SIGINT)
    _, errors = audit.communicate(timeout=EVENT_S)
    assert audit.returncode not in {0, 1}
    assert "Traceback" not in errors
    # The last process has closed its end of the pipe, but may not be gone.
    wait_until("all processes end", lambda: _is_gone(audit.pid))


def _used_s(pid: int) -> float:
    """Processor time of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False
