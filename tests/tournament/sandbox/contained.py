"""Programs in the sandbox, for tests."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import quote

from asara_server.tournament.bots.output import OutputLog
from asara_server.tournament.bots.process import BotProcess, bot_environment
from asara_server.tournament.config.tournament_file import MatchSettings, load_tournament
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.cgroups import Cgroup
from asara_server.tournament.sandbox.filesystem_view import match_sandbox
from asara_server.tournament.sandbox.private_copy import CopySource, PrivateCopies, copy_into_memory
from asara_server.tournament.sandbox.resources import ResourceLimits
from tests.events import EVENT_S

LIMITS = ResourceLimits(memory_mib=256, processes=64, open_files=256, cpu_s=60, disk_mib=8)


@asynccontextmanager
async def running(
    sandbox: Sandbox,
    folder: Path,
    command: Sequence[str],
    limits: ResourceLimits = LIMITS,
    settings: Mapping[str, str] | None = None,
    readable: tuple[tuple[Path, Path], ...] = (),
) -> AsyncIterator[tuple[BotProcess, Path]]:
    """Run a program of `folder` in the sandbox; yield its process and the path of its log."""
    path = folder.parent / f"{folder.name}.log"
    log = OutputLog(path, 100_000)
    environment = bot_environment(settings or {}, address="unix:/none", token="t0ken", seed=7)
    del environment["ASARA_ADDRESS"]
    copied = copy_into_memory(
        CopySource(((folder, folder),), frozenset(sandbox.reserved.hidden)), 128
    )
    spec = SandboxSpec(sandbox, limits, folder, readable, copied=copied)
    process = await BotProcess.start(command, folder, environment, log, spec)
    try:
        yield process, path
    finally:
        await process.stop()
        log.close()


def run(
    sandbox: Sandbox,
    folder: Path,
    command: Sequence[str],
    limits: ResourceLimits = LIMITS,
    settings: Mapping[str, str] | None = None,
    readable: tuple[tuple[Path, Path], ...] = (),
) -> tuple[str, str]:
    """Run a program until it ends by itself; return how it ended and what it printed."""
    folder.mkdir(exist_ok=True)

    async def scenario() -> tuple[str, str]:
        async with running(sandbox, folder, command, limits, settings, readable) as (process, path):
            return await asyncio.wait_for(process.wait(), EVENT_S), path.read_text(errors="replace")

    return asyncio.run(scenario())


def python(code: str) -> list[str]:
    return ["python", "-c", code]


def run_entry(sandbox: Sandbox, file: Path, name: str) -> str:
    """Run the command of an entry as a match would; return what it printed."""
    tournament = load_tournament(file)
    entry = next(entry for entry in tournament.entries if entry.name == name)
    path = file.parent / f"{name}.log"
    environment = bot_environment({}, address="unix:/none", token="t0ken", seed=7)
    del environment["ASARA_ADDRESS"]

    async def scenario() -> str:
        copies = PrivateCopies()
        log = OutputLog(path, 100_000)
        settings = MatchSettings.of(tournament, None, {})
        spec = match_sandbox(sandbox, entry, settings, copies)
        process = await BotProcess.start(entry.command, entry.directory, environment, log, spec)
        try:
            await asyncio.wait_for(process.wait(), EVENT_S)
        finally:
            await process.stop()
            log.close()
        return path.read_text(errors="replace")

    return asyncio.run(scenario())


def spin_in(group: Cgroup) -> "subprocess.Popen[bytes]":
    """Start a process that enters a control group and then uses as much time as it gets."""
    spin = f"exec {quote(sys.executable)} -c 'while True: pass'"
    script = f'for f in "$@"; do echo 0 >$f; done; {spin}'
    return subprocess.Popen(["sh", "-c", script, "sh", *map(str, group.procs_files)])
