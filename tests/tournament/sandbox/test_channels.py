"""Two contained bots, or one in two matches, find no way to exchange hidden cards exactly.

The attacks are those of `hostile.py`; the canaries try to use what stays in the kernel's caches.
"""

import asyncio
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


def bot(tmp_path: Path, name: str) -> Path:
    """Return the directory of a malicious bot."""
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(HOSTILE, folder)
    return folder


def does(*words: str) -> list[str]:
    return ["python", "hostile.py", *words]


def answer(printed: str, word: str) -> str:
    (line,) = [line for line in printed.splitlines() if line.startswith(word)]
    return line.removeprefix(word).strip()


def test_two_bots_at_one_table_see_no_locks_of_each_other(sandbox: Sandbox, tmp_path: Path) -> None:
    sender, receiver = (bot(tmp_path, name) for name in ("sender", "receiver"))

    async def scenario() -> str:
        send, receive = does("locks", "send", SECRET), does("locks", "receive", "40")
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
    folder = bot(tmp_path, "bot")
    if not sandbox.tools.device_guard:
        pytest.skip("no read-only mounts of devices can be made here")
    number = 1_234_567_890_123_456_789
    before = Path("/dev/null").stat()
    _, printed = run(sandbox, folder, does("times", "store", str(number)))
    assert answer(printed, "CHANGED") == ""
    assert Path("/dev/null").stat() == before
    again = bot(tmp_path, "again")
    _, printed = run(sandbox, again, does("times", "load"))
    assert str(number) not in answer(printed, "FOUND")
    code = "open('/dev/null', 'w').write('x'); print(len(open('/dev/zero', 'rb').read(9)), input())"
    status, printed = run(sandbox, tmp_path / "devices", python(code))
    assert "EOFError" in printed, "devices work, and standard input is empty"
    assert status == "exited with status 1"


def test_nobody_waits_for_a_bot_that_takes_leases(sandbox: Sandbox, tmp_path: Path) -> None:
    hostile, honest = bot(tmp_path, "hostile"), tmp_path / "honest"
    honest.mkdir()

    async def scenario() -> tuple[str, str]:
        async with running(sandbox, hostile, does("lease")) as (_, log):
            await appears(log, "leases:")
            start = python("import asyncio, json, sqlite3; print('STARTED')")
            async with running(sandbox, honest, start) as (process, path):
                await asyncio.wait_for(process.wait(), EVENT_S)
                return contents(log), contents(path)

    log, printed = asyncio.run(scenario())
    assert "refused leases: 0" in log
    assert "STARTED" in printed


def test_no_call_reports_or_controls_what_bots_share(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = bot(tmp_path, "bot")
    how, printed = run(sandbox, folder, does("calls"))
    assert how == "exited with status 0", printed
    assert [line for line in printed.splitlines() if "REACHED" in line] == []
    assert printed.count("refused family") == 45 * 3
    assert printed.count("refused") > 45 * 3 + 25


def test_proc_says_the_same_whatever_the_machine_does(sandbox: Sandbox, tmp_path: Path) -> None:
    def digests(folder: Path) -> dict[str, str]:
        _, printed = run(sandbox, folder, does("inspect_proc"))
        lines = [line.split() for line in printed.splitlines() if line.startswith("PROC")]
        return {path: digest for _, path, digest in lines}

    folder = bot(tmp_path, "bot")
    calm = digests(folder)
    how, printed = run(sandbox, folder, python("print(open('/proc/meminfo').readline())"))
    assert f" {LIMITS.memory_mib * 1024} kB" in printed, how
    busy = subprocess.Popen(
        [sys.executable, "-c", "x = bytearray(200 << 20)\nwhile True: open('/proc/self/stat')"]
    )
    try:
        assert digests(folder) == calm
    finally:
        busy.kill()
        busy.wait()
    assert {"/proc/meminfo", "/proc/locks", "/proc/loadavg"} <= calm.keys()


def test_sqlite_and_processes_of_one_bot_work(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    with sqlite3.connect(folder / "book.sqlite") as book:
        book.execute("CREATE TABLE moves (move)")
    book.close()
    (folder / "main.py").write_text("""
import multiprocessing, shutil, sqlite3

def inserted(file, journal):
    for _ in range(2):
        book = sqlite3.connect(file, timeout=1)
        book.execute(f"PRAGMA journal_mode={journal}")
        with book:
            book.execute("INSERT INTO moves VALUES ('bank 12 blue')")
        other = sqlite3.connect(file, timeout=1)
        count = other.execute("SELECT count(*) FROM moves").fetchone()[0]
        other.close()
        book.close()
    return count

if __name__ == "__main__":
    for number, (place, journal) in enumerate(
        (place, journal) for place in ("./", "/tmp/") for journal in ("delete", "wal")
    ):
        file = shutil.copy("book.sqlite", f"{place}{number}.sqlite")
        print("HOLDS", inserted(file, journal))
    print("HOLDS", inserted("book.sqlite", "delete"))
    with multiprocessing.Pool(3) as pool:
        print("SUM", sum(pool.map(abs, range(-100, 0))))
""")
    how, printed = run(sandbox, folder, ["python", "main.py"])
    assert printed.splitlines()[1:] == ["HOLDS 2"] * 5 + ["SUM 5050"], (how, printed)
