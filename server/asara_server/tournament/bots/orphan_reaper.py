"""Kills a runner's bots if the runner was killed and cannot end them itself.

A separate process reads a pipe from the runner. If the pipe closes without a farewell, the runner
is dead. The reaper then kills the runner's control groups, which have the runner's process number
in their names, and the reported processes with their process groups. On Linux it also kills every
process whose environment contains the runner's mark. It also removes the control groups and the
sockets.
"""

import contextlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from shutil import rmtree

from asara_server import system
from asara_server.tournament.sandbox import cgroup_end

_SEARCH_DELAYS_S = (0.0, 0.2, 1.0)
"""Seconds before each search for processes; a process may have been starting as the runner died."""
_END_S = 60.0
"""Seconds given to the processes of a control group to end."""

_FAREWELL = "over"
_VARIABLE = "ASARA_PROCESS"
_PROGRAM = """
import sys
sys.path.append(sys.argv[1])
from asara_server.tournament.bots import orphan_reaper
orphan_reaper.reap(*sys.argv[2:])
"""
_PACKAGES = Path(__file__).parents[3]

_secret = secrets.token_hex(8)


def _runner_mark() -> str:
    """Return the prefix of all marks of this process, which no other process uses."""
    return f"{_VARIABLE}={os.getpid()}-{_secret}-"


def new_mark() -> dict[str, str]:
    """Return a variable that marks a process and all its children, so that they can be found.

    The mark does not tell a bot how many processes were started before.
    """
    return {_VARIABLE: f"{_runner_mark()}{secrets.token_hex(8)}".partition("=")[2]}


def mark_of(name: str) -> str:
    """Return the mark of a process and its children from the value of its variable."""
    return f"{_VARIABLE}={name}\0"


class OrphanReaper:
    """The runner's end of the pipe. If the reaper process cannot be started, nothing is watched."""

    def __init__(self, sockets: Path | None = None, cgroups: Iterable[Path] = ()) -> None:
        """`sockets` is the sockets' directory, if there is one; it is unique to this run.

        `cgroups` are the folders in which this process creates control groups.
        """
        prefix = cgroup_end.runner_prefix(os.getpid()) if (parents := [*map(str, cgroups)]) else ""
        program = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGES)]
        try:
            self._process: subprocess.Popen[str] | None = subprocess.Popen(
                [*program, str(sockets or ""), _runner_mark(), prefix, *parents],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                text=True,
                start_new_session=True,
                creationflags=system.CREATION_FLAGS,
            )
        except OSError:
            self._process = None

    def watch(self, pid: int) -> None:
        """Report a started process."""
        self._send(f"+{pid}")

    def unwatch(self, pid: int) -> None:
        """Report that a process has ended, since the system may reuse its number."""
        self._send(f"-{pid}")

    def close(self) -> None:
        """End the reaper process without killing anything."""
        self._send(_FAREWELL)
        if self._process is not None:
            assert self._process.stdin
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _send(self, line: str) -> None:
        if self._process is not None:
            assert self._process.stdin
            with contextlib.suppress(OSError):  # the process was killed
                self._process.stdin.write(f"{line}\n")
                self._process.stdin.flush()


def reap(sockets: str, mark: str, prefix: str, *parents: str) -> None:
    """Read the pipe until it closes, then kill what is left, unless a farewell was sent."""
    watched: set[int] = set()
    for line in sys.stdin:
        message = line.strip()
        if message == _FAREWELL:
            return
        change = watched.add if message.startswith("+") else watched.discard
        change(int(message[1:]))
    for pid in watched:
        system.kill_group(pid)
        system.kill_process(pid)
    groups = partial(cgroup_end.groups_of, [Path(parent) for parent in parents], prefix)
    for delay_s in _SEARCH_DELAYS_S:
        time.sleep(delay_s)
        cgroup_end.end_groups(groups, _END_S)
        kill_marked(mark)
    if sockets:
        rmtree(sockets, ignore_errors=True)


def kill_marked(mark: str) -> list[int]:
    """Kill all processes whose environment contains the mark, and return their numbers."""
    wanted = os.fsencode(mark)
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    found = [pid for pid in found if _is_marked(pid, wanted)]
    for pid in found:
        cgroup_end.kill_if(pid, partial(_is_marked, wanted=wanted))
    return found


def _is_marked(pid: int, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - of many processes
            variables = file.read()
    except OSError:
        return False
    return variables.startswith(wanted) or b"\0" + wanted in variables
