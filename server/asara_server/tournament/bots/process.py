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
from pathlib import Path

from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.config.commands import resolve_command, search_path
from asara_server.tournament.sandbox.bubblewrap import SandboxSpec
from asara_server.tournament.sandbox.sandboxed_command import SandboxedCommand

PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER")
"""The organiser's variables that bots inherit, besides PATH."""

STOP_S = 2.0
"""Seconds a process has between the polite signal and the one it cannot ignore."""

_DRAIN_S = 0.5
"""Seconds to wait for the output of a process that has ended; children may hold the pipe open."""

_CHUNK = 1 << 16
_PAUSE_S = 0.05
"""After each chunk beyond the log's limit, so that a bot that floods it slows down itself only."""


class StartError(Exception):
    """The program could not be executed at all."""


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


class BotProcess:
    """A running bot. `start` makes one."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: int,
        log: OutputLog,
        sandboxed_command: SandboxedCommand | None,
    ) -> None:
        self._process = process
        self._log = log
        self._sandboxed_command = sandboxed_command
        self._group_ended = False
        self._reader = asyncio.create_task(self._read(output))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        log: OutputLog,
        sandbox_spec: SandboxSpec | None = None,
    ) -> "BotProcess":
        """Start the program in its directory. StartError says why the system refuses."""
        words = list(resolve_command(tuple(command), directory))
        sandboxed_command = None
        read_end, write_end = os.pipe()
        try:
            if sandbox_spec is not None:
                sandboxed_command = sandbox_spec.sandbox.enclose(
                    words, environment, sandbox_spec.view, sandbox_spec.resource_limits
                )
            process = await asyncio.create_subprocess_exec(
                *(sandboxed_command.command if sandboxed_command else words),
                cwd="/" if sandboxed_command else directory,
                env=sandboxed_command.environment if sandboxed_command else dict(environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                pass_fds=sandboxed_command.descriptors if sandboxed_command else (),
            )
        except OSError as error:
            os.close(read_end)
            if sandboxed_command is not None:
                await sandboxed_command.clear()
            raise StartError(f"could not be started: {_refusal(error, words[0])}") from None
        finally:
            os.close(write_end)
            if sandboxed_command is not None:
                sandboxed_command.started()
        log.note(f"process {process.pid}: {shlex.join(command)}")
        return cls(process, read_end, log, sandboxed_command)

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
        if self._sandboxed_command is None:
            return _ending(code)
        reason = self._sandboxed_command.reason()
        await self._sandboxed_command.clear()
        how = _ending(self._sandboxed_command.ending(code))
        return f"{how}: {reason}" if reason else how

    async def stop(self) -> None:
        """End the process and its group: politely, then not.

        In a sandbox any signal would end its keeper, and everything in it at once.
        """
        if self.running and self._sandboxed_command is None:
            self._signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), STOP_S)
            except TimeoutError:
                self._log.note("does not end when asked; killed")
        self._end_group()
        await self._process.wait()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        self._reader.cancel()
        if self._sandboxed_command is not None:
            await self._sandboxed_command.clear()

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
