"""A bot's program as a process: its environment, its output and its end.

Each process leads its own session, so that it can be ended together with its children, and so that
Ctrl-C in the organiser's terminal does not reach it. In a sandbox no child escapes, whatever
session it creates: the PID namespace ends with the program.

A process inherits only those of the organiser's variables that programs need to run. Its standard
output and standard error are written to a log of limited size.
"""

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from asara_server import process_family
from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.config.commands import resolve_command, search_path
from asara_server.tournament.sandbox.bubblewrap import SandboxSpec
from asara_server.tournament.sandbox.cgroups import Cgroup
from asara_server.tournament.sandbox.sandboxed_command import SandboxedCommand

_INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER")
"""Variables of the organiser that bots inherit, in addition to PATH."""

_TERMINATE_S = 2.0
"""Seconds between SIGTERM and SIGKILL."""

_DRAIN_S = 0.5
"""Seconds to wait for the output of a process that has ended; a child may keep the pipe open."""

_CHUNK_BYTES = 1 << 16
_FLOOD_PAUSE_S = 0.05
"""Seconds between reads once the log is full, so that a bot that floods it slows only itself."""


class StartError(Exception):
    """The system could not execute the program."""


def build_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a build of an entry."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment["PATH"] = search_path()
    environment["PYTHONUNBUFFERED"] = "1"  # so that the log is complete if the bot is killed
    return {**environment, **settings}


def bot_environment(
    settings: Mapping[str, str],
    *,
    address: str,
    token: str,
    seed: int | None,
    seat: int | None = None,
    contained: bool = False,
) -> dict[str, str]:
    """Return all variables of a bot's process.

    `seat` is for a process that plays one match. In a sandbox it is `contained`: the clients then
    refuse to write transcripts, which would be deleted.
    """
    environment = build_environment(settings)
    environment |= {"ASARA_ADDRESS": address, "ASARA_TOKEN": token}
    if seed is not None:
        environment["ASARA_SEED"] = str(seed)
    if seat is not None:
        environment["ASARA_SEAT"] = str(seat)
    if contained:
        environment["ASARA_CONTAINED"] = "1"
    return environment


class BotProcess:
    """A running bot or build. `start` creates one."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: int,
        log: OutputLog,
        sandboxed: SandboxedCommand | None,
    ) -> None:
        """`output` is the descriptor of the pipe that the process writes to."""
        self._process = process
        self._log = log
        self._sandboxed = sandboxed
        self._group_killed = False
        self._reader = asyncio.create_task(self._read(output))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        log: OutputLog,
        sandbox: SandboxSpec | None = None,
    ) -> "BotProcess":
        """Start the program in its directory. Raises StartError if the system refuses it."""
        argv = list(resolve_command(tuple(command), directory))
        program = argv[0]
        sandboxed = None
        descriptors: tuple[int, ...] = ()
        read_end, write_end = os.pipe()
        no_input = _empty_pipe()
        try:
            if sandbox is not None:
                sandboxed = sandbox.wrap(argv, environment)
                argv, environment = sandboxed.argv, sandboxed.environment
                descriptors = sandboxed.descriptors
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd="/" if sandboxed else directory,
                env=dict(environment),
                stdin=no_input,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                pass_fds=descriptors,
            )
        except OSError as error:
            os.close(read_end)
            if sandboxed is not None:
                await sandboxed.clean_up()
            raise StartError(f"could not be started: {_refusal(error, program)}") from None
        finally:
            os.close(write_end)
            os.close(no_input)
            if sandboxed is not None:
                sandboxed.close_descriptors()
        log.note(f"process {process.pid}: {shlex.join(command)}")
        return cls(process, read_end, log, sandboxed)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    @property
    def failed(self) -> bool:
        """True if it exited with a non-zero status or was killed."""
        return bool(self._process.returncode)

    def memory_peak(self) -> int | None:
        """Return the most bytes of memory that it and its children have used at once.

        None if no control group counts them.
        """
        return self._sandboxed.memory_peak() if self._sandboxed else None

    @property
    def group(self) -> Cgroup | None:
        """The control group of it and its children; None if there is none."""
        return self._sandboxed.cgroup if self._sandboxed else None

    def processor_ns(self) -> int | None:
        """Return the processor time that it has used, in nanoseconds; None if that is not known.

        With a control group, the time of all its children is included, of others none.
        """
        if self._sandboxed is not None:
            return self.group_ns()
        if sys.platform != "linux" or not self.running:
            return None
        try:
            return process_family.processor_ns(self.pid)
        except OSError:
            return None

    async def forget(self) -> None:
        """Drop what it left in the kernel's caches, where another process could recognise it.

        Has no effect without a control group.
        """
        if self._sandboxed is not None:
            await self._sandboxed.forget()

    @property
    def contained(self) -> bool:
        """True if it runs in a sandbox."""
        return self._sandboxed is not None

    def group_ns(self) -> int | None:
        """Return the processor time that its control group has counted, in nanoseconds.

        None without a control group.
        """
        return self._sandboxed.processor_ns() if self._sandboxed else None

    async def wait(self) -> str:
        """Return how the process ended, once it has and its output is in the log."""
        status = await self._process.wait()
        self._kill_group()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        if self._sandboxed is None:
            return _describe_status(status)
        limit = self._sandboxed.exceeded_limit()
        await self._sandboxed.clean_up()
        ending = _describe_status(self._sandboxed.program_status(status))
        return f"{ending}: {limit}" if limit else ending

    async def stop(self) -> None:
        """End the process and its group, first with SIGTERM, then with SIGKILL.

        A sandbox is killed at once: any signal would end bubblewrap and everything in it.
        """
        if self.running and self._sandboxed is None:
            self._signal_group(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), _TERMINATE_S)
            except TimeoutError:
                self._log.note("did not end on SIGTERM; killed")
        self._kill_group()
        await self._process.wait()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        self._reader.cancel()
        if self._sandboxed is not None:
            await self._sandboxed.clean_up()

    def _kill_group(self) -> None:
        """Kill the process group, once only: later its number may belong to another group."""
        if not self._group_killed:
            self._group_killed = True
            if self.group is not None:
                with contextlib.suppress(OSError):
                    self.group.thaw()  # in version 1, a frozen process ignores the signal
            self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is empty
            os.killpg(self._process.pid, number)

    async def _read(self, output: int) -> None:
        """Copy what the process prints to its log."""
        reader = _NotingReader(self._log)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb", buffering=0)
        )
        try:
            while data := await reader.read(_CHUNK_BYTES):
                self._log.write(data)
                if self._log.full:
                    await asyncio.sleep(_FLOOD_PAUSE_S)
        finally:
            transport.close()


class _NotingReader(asyncio.StreamReader):
    """Tells the log of all output as soon as it has come, which is before the reply after it."""

    def __init__(self, log: OutputLog) -> None:
        super().__init__(limit=_CHUNK_BYTES)
        self._log = log

    def feed_data(self, data: Any) -> None:
        self._log.arrive(len(data))
        super().feed_data(data)


def _empty_pipe() -> int:
    """Return the end of a pipe that holds nothing and never will.

    It is the standard input of a bot. /dev/null would be the machine's own, whose times and
    permissions its owner can change: in a sandbox, too.
    """
    read_end, write_end = os.pipe()
    os.close(write_end)
    return read_end


def _refusal(error: OSError, program: str) -> str:
    """Return why the system did not execute a program."""
    if isinstance(error, FileNotFoundError) and Path(program).exists():
        return "its first line names an interpreter that does not exist"
    return error.strerror or str(error)


def _describe_status(status: int) -> str:
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
