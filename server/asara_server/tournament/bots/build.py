"""Builds the entries that ask for it: once, before the first match, without a network.

A build works in a copy of the entry's directory in the run directory, so the organiser's original
stays unchanged. In the sandbox, the copy appears at the path of the original and is the only
writable directory besides /tmp. An entry is out if its build fails, takes too long or grows too
large.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from asara_server.logs import logger
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.bots.process import BotProcess, StartError, build_environment
from asara_server.tournament.config.commands import CommandError, check_command
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import build_sandbox
from asara_server.tournament.sandbox.spec import MIB

_SIZE_CHECK_S: Final = 0.25
"""Seconds between two measurements of a growing build."""
_MAX_FILES: Final = 100_000
_MAX_DEPTH: Final = 40
"""Levels of nested directories."""


class _BuildError(Exception):
    """The reason why an entry cannot be built, with the last lines that the build printed."""

    def __init__(self, why: str, printed: Sequence[str] = ()) -> None:
        super().__init__(why)
        self.printed = printed


class EntryBuilder:
    """Builds entries into `folder` and writes the output of the builds to `logs`."""

    def __init__(
        self, folder: Path, logs: Path, limits: Limits, *, sandbox: Sandbox | None = None
    ) -> None:
        self._folder = folder
        self._logs = logs
        self._limits = limits
        self._sandbox = sandbox
        self._logger = logger("runner")

    def build_directory(self, entry: Entry) -> Path:
        """Return the path of the entry's directory after its build."""
        return self._folder / entry.name

    async def build(self, entries: Sequence[Entry], concurrency: int) -> dict[str, str]:
        """Build the entries that ask for it, and return those that failed with the reasons.

        Entries that an earlier run of the same directory has built are not built again.
        """
        waiting = [one for one in entries if one.build and not self.build_directory(one).is_dir()]
        if not waiting:
            return {}
        self._folder.mkdir(mode=0o700, exist_ok=True)  # other users may not run what is built here
        reaper = OrphanReaper()
        slots = asyncio.Semaphore(concurrency)
        failed: dict[str, str] = {}

        async def build_one(entry: Entry) -> None:
            async with slots:
                try:
                    await self._build(entry, reaper)
                except _BuildError as error:
                    # The output is for the organiser alone; other bots receive the reason.
                    why = failed[entry.name] = f"build failed: {error}"
                    self._logger.warning(
                        "entry is out", entry=entry.name, why=why, printed=error.printed
                    )

        try:
            async with asyncio.TaskGroup() as group:
                for entry in waiting:
                    group.create_task(build_one(entry))
        finally:
            reaper.close()
        return failed

    async def _build(self, entry: Entry, reaper: OrphanReaper) -> None:
        copy = self._folder / f".{entry.name}"
        await asyncio.to_thread(_remove, copy)  # left by a run that was killed
        done = False
        try:
            if excess := await asyncio.to_thread(self._size_excess, entry.directory):
                raise _BuildError(f"its directory {excess} even before the build")
            await asyncio.to_thread(self._copy, entry.directory, copy)
            await self._run(entry, copy, reaper)
            try:
                check_command(entry.command, copy)
            except CommandError:  # its text could reveal the target of a link that the build made
                command = shlex.join(entry.command)
                raise _BuildError(f"it left no program for the command {command!r}") from None
            copy.rename(self.build_directory(entry))
            done = True
        finally:
            if not done:
                await asyncio.to_thread(_remove, copy)

    def _copy(self, original: Path, copy: Path) -> None:
        """Copy files, directories and links as they are, without the hidden ones."""
        hidden = {self._folder.parent.resolve(), *(self._sandbox.hidden if self._sandbox else ())}

        def ignored(folder: str, names: list[str]) -> list[str]:
            paths = [Path(folder, name) for name in names]
            return [
                path.name
                for path in paths
                if Path(os.path.realpath(path)) in hidden  # realpath accepts circular links
                or not (path.is_symlink() or path.is_dir() or path.is_file())
            ]

        try:
            shutil.copytree(original, copy, symlinks=True, ignore=ignored)
        except (OSError, RecursionError) as error:
            raise _BuildError("its directory cannot be copied", [str(error)]) from None

    async def _run(self, entry: Entry, copy: Path, reaper: OrphanReaper) -> None:
        log = OutputLog(self._logs / f"build-{entry.name}.log", self._limits.log_bytes)
        try:
            process = await BotProcess.start(
                entry.build,
                copy if self._sandbox is None else entry.directory,
                build_environment(entry.environment),
                log,
                build_sandbox(self._sandbox, entry, copy, self._limits),
            )
        except StartError as error:
            log.note(str(error))
            log.close()
            raise _BuildError(str(error)) from None
        reaper.watch(process.pid)
        end = asyncio.create_task(process.wait())
        growth = asyncio.create_task(self._watch_size(copy))
        try:
            await asyncio.wait(
                [end, growth], timeout=self._limits.build_s, return_when=asyncio.FIRST_COMPLETED
            )
            if growth.done():
                raise _BuildError(f"its directory {growth.result()}")
            if not end.done():
                raise _BuildError(f"not finished after {self._limits.build_s:g} s")
            log.note(end.result())
            if process.failed:
                raise _BuildError(end.result(), log.last_lines())
        finally:
            growth.cancel()
            await process.stop()
            await end
            reaper.unwatch(process.pid)
            log.close()
        if excess := await asyncio.to_thread(self._size_excess, copy):
            raise _BuildError(f"its directory {excess}")

    async def _watch_size(self, copy: Path) -> str:
        """Return how the copy exceeds the limits, as soon as it does."""
        while True:
            await asyncio.sleep(_SIZE_CHECK_S)
            if excess := await asyncio.to_thread(self._size_excess, copy):
                return excess

    def _size_excess(self, top: Path) -> str:
        """Return how a directory exceeds the limits, or "" if it does not."""
        size = files = 0
        folders = [(top, 0)]
        while folders:
            folder, depth = folders.pop()
            if depth > _MAX_DEPTH:
                return f"is nested more than {_MAX_DEPTH} levels deep"
            try:
                with os.scandir(folder) as found:
                    for one in found:
                        files += 1
                        stat = one.stat(follow_symlinks=False)
                        size += max(stat.st_size, stat.st_blocks * 512)
                        if one.is_dir(follow_symlinks=False):
                            folders.append((folder / one.name, depth + 1))
                        if size > self._limits.build_mb * MIB:
                            return f"needs more than {self._limits.build_mb:,} MB of disk"
                        if files > _MAX_FILES:
                            return f"has more than {_MAX_FILES:,} files"
            except OSError:
                continue  # the build may remove directories meanwhile
        return ""


def _remove(folder: Path) -> None:
    """Delete a directory, however deeply it is nested."""
    if folder.exists():
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, capture_output=True)
