"""Two contained bots, or one in two matches, find no way to exchange hidden cards exactly.

The attacks are programs in `hostile/`. The README of the sandbox says what remains: timing.
"""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from asara_server.tournament.sandbox.bubblewrap import Sandbox
from tests.events import EVENT_S, until
from tests.tournament.sandbox.contained import LIMITS, python, run, running
from tests.tournament.sandbox_config import HOSTILE

SECRET = "1100101001" * 4
"""Bits that one bot tries to pass on; half of them are 1."""


def bot(tmp_path: Path, name: str, attack: str) -> Path:
    """Return the directory of a bot with this program of `hostile/`."""
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(HOSTILE / attack, folder)
    return folder


def answer(printed: str, word: str) -> str:
    (line,) = [line for line in printed.splitlines() if line.startswith(word)]
    return line.removeprefix(word).strip()


def test_a_bot_finds_nothing_in_its_second_match_that_it_left_in_its_files(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    folder = bot(tmp_path, "bot", "pages.py")
    with (folder / "marks").open("wb") as file:
        file.write(os.urandom(1 << 20) * 10)
        os.fsync(file)  # pages that the disk does not have yet cannot be dropped
    run(sandbox, folder, ["python", "pages.py", "marks", "store", SECRET])
    _, printed = run(sandbox, folder, ["python", "pages.py", "marks", "load", "40"])
    assert answer(printed, "LOADED") != SECRET
    assert matching(answer(printed, "LOADED")) <= 30
    assert "refused fadvise" in printed
    assert "refused mincore" in printed


def test_no_name_that_a_bot_looked_up_is_faster_in_its_next_match(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """The kernel keeps names that do not exist, and finds them faster the second time."""
    if not sandbox.has_cgroups:
        pytest.skip("without control groups, nobody can drop them")
    folder = bot(tmp_path, "bot", "names.py")
    secret = SECRET * 25
    run(sandbox, folder, ["python", "names.py", "store", secret])
    _, printed = run(sandbox, folder, ["python", "names.py", "load", secret])
    right = int(answer(printed, "RIGHT"))
    assert right < 600  # of 1,000


def test_no_page_that_a_bot_loaded_is_in_memory_in_its_next_match(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    if not sandbox.has_cgroups:
        pytest.skip("without control groups, nobody can drop them")
    shared = tmp_path / "shared"
    with shared.open("wb") as file:
        file.write(os.urandom(40 * 64 * 4096))
        os.fsync(file)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    folder = bot(tmp_path, "bot", "pages.py")
    readable = ((shared, shared),)
    run(sandbox, folder, ["python", "pages.py", str(shared), "store", SECRET], readable=readable)
    load = ["python", "pages.py", str(shared), "load", "40"]
    _, printed = run(sandbox, folder, load, readable=readable)
    assert matching(answer(printed, "LOADED")) <= 30


def matching(bits: str) -> int:
    return sum(one == other for one, other in zip(bits, SECRET, strict=True))


def test_two_bots_at_one_table_see_no_locks_of_each_other(sandbox: Sandbox, tmp_path: Path) -> None:
    sender, receiver = (bot(tmp_path, name, "locks.py") for name in ("sender", "receiver"))

    async def scenario() -> str:
        send = ["python", "locks.py", "send", SECRET]
        receive = ["python", "locks.py", "receive", "40"]
        async with running(sandbox, sender, send) as (_, log):
            await appears(log, "SENT")
            async with running(sandbox, receiver, receive) as (process, path):
                await asyncio.wait_for(process.wait(), EVENT_S)
                return contents(path)

    assert answer(asyncio.run(scenario()), "RECEIVED") == "0" * 40


async def appears(log: Path, text: str) -> None:
    """Wait until a bot has printed the text."""
    await until(lambda: text in contents(log))


def contents(log: Path) -> str:
    return log.read_text(errors="replace")


def test_no_time_and_no_permission_of_a_device_can_be_changed(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """The devices are the machine's own, so their times would reach every bot and every match."""
    folder = bot(tmp_path, "bot", "times.py")
    if not sandbox.tools.device_guard:
        pytest.skip("no read-only mounts of devices can be made here")
    number = 1_234_567_890_123_456_789
    before = Path("/dev/null").stat()
    _, printed = run(sandbox, folder, ["python", "times.py", "store", str(number)])
    assert answer(printed, "CHANGED") == ""
    assert Path("/dev/null").stat() == before
    again = bot(tmp_path, "again", "times.py")
    _, printed = run(sandbox, again, ["python", "times.py", "load"])
    assert str(number) not in answer(printed, "FOUND")
    code = "open('/dev/null', 'w').write('x'); print(len(open('/dev/zero', 'rb').read(9)), input())"
    status, printed = run(sandbox, tmp_path / "devices", python(code))
    assert "EOFError" in printed, "devices work, and standard input is empty"
    assert status == "exited with status 1"


def test_nobody_waits_for_a_bot_that_takes_leases(sandbox: Sandbox, tmp_path: Path) -> None:
    hostile, honest = bot(tmp_path, "hostile", "lease.py"), tmp_path / "honest"
    honest.mkdir()

    async def scenario() -> tuple[str, str]:
        async with running(sandbox, hostile, ["python", "lease.py"]) as (_, log):
            await appears(log, "leases:")
            start = python("import asyncio, json, sqlite3; print('STARTED')")
            async with running(sandbox, honest, start) as (process, path):
                await asyncio.wait_for(process.wait(), EVENT_S)
                return contents(log), contents(path)

    log, printed = asyncio.run(scenario())
    assert "refused leases: 0" in log
    assert "STARTED" in printed


def test_no_call_reports_or_controls_what_bots_share(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = bot(tmp_path, "bot", "calls.py")
    how, printed = run(sandbox, folder, ["python", "calls.py"])
    assert how == "exited with status 0", printed
    assert [line for line in printed.splitlines() if "REACHED" in line] == []
    assert printed.count("refused family") == 45 * 3
    assert printed.count("refused") > 45 * 3 + 30


def test_proc_says_the_same_whatever_the_machine_does(sandbox: Sandbox, tmp_path: Path) -> None:
    def digests(folder: Path) -> dict[str, str]:
        _, printed = run(sandbox, folder, ["python", "inspect_proc.py"])
        lines = [line.split() for line in printed.splitlines() if line.startswith("PROC")]
        return {path: digest for _, path, digest in lines}

    folder = bot(tmp_path, "bot", "inspect_proc.py")
    calm = digests(folder)
    busy = subprocess.Popen(
        [sys.executable, "-c", "x = bytearray(200 << 20)\nwhile True: open('/proc/self/stat')"]
    )
    try:
        assert digests(folder) == calm
    finally:
        busy.kill()
        busy.wait()
    assert {"/proc/meminfo", "/proc/locks", "/proc/loadavg"} <= calm.keys()


def test_meminfo_reports_the_memory_of_the_bot(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "print(open('/proc/meminfo').readline().split()[1])"
    _, printed = run(sandbox, tmp_path / "bot", python(code))
    assert printed.splitlines()[-1] == str(LIMITS.memory_mib * 1024)


@pytest.mark.parametrize("place", [".", "/tmp"])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_sqlite_works(sandbox: Sandbox, tmp_path: Path, place: str, journal: str) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    with sqlite3.connect(folder / "book.sqlite") as book:
        book.execute("CREATE TABLE moves (move)")
    book.close()
    (folder / "main.py").write_text(f"""
import shutil, sqlite3
if {place!r} != ".":
    shutil.copy("book.sqlite", {place!r})
for _ in range(2):
    book = sqlite3.connect({place!r} + "/book.sqlite", timeout=1)
    book.execute("PRAGMA journal_mode={journal}")
    with book:
        book.execute("INSERT INTO moves VALUES ('bank 12 blue')")
    other = sqlite3.connect({place!r} + "/book.sqlite", timeout=1)
    count = other.execute("SELECT count(*) FROM moves").fetchone()[0]
    other.close()
    book.close()
print("HOLDS", count)
""")
    how, printed = run(sandbox, folder, ["python", "main.py"])
    assert (how, printed.splitlines()[-1]) == ("exited with status 0", "HOLDS 2"), printed


def test_processes_of_one_bot_work_together(sandbox: Sandbox, tmp_path: Path) -> None:
    code = """
import multiprocessing as m
if __name__ == "__main__":
    with m.Pool(3) as pool:
        print("SUM", sum(pool.map(abs, range(-100, 0))))
"""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "main.py").write_text(code)
    _, printed = run(sandbox, folder, ["python", "main.py"])
    assert printed.splitlines()[-1] == "SUM 5050"
