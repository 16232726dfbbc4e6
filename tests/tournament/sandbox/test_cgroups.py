from pathlib import Path

from asara_server.tournament.sandbox.cgroups import Cgroups, _version_2_parents


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
