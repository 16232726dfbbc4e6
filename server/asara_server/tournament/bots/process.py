"""Runs a bot's program as a process, with its environment and output, and ends it.

Each process leads its own session, so that Ctrl-C in the organiser's terminal does not reach it.
All its children end with it. In a sandbox they end with the control group, or else with the first
process of the PID namespace. Without a sandbox they are found by a variable in their environment.
The end is checked, because the kernel may not let a process end.

A process inherits only the organiser's variables that programs need to run. Its standard output and
standard error are written to a log of limited size.
"""

import asyncio
import contextlib
import errno
import os
import shlex
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from asara_server import process_family, system
from asara_server.event_loop import read_pipe
from asara_server.tournament.bots.orphan_reaper import OrphanReaper, kill_marked, mark_of, new_mark
from asara_server.tournament.bots.output import OutputLog
from asara_server.tournament.config.commands import resolve_command, search_path
from asara_server.tournament.sandbox.bubblewrap import SandboxedCommand, SandboxSpec
from asara_server.tournament.sandbox.cgroups import Cgroup
from asara_server.user_error import UserError

_INHERITED = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER"),
    *("COMSPEC", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"),  # Windows
)
"""Variables of the organiser that bots inherit, in addition to PATH."""

_TERMINATE_S = 2.0
"""Seconds between SIGTERM and SIGKILL."""

_END_S = 10.0
"""Seconds given to processes to end after SIGKILL."""

_KILL_PAUSES_S = (0.004, 0.05)
"""Seconds between checks on killed processes: the first pause, and the longest."""

_DRAIN_S = 0.5
"""Seconds to wait for the output of ended processes; another process may still hold the pipe."""

_CHUNK_BYTES = 1 << 16
_FLOOD_PAUSE_S = 0.05
"""Seconds between reads once the log is full, so that a flooding bot slows only itself."""


_SHORTAGES = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC})
"""Errors that mean this machine has run out of a resource."""


class StartError(Exception):
    """The system could not execute the program; the text gives the reason."""


class MachineError(UserError):
    """This machine could not run a program, through no fault of the program.

    The text gives the reason.
    """

    status = 1


def start_failure(error: OSError, why: str, *, machine: bool = False) -> StartError | MachineError:
    """Return the exception to raise if a program does not start because of this error.

    The fault is the machine's if `machine` is set or a resource ran out, and otherwise the
    program's.
    """
    if machine or error.errno in _SHORTAGES:
        return MachineError(f"this machine did not start a bot: {error.strerror or error}")
    return StartError(f"could not be started: {why}")


def build_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for the build of an entry."""
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
    """Return all environment variables of a bot's process.

    `seat` is set for a process that plays only one match. In a sandbox, `contained` is set: clients
    then refuse to write transcripts, because transcripts would be deleted.
    """
    environment = build_environment(settings)
    environment |= {"ASARA_ADDRESS": address, "ASARA_TOKEN": token}
    environment.setdefault("PYTHONFAULTHANDLER", "1")  # a crash of native code prints its line
    if seed is not None:
        environment["ASARA_SEED"] = str(seed)
    if seat is not None:
        environment["ASARA_SEAT"] = str(seat)
    if contained:
        environment["ASARA_CONTAINED"] = "1"
    return environment


class BotProcess:
    """A running bot or build. Use `start` to create one."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        mark: Mapping[str, str],
        output: int,
        log: OutputLog,
        sandboxed: SandboxedCommand | None,
        reaper: OrphanReaper | None,
    ) -> None:
        """`mark` is in its environment; `output` is the descriptor of the pipe it writes to."""
        self._process = process
        (self.name,) = mark.values()
        """Unique among all processes on all machines."""
        self._log = log
        self._sandboxed = sandboxed
        self._reaper = reaper
        self._watched = [process.pid]
        if reaper is not None:
            reaper.watch(process.pid)
            self._watch_first(reaper)
        self._group_killed = False
        self.machine_failure = ""
        """Why it ended before the program began, through no fault of the program; usually ""."""
        self._over = asyncio.Event()
        self._exit = asyncio.create_task(process.wait())
        self._exit.add_done_callback(lambda _: self._over.set())
        self._end: asyncio.Task[tuple[int, ...]] | None = None
        self._reader = asyncio.create_task(self._read(output))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        log: OutputLog,
        sandbox: SandboxSpec | None = None,
        reaper: OrphanReaper | None = None,
    ) -> "BotProcess":
        """Start the program in its directory; if this process is killed, the `reaper` ends the
        program.

        Raises StartError if the system refuses the program, and MachineError if resources ran out.
        """
        mark = new_mark()
        argv = list(resolve_command(tuple(command), directory))
        program = argv[0]
        sandboxed = None
        descriptors: tuple[int, ...] = ()
        async with contextlib.AsyncExitStack() as unless_started:
            try:
                with contextlib.ExitStack() as once_inherited:
                    read_end, write_end = os.pipe()
                    unless_started.callback(os.close, read_end)
                    once_inherited.callback(os.close, write_end)
                    no_input = _empty_pipe()
                    once_inherited.callback(os.close, no_input)
                    if sandbox is not None:
                        sandboxed = sandbox.wrap(argv, environment)
                        unless_started.push_async_callback(sandboxed.clean_up)
                        once_inherited.callback(sandboxed.close_descriptors)
                        argv, environment = sandboxed.argv, sandboxed.environment
                        descriptors = sandboxed.descriptors
                    process = await asyncio.create_subprocess_exec(
                        *argv,
                        cwd="/" if sandboxed else directory,
                        env={**environment, **mark},
                        stdin=no_input,
                        stdout=write_end,
                        stderr=write_end,
                        start_new_session=True,
                        creationflags=system.CREATION_FLAGS,
                        pass_fds=descriptors,
                    )
            except OSError as error:
                # In the sandbox, no code of the bot has run by then.
                raise start_failure(
                    error, _refusal(error, program), machine=sandbox is not None
                ) from None
            unless_started.pop_all()
        log.note(f"process {process.pid}: {shlex.join(command)}")
        return cls(process, mark, read_end, log, sandboxed, reaper)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    @property
    def contained(self) -> bool:
        """True if it runs in the sandbox."""
        return self._sandboxed is not None

    @property
    def failed(self) -> bool:
        """True if it exited with a non-zero status or was killed."""
        return bool(self._process.returncode)

    def memory_peak(self) -> int | None:
        """Return the peak memory of the process and its children, in bytes; None if unknown.

        Without a control group, it is known only while the process is running.
        """
        counted = self._sandboxed.usage().memory_peak if self._sandboxed else None
        return counted or (process_family.memory_peak(self.pid) if self.running else None)

    @property
    def group(self) -> Cgroup | None:
        """The control group of the process and its children; None if there is none."""
        return self._sandboxed.cgroup if self._sandboxed else None

    def processor_ns(self) -> int | None:
        """Return the processor time used so far, in nanoseconds, including that of all children.

        None if no control group counts it.
        """
        return self._sandboxed.usage().processor_ns if self._sandboxed else None

    async def wait(self) -> str:
        """Wait until the process has ended and its output is in the log; return how it ended.

        Its children have ended too, except for the processes that `stop` returns.
        """
        await self._over.wait()
        await self._ended()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        if self.running:
            return "could not be ended"
        status = await self._exit
        if self._sandboxed is None:
            return _describe_status(status)
        limit = self._sandboxed.exceeded_limit()
        ending = _describe_status(self._sandboxed.program_status(status))
        if self._sandboxed.sandbox_failed:  # so far, only the sandbox has printed anything
            words = (self._log.last_lines() or [ending])[-1]
            self.machine_failure = f"the sandbox did not start: {words}"
        return f"{ending}: {limit}" if limit else ending

    async def stop(self) -> tuple[int, ...]:
        """End the process and its children; return the processes that the kernel does not let end.

        Without a sandbox, SIGTERM comes before SIGKILL. A sandbox gets SIGKILL immediately, because
        any signal would end bubblewrap and everything in it.
        """
        if self.running and self._sandboxed is None:
            system.signal_group(self.pid, signal.SIGTERM)
            await asyncio.wait([self._exit], timeout=_TERMINATE_S)
            if self.running:
                self._log.note("did not end on SIGTERM; killed")
        survivors = await self._ended()
        await asyncio.wait([self._reader], timeout=_DRAIN_S)
        self._reader.cancel()
        return survivors

    async def _ended(self) -> tuple[int, ...]:
        if self._end is None:
            self._end = asyncio.create_task(self._kill_all())
        return await asyncio.shield(self._end)

    async def _kill_all(self) -> tuple[int, ...]:
        """Kill all its processes repeatedly until none is left; return any survivors."""
        if self._sandboxed is not None and self._sandboxed.first is not None:
            asyncio.get_running_loop().remove_reader(self._sandboxed.first.message)
        deadline = time.monotonic() + _END_S
        pause_s, longest_s = _KILL_PAUSES_S
        while (left := await self._kill_rest()) and time.monotonic() < deadline:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)
        if self._sandboxed is not None:
            await self._sandboxed.clean_up()
        if left:
            self._log.note(survival(left))
        elif self._reaper is not None:
            for pid in self._watched:
                self._reaper.unwatch(pid)
        self._over.set()
        return tuple(left)

    async def _kill_rest(self) -> list[int]:
        """Kill all its processes once, and return the processes that are still alive."""
        left = {self.pid} if self.running else set()
        if not self._group_killed:  # once it has ended, its number may become another group's
            self._group_killed = not self.running
            system.kill_group(self.pid)
        rest = self._sandboxed.kill() if self._sandboxed is not None else None
        if rest is None:
            rest = await asyncio.to_thread(kill_marked, mark_of(self.name))
        return sorted(left.union(rest))

    def _watch_first(self, reaper: OrphanReaper) -> None:
        """If the sandbox ends through the first process of its PID namespace, watch that process
        too.
        """
        first = self._sandboxed.first if self._sandboxed is not None else None
        if first is None:
            return
        loop, message = asyncio.get_running_loop(), first.message

        def learn() -> None:
            pid = first.learn()
            if pid is not None:
                loop.remove_reader(message)
            if pid:
                self._watched.append(pid)
                reaper.watch(pid)

        loop.add_reader(message, learn)

    async def _read(self, output: int) -> None:
        """Copy the process's output to its log."""
        if not system.UNIX:  # on systems whose event loop cannot wait for such a pipe
            await _copied_by_thread(output, self._log)
            return
        copying = _Copying(self._log)
        transport = await read_pipe(output, lambda: copying)
        try:
            await copying.ended.wait()
        finally:
            transport.close()


async def _copied_by_thread(output: int, log: OutputLog) -> None:
    """Copy a pipe to a log, like `_read`, in a thread that ends when the pipe closes."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    async def take(data: bytes) -> None:
        log.write(data)
        if log.full:
            await asyncio.sleep(_FLOOD_PAUSE_S)

    def copy() -> None:
        with os.fdopen(output, "rb", buffering=0) as pipe, contextlib.suppress(RuntimeError):
            while data := pipe.read(_CHUNK_BYTES):
                asyncio.run_coroutine_threadsafe(take(data), loop).result()
            loop.call_soon_threadsafe(ended.set)  # a RuntimeError means that the loop is closed

    threading.Thread(target=copy, name="output", daemon=True).start()
    await ended.wait()


class _Copying(asyncio.Protocol):
    """Writes output to the log as soon as it arrives, before the reply that follows it."""

    def __init__(self, log: OutputLog) -> None:
        self._log = log
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pipe = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._log.write(data)
        if self._log.full:
            self._pipe.pause_reading()
            asyncio.get_running_loop().call_later(_FLOOD_PAUSE_S, self._resume)

    def _resume(self) -> None:
        if not self._pipe.is_closing():
            self._pipe.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


def survival(processes: Sequence[int]) -> str:
    """Return a sentence about processes that `BotProcess.stop` could not end."""
    names = ", ".join(map(str, processes))
    return f"killed, but still there after {_END_S:g} s, held by the kernel: process {names}"


def _empty_pipe() -> int:
    """Return the read end of an empty pipe that nothing will ever be written to.

    Bots get it as standard input. /dev/null would be the machine's own device: its owner can change
    its times and permissions, even from inside a sandbox.
    """
    read_end, write_end = os.pipe()
    os.close(write_end)
    return read_end


def _refusal(error: OSError, program: str) -> str:
    """Return the reason why the system did not execute a program."""
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
