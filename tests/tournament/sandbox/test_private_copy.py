"""The copy of an entry's files that every process of it gets in memory."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.private_copy import (
    CopySource,
    CopyTooLargeError,
    copy_into_memory,
)
from tests.tournament.sandbox.contained import LIMITS, python, run


def test_a_bot_may_change_its_copy_and_the_next_one_finds_the_original(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    folder = tmp_path / "bot"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "own.txt").write_text("original")
    code = """
from pathlib import Path
own = Path("deep/own.txt")
print("READ", own.read_text(), Path("new").exists())
own.write_text("changed")
Path("new").touch()
"""
    for _ in range(2):
        _, printed = run(sandbox, folder, python(code))
        assert printed.splitlines()[-1] == "READ original False"
    assert (folder / "deep" / "own.txt").read_text() == "original"
    assert not (folder / "new").exists()


def test_modes_links_and_times_are_those_of_the_original(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (tmp_path / "secret").write_text("hidden")
    program = folder / ("long" * 40)
    program.write_text("#!/bin/sh\necho RUNS\n")
    program.chmod(0o4751)
    os.utime(program, (1e9, 1e9))
    (folder / "inside").symlink_to(program.name)
    (folder / "outside").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    code = f"""
import os, stat, subprocess
found = os.stat("inside")
print("FOUND", oct(found.st_mode), found.st_mtime, sorted(os.listdir(".")))
print("LINK", os.readlink("inside") == {program.name!r}, os.path.exists("outside"))
subprocess.run(["./inside"])
"""
    _, printed = run(sandbox, folder, python(code))
    found, link, runs = printed.splitlines()[-3:]
    names = sorted([program.name, "inside", "outside"])
    assert found == f"FOUND 0o100751 1000000000.0 {names}"
    assert (link, runs) == ("LINK True False", "RUNS")


@pytest.mark.long
def test_the_copy_counts_as_memory_of_the_bot(sandbox: Sandbox, tmp_path: Path) -> None:
    if not sandbox.has_cgroups:
        pytest.skip("without control groups, memory in files is limited by their size alone")
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "weights").write_bytes(bytes(80 << 20))
    how, _ = run(sandbox, folder, python("print('REACHED')"), replace(LIMITS, memory_mib=64))
    assert "it used more than 64 MiB of memory" in how or "status 125" in how


def test_files_in_the_copy_may_grow_to_the_disk_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "weights").write_bytes(bytes(20 << 20))
    code = """
written = 0
try:
    for number in range(4):
        with open(f"file{number}", "wb", buffering=0) as file:
            while True:
                written += file.write(bytes(1 << 20))
except OSError as error:
    print(written >> 20, error)
"""
    _, printed = run(sandbox, folder, python(code))
    assert printed.splitlines()[-1].startswith("8 "), printed


def test_the_program_inherits_no_descriptor_of_the_archive(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    code = """
import os
print("OPEN", [os.readlink(f"/proc/self/fd/{one}") for one in range(3, 64)
    if os.path.lexists(f"/proc/self/fd/{one}")])
print("OTHERS", [one for one in os.listdir("/proc") if one.isdigit() and int(one) != os.getpid()
    if os.listdir(f"/proc/{one}")])
"""
    _, printed = run(sandbox, tmp_path / "bot", python(code))
    assert printed.splitlines()[-2:] == ["OPEN []", "OTHERS []"]


def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    source = CopySource(((tmp_path, tmp_path),))
    with (tmp_path / "large").open("wb") as sparse:
        sparse.truncate(1 << 40)
    why = r"contains more than 2 MiB \(limits.directory_mib\); .* name large files"
    with pytest.raises(CopyTooLargeError, match=why):
        copy_into_memory(source, limit_mib=2)
    assert copy_into_memory(source.without([tmp_path / "large"]), limit_mib=2).size == 0
