"""The memory that is free, by the system and by the control groups that this process is in."""

from pathlib import Path

import pytest

from asara_server.tournament.bots.free_memory import free_memory

KIB = 1024


def machine(folder: Path, available_kib: int | None, groups: str = "", **files: int | str) -> int:
    """The free memory of a machine with these files in its control groups."""
    proc, root = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    if available_kib is not None:
        (proc / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable:  {available_kib} kB\n")
    (proc / "self" / "cgroup").write_text(groups)
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    free = free_memory(proc, root)
    return -1 if free is None else free


def test_the_system_says_what_is_available(tmp_path: Path) -> None:
    assert machine(tmp_path, 500) == 500 * KIB


def test_a_system_that_says_nothing_is_not_guessed_at(tmp_path: Path) -> None:
    assert machine(tmp_path, None) == -1


def test_a_group_above_may_leave_less(tmp_path: Path) -> None:
    free = machine(
        tmp_path,
        500,
        "0::/a/b\n",
        a__b__memory_DOT_max="max",
        a__b__memory_DOT_current=20 * KIB,
        a__memory_DOT_max=100 * KIB,
        a__memory_DOT_current=90 * KIB,
        a__memory_DOT_stat=f"anon 5\ninactive_file {30 * KIB}",
    )
    assert free == (100 - 90 + 30) * KIB


def test_groups_of_version_1_count(tmp_path: Path) -> None:
    free = machine(
        tmp_path,
        500,
        "9:cpu,cpuacct:/x\n4:memory:/\n",
        memory__memory_DOT_limit_in_bytes=70 * KIB,
        memory__memory_DOT_usage_in_bytes=80 * KIB,
        memory__memory_DOT_stat=f"total_inactive_file {15 * KIB}",
    )
    assert free == 5 * KIB


@pytest.mark.parametrize("groups", ["0::/a\n", "0::/a/b/c\n"])
def test_there_is_never_less_than_nothing(tmp_path: Path, groups: str) -> None:
    free = machine(
        tmp_path, 500, groups, a__memory_DOT_max=10, a__memory_DOT_current=20, memory_DOT_max=9
    )
    assert free == 0
