"""Builds a bot in its author's own directory, so that the next build is quick.

A tournament builds a copy (see `build`). A build in place instead leaves its results and caches in
the author's directory. Caches go to the subdirectory `.asara-build`, which is the build's $TMPDIR
and, in the sandbox, also its $HOME.
"""

import asyncio
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output.output_log import OutputLog
from asara_server.tournament.bots.process import (
    BotProcess,
    MachineError,
    StartError,
    build_environment,
    survival,
)
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import in_place_sandbox
from asara_server.tournament.sandbox.spec import BUILD_CACHE

IN_PLACE: Final = {"ASARA_BUILD": "in-place"}
"""Variable that tells a build to keep the files it found instead of deleting them."""

_LAST_LINES: Final = 40
"""Maximum number of output lines shown of a failed build."""


class FailedInPlace(NamedTuple):
    """A failed build in the author's own directory."""

    why: str
    printed: tuple[str, ...]
    """The last lines that the build printed, safe to show on a terminal."""


async def build_in_place(
    entry: Entry,
    log_file: Path,
    *,
    sandbox: Sandbox | None,
    readable: Iterable[Path] = (),
    limits: Limits,
) -> FailedInPlace | None:
    """Build an entry in its own directory; return the failure, or None after a successful build.

    In the sandbox the build also sees the `readable` files and directories. Raises OSError if the
    cache directory cannot be created, or if set-uid bits cannot be removed.
    """
    cache = entry.directory / BUILD_CACHE
    cache.mkdir(exist_ok=True)
    environment = {**build_environment(entry.environment), **IN_PLACE}
    spec = None
    if sandbox is None:
        environment["TMPDIR"] = str(cache)
    else:
        # Nobody can set these bits in the sandbox, so there are none from here on, even if this
        # process is killed. Other users of this machine could start such programs.
        await asyncio.to_thread(_remove_privileges, entry.directory)
        spec = in_place_sandbox(sandbox, entry.directory, readable, limits)
    log = OutputLog(log_file, limits.output_bytes)
    reaper = OrphanReaper(cgroups=sandbox.cgroup_parents if sandbox is not None else ())
    try:
        process = await BotProcess.start(
            entry.build, entry.directory, environment, log, spec, reaper
        )
    except (MachineError, StartError) as error:
        reaper.close()
        log.close()
        return FailedInPlace(str(error), ())
    end = asyncio.create_task(process.wait())
    try:
        await asyncio.wait([end], timeout=limits.build_s)
        reasons = []
        if not end.done():
            reasons.append(
                f"not finished after {limits.build_s:g} s; repeat the command, and the build uses "
                f"what is in {BUILD_CACHE} by now"
            )
        elif process.failed:
            reasons.append(process.machine_failure or end.result())
        if survivors := await process.stop():
            reasons.append(survival(survivors))
        printed = tuple(log.last_indented_lines(_LAST_LINES))
        return FailedInPlace("; ".join(reasons), printed) if reasons else None
    finally:
        await process.stop()
        await end
        reaper.close()
        log.close()


def _remove_privileges(folder: Path) -> None:
    """Remove set-uid and set-gid bits from all files below a folder. Raises OSError."""
    for top, _, files in os.walk(folder):
        for name in files:
            path = Path(top, name)
            with suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                    path.chmod(stat.S_IMODE(mode) & 0o777)
