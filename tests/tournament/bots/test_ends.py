"""Nothing of a bot or build lives on after its end, whatever it does."""

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asara_server.tournament.bots import process as bot_process
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output import OutputLog
from asara_server.tournament.bots.process import BotProcess, build_environment
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.cgroups import Cgroups
from tests.events import until, wait_until
from tests.tournament.processes import children
from tests.tournament.sandbox.contained import LIMITS
from tests.tournament.sandbox_config import living, sandbox_or_skip

CLINGING = Path(__file__).with_name("clinging.py")
_SYSTEM = Path("/sys/fs/cgroup")
_FREEZER = _SYSTEM / "freezer"
WAYS = ["group", "group of version 1", "namespace", "none"]
"""The ways in which a process and its children are ended."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def sandbox_for(way: str, folder: Path) -> Sandbox | None:
    """Return a sandbox that is ended in this way."""
    if way == "none":
        return None
    sandbox = sandbox_or_skip()
    if way == "namespace":
        tools = replace(sandbox.tools, cgroups=None)
    elif way == "group":
        tools = sandbox.tools
    else:
        tools = replace(sandbox.tools, cgroups=groups_of_version_1(folder))
    if way != "namespace" and tools.cgroups is None:
        pytest.skip("this user cannot create control groups of this kind")
    return Sandbox(tools)


def groups_of_version_1(folder: Path) -> Cgroups | None:
    root = folder / "cgroup"
    root.mkdir(exist_ok=True)
    for name in ("memory", "pids"):
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(_SYSTEM / name)
    return Cgroups.find(root)


async def cling(
    folder: Path, sandbox: Sandbox | None, *words: str, reaper: OrphanReaper | None = None
) -> tuple[BotProcess, OutputLog]:
    """Start the program with these words; return once it prints that it clings."""
    path = folder / "bot.log"
    spec = None
    if sandbox is not None:
        spec = SandboxSpec(sandbox, LIMITS, folder, ((CLINGING, CLINGING),))
    command = ("python", str(CLINGING), *words)
    log = OutputLog(path, 10_000)
    process = await BotProcess.start(command, folder, build_environment({}), log, spec, reaper)

    def clings() -> bool:
        assert "Error" not in path.read_text(), path.read_text()
        return "\nclings\n" in path.read_text()

    await until(clings)
    return process, log


@pytest.fixture
def mark() -> Iterator[str]:
    """A word for the command line by which the processes of a test are found."""
    word = uuid.uuid4().hex
    yield word
    for pid in living(word):
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize("end", ["stopped", "exit"])
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_a_program_lives_on_after_its_end(
    tmp_path: Path, mark: str, way: str, end: str
) -> None:
    process, log = await cling(tmp_path, sandbox_for(way, tmp_path), mark, end)
    if end == "exit":
        assert await process.wait() == "exited with status 0"
        assert living(mark) == []
    assert await process.stop() == ()
    assert living(mark) == []
    log.close()
    if way == "none" and end == "stopped":
        assert "did not end on SIGTERM; killed" in (tmp_path / "bot.log").read_text()


@pytest.mark.long
@pytest.mark.parametrize("reaper", ["with the reaper", "without it"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_program_lives_on_after_a_runner_that_is_killed(
    tmp_path: Path, mark: str, way: str, reaper: str
) -> None:
    """Without the reaper, which may be killed too, the next runner ends the control groups."""
    if reaper == "without it" and not way.startswith("group"):
        pytest.skip("without control groups, there is nothing to know them by")
    sandbox_for(way, tmp_path)
    code = f"from {__name__} import run; run({str(tmp_path)!r}, {way!r}, {mark!r})"
    root = Path(__file__).parents[3]
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=root, stderr=subprocess.PIPE)
    log = tmp_path / "bot.log"

    def clings() -> bool:
        assert runner.poll() is None, runner.communicate()
        return "\nclings\n" in log.read_text()

    wait_until("it clings", clings)
    if reaper == "without it":
        for pid in children(runner.pid, "orphan_reaper"):
            os.kill(pid, signal.SIGKILL)
    sandbox_for(way, tmp_path)  # ends nothing of a runner that lives
    assert len(living(mark)) > 4
    runner.kill()
    runner.communicate()
    if reaper == "without it":
        sandbox_for(way, tmp_path)
        assert [one for one in living(mark) if int(one) != runner.pid] == []
    wait_until("all have ended", lambda: not living(mark))


def run(folder: str, way: str, mark: str) -> None:
    """Run the program until this process is killed."""

    async def scenario() -> None:
        sandbox = sandbox_for(way, Path(folder))
        reaper = OrphanReaper(cgroups=sandbox.cgroup_parents if sandbox is not None else ())
        process, _ = await cling(Path(folder), sandbox, mark, reaper=reaper)
        if process.group is not None and process.group.can_freeze:
            process.group.freeze()  # as while the bot waits; it is to end all the same
        await asyncio.Event().wait()

    asyncio.run(scenario())


@pytest.fixture
def freezer_group(mark: str) -> Iterator[Path]:
    if not os.access(_FREEZER, os.W_OK):
        pytest.skip("this user cannot have a process that does not end when it is killed")
    group = _FREEZER / f"asara-test-{mark}"
    group.mkdir()
    yield group
    (group / "freezer.state").write_text("THAWED")
    wait_until("it has ended", lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


@pytest.mark.long
def test_nobody_waits_forever_for_a_process_that_does_not_end(
    tmp_path: Path, freezer_group: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_process, "_END_S", 0.2)

    async def scenario() -> None:
        log = OutputLog(tmp_path / "bot.log", 10_000)
        command = ("sleep", "infinity")
        process = await BotProcess.start(command, tmp_path, build_environment({}), log)
        (freezer_group / "cgroup.procs").write_text(str(process.pid))
        (freezer_group / "freezer.state").write_text("FROZEN")
        assert await process.stop() == (process.pid,)
        assert await process.wait() == "could not be ended"
        log.close()
        (freezer_group / "freezer.state").write_text("THAWED")
        await until(lambda: not process.running)

    asyncio.run(scenario())
