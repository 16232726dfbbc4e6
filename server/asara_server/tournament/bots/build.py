"""Builds the entries that ask for it: once, before the first match, without a network.

What is built is a copy of the entry's directory in the run's, so that the organiser's own stays as
it is. In the sandbox the copy lies where the original does, and is the only thing that can be
written besides /tmp. A build that fails, takes too long or grows too large leaves its entry out.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from asara_server.logs import logger
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.bots.process import BotProcess, StartError, build_environment
from asara_server.tournament.config.commands import CommandError, check_command
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import confined_build

_LOOK_S = 0.25
"""Between two looks at how large a build has grown."""
_MOST_FILES = 100_000
_DEEPEST = 40
"""Directories within each other."""
_MIB = 1 << 20


class _BuildError(Exception):
    """The entry cannot be built: why, and the last that the build printed."""

    def __init__(self, why: str, words: Sequence[str] = ()) -> None:
        super().__init__(why)
        self.words = words


class EntryBuilder:
    """Builds entries into `folder`, and keeps what they print in `logs`."""

    def __init__(
        self, folder: Path, logs: Path, limits: Limits, *, sandbox: Sandbox | None = None
    ) -> None:
        self._folder = folder
        self._logs = logs
        self._limits = limits
        self._sandbox = sandbox
        self._logger = logger("runner")

    def place(self, entry: Entry) -> Path:
        """Where the entry's directory is once it is built."""
        return self._folder / entry.name

    async def build(self, entries: Sequence[Entry], at_once: int) -> dict[str, str]:
        """Build those that ask for it; the names of those that cannot be built, and why.

        What an earlier run of the same directory has built is not built again.
        """
        waiting = [one for one in entries if one.build and not self.place(one).is_dir()]
        if not waiting:
            return {}
        self._folder.mkdir(mode=0o700, exist_ok=True)  # nobody else may run what is made here
        reaper = OrphanReaper("no address")
        turns = asyncio.Semaphore(at_once)
        failed: dict[str, str] = {}

        async def build(entry: Entry) -> None:
            async with turns:
                try:
                    await self._build(entry, reaper)
                except _BuildError as error:
                    # What it printed is for the organiser alone: bots are told the rest.
                    failed[entry.name] = f"cannot be built: {error}"
                    self._logger.warning(
                        "entry is out", entry=entry.name, why=failed[entry.name], words=error.words
                    )

        try:
            async with asyncio.TaskGroup() as group:
                for entry in waiting:
                    group.create_task(build(entry))
        finally:
            reaper.dismiss()
        return failed

    async def _build(self, entry: Entry, reaper: OrphanReaper) -> None:
        copy = self._folder / f".{entry.name}"
        await asyncio.to_thread(_remove, copy)  # of a run that was killed meanwhile
        done = False
        try:
            if large := await asyncio.to_thread(self._size, entry.directory):
                raise _BuildError(f"before the build, {large}")
            await asyncio.to_thread(self._copy, entry.directory, copy)
            await self._run(entry, copy, reaper)
            try:
                check_command(entry.command, copy)
            except CommandError:  # its words could name what a link of the build leads to
                command = shlex.join(entry.command)
                raise _BuildError(f"it leaves no program that {command!r} would start") from None
            copy.rename(self.place(entry))
            done = True
        finally:
            if not done:
                await asyncio.to_thread(_remove, copy)

    def _copy(self, original: Path, copy: Path) -> None:
        """Files, directories and links as links, but for what nobody may see."""
        secret = {self._folder.parent.resolve(), *(self._sandbox.secret if self._sandbox else ())}

        def leave_out(folder: str, names: list[str]) -> list[str]:
            paths = [Path(folder, name) for name in names]
            return [
                path.name
                for path in paths
                if Path(os.path.realpath(path)) in secret  # takes links that go round
                or not (path.is_symlink() or path.is_dir() or path.is_file())
            ]

        try:
            shutil.copytree(original, copy, symlinks=True, ignore=leave_out)
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
                confined_build(self._sandbox, entry, copy, self._limits),
            )
        except StartError as error:
            log.note(str(error))
            log.close()
            raise _BuildError(str(error)) from None
        reaper.watch(process.pid)
        ended = asyncio.create_task(process.wait())
        growing = asyncio.create_task(self._grows_too_large(copy))
        try:
            await asyncio.wait(
                [ended, growing],
                timeout=self._limits.build_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if growing.done():
                raise _BuildError(growing.result())
            if not ended.done():
                raise _BuildError(f"not done after {self._limits.build_s:g} s")
            log.note(ended.result())
            if process.failed:
                raise _BuildError(ended.result(), log.last_words())
        finally:
            growing.cancel()
            await process.stop()
            await ended
            reaper.forget(process.pid)
            log.close()
        if grown := await asyncio.to_thread(self._size, copy):
            raise _BuildError(grown)

    async def _grows_too_large(self, copy: Path) -> str:
        while True:
            await asyncio.sleep(_LOOK_S)
            if grown := await asyncio.to_thread(self._size, copy):
                return grown

    def _size(self, top: Path) -> str:
        """What is too large about a directory; mostly nothing."""
        size = files = 0
        folders = [(top, 0)]
        while folders:
            folder, depth = folders.pop()
            if depth > _DEEPEST:
                return f"it has more than {_DEEPEST} directories within each other"
            try:
                with os.scandir(folder) as found:
                    for one in found:
                        files += 1
                        stat = one.stat(follow_symlinks=False)
                        size += max(stat.st_size, stat.st_blocks * 512)
                        if one.is_dir(follow_symlinks=False):
                            folders.append((folder / one.name, depth + 1))
                        if size > self._limits.build_mb * _MIB:
                            return f"it needs more than {self._limits.build_mb:,} MB of disk"
                        if files > _MOST_FILES:
                            return f"it has more than {_MOST_FILES:,} files"
            except OSError:
                continue  # it goes on while we look
        return ""


def _remove(folder: Path) -> None:
    """Delete what a build made, however deep it lies."""
    if folder.exists():
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, capture_output=True)
