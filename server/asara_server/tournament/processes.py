"""A bot's program as a process: its environment, its output, its end.

Each process leads a session of its own, so that it can be ended together with its children and a
Ctrl-C in the organiser's terminal does not reach it. In a sandbox no child escapes, whatever
session it makes for itself: its process space ends with the program.

A process gets none of the organiser's environment but what programs need to run. What it prints,
on standard output or standard error, goes to a log of limited size; nothing it prints can harm
anybody.
"""

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from asara_server.tournament.commands import resolve_command, search_path
from asara_server.tournament.sandbox import Bounds, Enclosure, Premises, Sandbox

PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER")
"""The organiser's variables that bots inherit, besides PATH."""

STOP_S = 2.0
"""Seconds a process has between the polite signal and the one it cannot ignore."""

_DRAIN_S = 0.5
"""Seconds to wait for the output of a process that has ended; children may hold the pipe open."""

_CHUNK = 1 << 16
_PAUSE_S = 0.05
"""After each chunk beyond the log's limit, so that a bot that floods it slows down itself only."""

_LAST_BYTES = 2_000
_LAST_LINES = 5


class StartError(Exception):
    """The program could not be executed at all."""


class OutputLog:
    """What one bot printed, with the runner's own notes as lines that begin with `#`."""

    def __init__(self, path: Path, limit: int) -> None:
        """`limit` is for each file, in bytes."""
        self._limit = limit
        self._last = b""
        self._open(path)

    def _open(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        self._file: BinaryIO = path.open("ab", buffering=0)
        self._left = self._limit - self._file.tell()
        self._cut = self._left < 0

    def move(self, path: Path) -> None:
        """What is printed from now on belongs in another file."""
        self._file.close()
        self._last = b""
        self._open(path)

    @property
    def full(self) -> bool:
        return self._left <= 0

    def write(self, data: bytes) -> None:
        """Keep `data` as far as there is room, and always remember the last words."""
        self._last = (self._last + data)[-_LAST_BYTES:]
        if self._cut or self._file.closed:
            return
        self._file.write(data[: self._left])
        self._left -= len(data)
        if self._left < 0:
            self._cut = True
            self._file.write(f"\n# cut: only {self._limit:,} bytes are kept\n".encode())

    def note(self, text: str) -> None:
        """A line of the runner's own, with the time (UTC)."""
        if not (self._cut or self._file.closed):
            line = f"# {datetime.now(UTC):%H:%M:%S} {text}\n".encode()
            self._file.write(line)
            self._left -= len(line)

    def last_words(self) -> list[str]:
        """The last lines printed, safe to show on a terminal."""
        text = self._last.decode(errors="replace")
        lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
        return [line.strip() for line in lines if line.strip()][-_LAST_LINES:]

    def close(self) -> None:
        self._file.close()


def build_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of an entry's programs that do not play, but build it."""
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment["PATH"] = search_path()
    environment["PYTHONUNBUFFERED"] = "1"  # a bot that is ended leaves its last words in the log
    return {**environment, **settings}


def bot_environment(
    settings: Mapping[str, str],
    *,
    address: str,
    token: str,
    seed: int | None,
    seat: int | None = None,
) -> dict[str, str]:
    """All variables of a bot's process. `seat` is told only where it plays one match."""
    environment = build_environment(settings)
    environment |= {"ASARA_ADDRESS": address, "ASARA_TOKEN": token}
    if seed is not None:
        environment["ASARA_SEED"] = str(seed)
    if seat is not None:
        environment["ASARA_SEAT"] = str(seat)
    return environment


@dataclass(frozen=True, slots=True)
class Confinement:
    """Where a program is contained: in which sandbox, what it sees, what it may use."""

    sandbox: Sandbox
    premises: Premises
    bounds: Bounds


class BotProcess:
    """A running bot. `start` makes one."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: int,
        log: OutputLog,
        enclosure: Enclosure | None,
    ) -> None:
        self._process = process
        self._log = log
        self._enclosure = enclosure
        self._group_ended = False
        self._reader = asyncio.create_task(self._read(output))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        log: OutputLog,
        confinement: Confinement | None = None,
    ) -> "BotProcess":
        """Start the program in its directory. StartError says why the system refuses."""
        words = list(resolve_command(tuple(command), directory))
        enclosure = None
        read_end, write_end = os.pipe()
        try:
            if confinement is not None:
                enclosure = confinement.sandbox.enclose(
                    words, environment, confinement.premises, confinement.bounds
                )
            process = await asyncio.create_subprocess_exec(
                *(enclosure.command if enclosure else words),
                cwd="/" if enclosure else directory,
                env=enclosure.environment if enclosure else dict(environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                pass_fds=enclosure.descriptors if enclosure else (),
            )
        except OSError as error:
            os.close(read_end)
            if enclosure is not None:
                await enclosure.clear()
            raise StartError(f"could not be started: {_refusal(error, words[0])}") from None
        finally:
            os.close(write_end)
            if enclosure is not None:
                enclosure.started()
        log.note(f"process {process.pid}: {shlex.join(command)}")
        return cls(process, read_end, log, enclosure)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than well."""
        return bool(self._process.returncode)

    async def wait(self) -> str:
        """Wait until the process has ended and all that it printed is in the log; how it ended."""
        await self._process.wait()
        self._end_group()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        code = self._process.returncode
        assert code is not None
        if self._enclosure is None:
            return _ending(code)
        reason = self._enclosure.reason()
        await self._enclosure.clear()
        how = _ending(self._enclosure.ending(code))
        return f"{how}: {reason}" if reason else how

    async def stop(self) -> None:
        """End the process and its group: politely, then not.

        In a sandbox any signal would end its keeper, and everything in it at once.
        """
        if self.running and self._enclosure is None:
            self._signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), STOP_S)
            except TimeoutError:
                self._log.note("does not end when asked; killed")
        self._end_group()
        await self._process.wait()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        self._reader.cancel()
        if self._enclosure is not None:
            await self._enclosure.clear()

    def _end_group(self) -> None:
        """Kill whoever is in the group, once: later its number may belong to somebody else."""
        if not self._group_ended:
            self._group_ended = True
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left to hear it
            os.killpg(self._process.pid, number)

    async def _read(self, output: int) -> None:
        """Move what the process prints into its log."""
        reader = asyncio.StreamReader(limit=_CHUNK)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb", buffering=0)
        )
        try:
            while data := await reader.read(_CHUNK):
                self._log.write(data)
                if self._log.full:
                    await asyncio.sleep(_PAUSE_S)
        finally:
            transport.close()


def _refusal(error: OSError, program: str) -> str:
    """Why the system did not execute a program."""
    if isinstance(error, FileNotFoundError) and Path(program).exists():
        return "its first line names an interpreter that is not there"
    return error.strerror or str(error)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def with_last_words(what: str, lines: Sequence[str]) -> str:
    """A sentence about a process, followed by the last lines it printed."""
    return f"{what}; it printed: {' | '.join(lines)}" if lines else f"{what}; it printed nothing"
