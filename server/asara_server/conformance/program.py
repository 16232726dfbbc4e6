"""The program under test: a process group with limited output, which does not outlive its case."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from asara_server.tournament.config.commands import resolve_command
from asara_server.tournament.config.tournament_file import Entry
from asara_server.user_error import UserError

_KEPT: Final = 1 << 18
"""Number of bytes kept of each output."""
_MOST: Final = 64 << 20
"""Number of bytes of output after which a program is killed."""
_DRAIN_S: Final = 1.0
_SAMPLE_S: Final = 0.1


class ProgramError(UserError):
    """Raised when the program could not be executed; the text gives the reason."""

    status = 1


class Output:
    """Standard output or standard error of the program: its beginning, and its number of bytes."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size = 0

    @property
    def text(self) -> str:
        return self.kept.decode(errors="replace")

    @property
    def too_large(self) -> bool:
        return self.size > _MOST


class Program:
    """The running program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.stdout = Output()
        self.stderr = Output()
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read(process.stdout, self.stdout)),
            asyncio.create_task(self._read(process.stderr, self.stderr)),
        ]

    @classmethod
    async def start(cls, bot: Entry, environment: Mapping[str, str]) -> "Program":
        """Start a bot in its directory, as a new process group; raise ProgramError."""
        command = resolve_command(bot.command, bot.directory)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=bot.directory,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(f"{command[0]}: {error.strerror or error}") from None
        return cls(process)

    async def wait(self) -> int:
        """Wait for the program and its output to end; return the exit status.

        A negative status is the number of the signal that ended the program.
        """
        status = await self._process.wait()
        self._kill_group()  # its remaining children may keep the outputs open
        await asyncio.wait(self._readers, timeout=_DRAIN_S)
        return status

    async def kill(self) -> None:
        """Kill the program and all processes that it started."""
        self._kill_group()
        await self.wait()
        for reader in self._readers:
            reader.cancel()

    async def busy_share(self, seconds: float) -> float:
        """Return how often a thread is found running, as a share of the samples taken in this time.

        A thread waiting for a processor counts as running, so a busy machine does not change the
        result. The share is 0 if the system does not show the states of threads.
        """
        samples = busy = 0
        until = time.monotonic() + seconds - _SAMPLE_S
        while time.monotonic() < until:
            await asyncio.sleep(_SAMPLE_S)
            samples += 1
            busy += self._is_running()
        return busy / max(samples, 1)

    def busy_s(self) -> float:
        """Return how long its threads and ours have run or waited for a processor, in seconds.

        What a machine that is busy or slow adds to a pause is in this time. It is 0 if the system
        does not count it.
        """
        return sum(map(_busy_s, [*self._threads(), *_threads("self")]))

    def _is_running(self) -> bool:
        """Return True if a thread of the process group is running or ready to run."""
        return any(_stat(thread)[:1] == ["R"] for thread in self._threads())

    def _threads(self) -> Iterator[str]:
        """Yield the folders of the threads of the process group."""
        for process in _entries("/proc"):
            if _stat(f"/proc/{process}")[2:3] == [str(self._process.pid)]:
                yield from _threads(process)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _read(self, reader: asyncio.StreamReader, output: Output) -> None:
        while data := await reader.read(_KEPT):
            output.size += len(data)
            output.kept += data[: _KEPT - len(output.kept)]
            if output.too_large:
                self._kill_group()  # the remaining output is then read, and the pipe closed


def _entries(folder: str) -> list[str]:
    """Return the processes or threads listed in a folder of /proc; empty if the folder is gone."""
    try:
        return [name for name in os.listdir(folder) if name.isdecimal()]  # noqa: PTH208
    except OSError:
        return []


def _threads(process: str) -> list[str]:
    """Return the folders of a process's threads."""
    folder = f"/proc/{process}/task"
    return [f"{folder}/{thread}" for thread in _entries(folder)]


def _busy_s(thread: str) -> float:
    """Return how long a thread has run or waited for a processor, in seconds; 0 if it is gone."""
    try:
        ran, waited, _ = Path(thread, "schedstat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0.0
    return (int(ran) + int(waited)) / 1e9


def _stat(folder: str) -> list[str]:
    """Return state, parent, process group and more of a process or thread; empty if it is gone."""
    try:
        text = Path(folder, "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def ended_with(status: int) -> str:
    """Return how a process ended, such as `status 1` or `SIGSEGV`, from its Python return code."""
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"
