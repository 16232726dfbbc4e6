"""Builds the entries that have a build command: once, before the first match, without a network.

A build works in a copy of the entry's directory, so the organiser's original stays unchanged. In
the sandbox the copy is in memory, at the path of the original, and its size is limited. After a
successful build, the content of the copy is written to the run directory (see `unpack_build`).
Without a sandbox, the copy is in the run directory from the start. An entry is out if its build
fails, takes too long or is too large in the end.

An author's own commands build in place instead, so that the next build is quick: results and caches
stay in the author's directory. Caches go to the subdirectory `.asara-build`, which is the build's
$TMPDIR and, in the sandbox, also its $HOME.
"""

import asyncio
import os
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from asara_server.bounded_file import MIB
from asara_server.logs import logger
from asara_server.text import plain
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output import OutputLog
from asara_server.tournament.bots.process import (
    BotProcess,
    MachineError,
    StartError,
    build_environment,
    survival,
)
from asara_server.tournament.bots.unpack_build import (
    ArchiveStream,
    BuildOutputError,
    OutputLimits,
    UnfinishedOutputError,
    remove_special_files,
    unpack_output,
)
from asara_server.tournament.config.commands import CommandError, check_command
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.filesystem_view import build_sandbox, in_place_sandbox
from asara_server.tournament.sandbox.private_copy import (
    BUILD_LIMIT,
    CopySource,
    CopyTooLargeError,
    check_size,
)
from asara_server.tournament.sandbox.resources import BUILD_CACHE
from asara_server.tournament.sandbox.system_mounts import system_paths

_WAIT_S: Final = 10.0
"""Seconds to wait for the remaining output of a build after it has ended."""

_LAST_LINES: Final = 20
"""Maximum number of output lines shown of an entry's failed build."""

_LAST_LINES_IN_PLACE: Final = 40
"""The same for a build in place."""

_IN_PLACE: Final = {"ASARA_BUILD": "in-place"}
"""Variable that tells a build to keep the files it found instead of deleting them."""


class FailedBuild(NamedTuple):
    """An entry that cannot be built."""

    entry: str
    why: str
    printed: tuple[str, ...]
    """The last lines that the build printed, safe to show on a terminal."""


class _BuildError(Exception):
    """Raised when an entry cannot be built; the text gives the reason."""


class EntryBuilder:
    """Builds entries into `folder` and writes the builds' output to `logs`."""

    def __init__(
        self,
        folder: Path,
        logs: Path,
        limits: Limits,
        *,
        sandbox: Sandbox | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`changed` is called after every change of `to_build` and `building`.

        The `sandbox` hides the directory in which `folder` is.
        """
        self.to_build: tuple[str, ...] = ()
        """Entries whose build has not started yet."""
        self.building: dict[str, float] = {}
        """Entries whose build command runs, each with the Unix time at which it began."""
        self._changed = changed
        self._folder = folder.resolve()  # bots run there, and workers may run elsewhere
        self._logs = logs
        self._limits = limits
        self._sandbox = sandbox
        self._logger = logger("runner")

    def build_directory(self, entry: Entry) -> Path:
        """Return the path of an entry's directory as it is after the build."""
        return self._folder / entry.name

    async def build(
        self,
        entries: Sequence[Entry],
        concurrency: int,
        failed: Callable[[FailedBuild], None] = lambda failed: None,
    ) -> dict[str, str]:
        """Build all entries that have a build command, and return the failed entries with the
        reasons.

        `failed` is called as soon as a build has failed. Entries that an earlier session of the
        same run has built are not built again. Raises MachineError if this machine cannot start
        builds.
        """
        waiting = [one for one in entries if one.build and not self.build_directory(one).is_dir()]
        if not waiting:
            return {}
        self._folder.mkdir(mode=0o700, exist_ok=True)  # other users may not run what is built here
        reaper = OrphanReaper(cgroups=self._sandbox.cgroup_parents if self._sandbox else ())
        slots = asyncio.Semaphore(concurrency)
        reasons: dict[str, str] = {}

        async def build_one(entry: Entry) -> None:
            async with slots:
                if failure := await self._build_or_fail(entry, reaper):
                    reasons[entry.name] = failure.why
                    failed(failure)

        self.to_build += tuple(entry.name for entry in waiting)
        self._changed()
        builds = [asyncio.create_task(build_one(entry)) for entry in waiting]
        try:
            await asyncio.gather(*builds)
        finally:
            for build in builds:
                build.cancel()
            await asyncio.gather(*builds, return_exceptions=True)
            reaper.close()
        return reasons

    async def _build_or_fail(self, entry: Entry, reaper: OrphanReaper) -> FailedBuild | None:
        """Build an entry; return why the build failed, or None if it succeeded."""
        log = OutputLog(self._logs / f"build-{entry.name}.log", self._limits.output_bytes)
        try:
            await self._build(entry, log, reaper)
        except _BuildError as error:
            why = f"build failed: {error}"
        except MachineError:
            raise
        except Exception as error:  # noqa: BLE001 - one entry must not end the run
            # Not the error's text: other bots receive the reason, and it may contain local paths.
            cause = (isinstance(error, OSError) and error.strerror) or type(error).__name__
            why = f"build failed: the referee cannot carry it out ({cause})"
            log.note(f"{why}: {error!r}")
        else:
            return None
        finally:
            log.close()
            self.building.pop(entry.name, None)
            self._start_or_end(entry)
        # Other bots receive the reason, so it must not contain the output.
        printed = self._last_lines(entry, log)
        self._logger.warning("entry is out", entry=entry.name, why=why, printed=printed)
        return FailedBuild(entry.name, why, printed)

    def _start_or_end(self, entry: Entry) -> None:
        self.to_build = tuple(name for name in self.to_build if name != entry.name)
        self._changed()

    def _last_lines(self, entry: Entry, log: OutputLog) -> tuple[str, ...]:
        """Return the last lines of a build's output, with the organiser's own paths removed."""
        lines = log.lines()[-_LAST_LINES:]
        for path in (str(self._folder / f".{entry.name}"), str(entry.directory)):
            if path != "/":
                lines = [line.replace(path, ".") for line in lines]
        return tuple(lines)

    async def _build(self, entry: Entry, log: OutputLog, reaper: OrphanReaper) -> None:
        copy = self._folder / f".{entry.name}"
        await asyncio.to_thread(_remove, copy)  # left by a run that was killed
        done = False
        try:
            if self._sandbox is None:
                await asyncio.to_thread(self._copy, entry.directory, copy, log)
                await self._run(entry, None, copy, log, reaper)
                await asyncio.to_thread(self._check_size, copy)
                await asyncio.to_thread(remove_special_files, copy)
            else:
                await self._build_contained(self._sandbox, entry, copy, log, reaper)
            try:
                check_command(entry.command, copy)
            except CommandError:  # its text could reveal the target of a link
                command = shlex.join(entry.command)
                raise _BuildError(f"it left no program for the command {command!r}") from None
            copy.rename(self.build_directory(entry))
            done = True
        finally:
            if not done:
                await asyncio.to_thread(_remove, copy)

    async def _build_contained(
        self, sandbox: Sandbox, entry: Entry, copy: Path, log: OutputLog, reaper: OrphanReaper
    ) -> None:
        """Build in the sandbox, and write the built files to `copy`. Raises _BuildError."""
        read_end, write_end = os.pipe()
        stream = ArchiveStream(read_end)
        failure: _BuildError | MachineError | None = None
        # A separate thread: builds must not occupy the threads in which other builds begin.
        with ThreadPoolExecutor(1) as thread:
            unpacking = asyncio.get_running_loop().run_in_executor(
                thread, self._unpack, stream, entry, copy
            )
            # If the build is stopped, nobody needs this result.
            unpacking.add_done_callback(lambda one: one.cancelled() or one.exception())
            try:
                spec = await asyncio.to_thread(
                    build_sandbox, sandbox, entry, self._limits, write_end
                )
                await self._run(entry, spec, entry.directory, log, reaper)
            except (_BuildError, MachineError) as error:
                failure = error
            except CopyTooLargeError as error:
                failure = _BuildError(f"its folder {error.excess}")
            except OSError as error:
                failure = _BuildError(f"its folder cannot be copied: {error.strerror}")
            finally:
                os.close(write_end)  # its copies should have ended with the build
                stream.limit_waiting(_WAIT_S)
                await asyncio.wait([unpacking])
        try:
            left_out = unpacking.result()
        except UnfinishedOutputError as error:
            raise failure or _BuildError(f"its folder {error}") from None
        except BuildOutputError as error:  # the reason why writing its output failed
            raise _BuildError(f"its folder {error}") from None
        if failure is not None:
            raise failure
        if left_out:
            log.note(
                f"{len(left_out):,} links that lead out of the folder were left out, such as "
                f"{plain(left_out[0])}"
            )

    def _unpack(self, stream: ArchiveStream, entry: Entry, copy: Path) -> list[str]:
        readable = [one for path in entry.readable for one in (path, path.resolve())]
        with stream:
            return unpack_output(
                stream,
                copy,
                OutputLimits(self._limits.build_mib * MIB),
                home=entry.directory,
                shown=[*system_paths(), *readable],
            )

    def _copy(self, original: Path, copy: Path, log: OutputLog) -> None:
        """Copy files, directories and links unchanged, leaving out hidden ones."""
        self._check_size(original)
        hidden = {self._folder.parent.resolve()}

        def ignored(folder: str, names: list[str]) -> list[str]:
            paths = [Path(folder, name) for name in names]
            return [
                path.name
                for path in paths
                if path.name == BUILD_CACHE
                or Path(os.path.realpath(path)) in hidden  # realpath accepts circular links
                or not (path.is_symlink() or path.is_dir() or path.is_file())
            ]

        try:
            shutil.copytree(original, copy, symlinks=True, ignore=ignored)
        except (OSError, RecursionError) as error:
            log.write(f"{error}\n".encode())
            raise _BuildError("its folder cannot be copied") from None

    def _check_size(self, folder: Path) -> None:
        """Raise _BuildError if a folder is larger than a build may be."""
        try:
            check_size(CopySource(((folder, folder),)), self._limits.build_mib, BUILD_LIMIT)
        except CopyTooLargeError as error:
            raise _BuildError(f"its folder {error.excess}") from None

    async def _run(
        self,
        entry: Entry,
        sandbox: SandboxSpec | None,
        directory: Path,
        log: OutputLog,
        reaper: OrphanReaper,
    ) -> None:
        """Run the build command in a directory. Raises _BuildError and MachineError."""
        self.building[entry.name] = time.time()
        self._start_or_end(entry)
        start = BotProcess.start(
            entry.build, directory, build_environment(entry.environment), log, sandbox, reaper
        )
        late = "limits.build_s allows more"
        if why := await _run_to_end(start, log, self._limits.build_s, late):
            if sandbox is not None and "No space left on device" in log.last_text():
                why += f"; its folder may take {self._limits.build_mib:,} MiB (limits.build_mib)"
            raise _BuildError(why)


async def build_in_place(
    entry: Entry,
    log_file: Path,
    *,
    sandbox: Sandbox | None,
    readable: Iterable[Path] = (),
    limits: Limits,
) -> FailedBuild | None:
    """Build an entry in its own directory; return the failure, or None after a successful build.

    In the sandbox the build also sees the `readable` files and directories. Raises OSError if the
    cache directory cannot be created, or if set-uid bits cannot be removed.
    """
    directory = entry.directory
    cache = directory / BUILD_CACHE
    cache.mkdir(exist_ok=True)
    environment = {**build_environment(entry.environment), **_IN_PLACE}
    spec = None
    if sandbox is None:
        environment["TMPDIR"] = str(cache)
    else:
        # Nobody can set these bits in the sandbox, so there are none from here on, even if this
        # process is killed. Other users of this machine could start such programs.
        await asyncio.to_thread(_remove_privileges, directory)
        spec = in_place_sandbox(sandbox, directory, readable, limits)
    log = OutputLog(log_file, limits.output_bytes)
    reaper = OrphanReaper(cgroups=sandbox.cgroup_parents if sandbox is not None else ())
    late = f"repeat the command, and the build uses what is in {BUILD_CACHE} by now"
    try:
        start = BotProcess.start(entry.build, directory, environment, log, spec, reaper)
        why = await _run_to_end(start, log, limits.build_s, late)
    except MachineError as error:
        why = str(error)
    finally:
        reaper.close()
        log.close()
    printed = tuple(log.lines()[-_LAST_LINES_IN_PLACE:])
    return FailedBuild(entry.name, why, printed) if why else None


async def _run_to_end(
    start: Coroutine[Any, Any, BotProcess], log: OutputLog, limit_s: float, late: str
) -> str:
    """Start a build, and wait for its end; return why it failed, or "".

    `late` is the remedy if the build does not end in time. Raises MachineError.
    """
    try:
        process = await start
    except StartError as error:
        log.note(str(error))
        return str(error)
    end = asyncio.create_task(process.wait())
    reasons = []
    try:
        await asyncio.wait([end], timeout=limit_s)
        if not end.done():
            reasons.append(f"not finished after {limit_s:g} s; {late}")
        else:
            log.note(end.result())
            if process.machine_failure:
                raise MachineError(process.machine_failure)
            if process.failed:
                reasons.append(end.result())
    finally:
        survivors = await process.stop()
        await end
    if survivors:
        reasons.append(survival(survivors))
    return "; ".join(reasons)


def _remove_privileges(folder: Path) -> None:
    """Remove set-uid and set-gid bits from all files below a folder. Raises OSError."""
    for top, _, files in os.walk(folder):
        for name in files:
            path = Path(top, name)
            with suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                    path.chmod(stat.S_IMODE(mode) & 0o777)


def _remove(folder: Path) -> None:
    """Delete a directory, no matter how deeply it is nested."""
    if folder.exists():
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, capture_output=True)
