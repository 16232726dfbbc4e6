"""Control groups: where they can be made, and that they freeze, count and share processor time."""

import asyncio
import signal
from pathlib import Path

import pytest

from asara_server.tournament.sandbox.cgroups import Cgroup, Cgroups, _version_2_parents
from tests.events import wait_until
from tests.tournament.sandbox.contained import spin_in
from tests.yardstick import loop_s


@pytest.fixture
def cgroups() -> Cgroups:
    found = Cgroups.find()
    if found is None or not found.can_freeze:
        pytest.skip("this user cannot create control groups that can be frozen")
    return found


def runs(group: Cgroup) -> bool:
    """Return whether the group uses processor time while this process does."""
    before = group.processor_ns()
    assert before is not None
    loop_s()
    return group.processor_ns() != before


def test_a_frozen_group_uses_no_time_until_it_is_thawed_and_is_removed_with_its_processes(
    cgroups: Cgroups,
) -> None:
    group = cgroups.create(memory_bytes=1 << 28, processes=10)
    process = spin_in(group)
    wait_until("it runs", lambda: runs(group))
    group.freeze()
    wait_until("it uses no time", lambda: not runs(group))
    group.thaw()
    wait_until("it uses time again", lambda: runs(group))
    group.freeze()
    wait_until("it is empty", lambda: not group.kill())
    asyncio.run(group.remove())
    assert process.wait() == -signal.SIGKILL
    assert not any(folder.exists() for folder in group.folders)
    group.freeze()  # without effect, as its number of a file may belong to another by now
    assert group.processor_ns() is None


def test_all_groups_weigh_the_same_and_less_than_the_runner(cgroups: Cgroups) -> None:
    groups = [cgroups.create(memory_bytes=1 << 28, processes=10, cores=n) for n in (1, 2)]
    runners = {"cpu.weight": 100, "cpu.shares": 1_024}
    shares = [
        [
            int((folder / name).read_text()) / whole
            for name, whole in runners.items()
            for folder in group.folders
            if (folder / name).exists()
        ]
        for group in groups
    ]
    for group in groups:
        asyncio.run(group.remove())
    if not shares[0]:
        pytest.skip("this user cannot create control groups that share processor time")
    assert shares == [[0.25], [0.25]]


def test_groups_are_made_only_where_they_bound_memory_and_processes(tmp_path: Path) -> None:
    """The folders look like those of the kernel, but something is missing."""
    assert Cgroups.find(tmp_path) is None
    for name in ("memory", "pids"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cgroup.procs").touch()
    assert Cgroups.find(tmp_path) is None
    assert [path.name for path in tmp_path.rglob("asara-*")] == []
    (tmp_path / "cgroup.procs").touch()
    (tmp_path / "cgroup.subtree_control").touch()
    (tmp_path / "cgroup.controllers").write_text("cpu io")
    assert Cgroups.find(tmp_path) is None


def test_a_worker_of_a_runner_makes_groups_beside_it(tmp_path: Path) -> None:
    """The folder looks like the group that a runner delegates from."""
    for name in ("cgroup.subtree_control", "cgroup.controllers"):
        (tmp_path / name).write_text("cpu memory pids")
    runner = tmp_path / "asara-runner"
    runner.mkdir()
    (runner / "cgroup.procs").touch()
    (tmp_path / "cgroup.procs").touch()
    before = sorted(tmp_path.rglob("*"))
    found = _version_2_parents(runner)
    assert found == dict.fromkeys(("memory", "pids", "cpu"), tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
