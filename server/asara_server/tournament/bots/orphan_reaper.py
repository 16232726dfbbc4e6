"""Kills the bots of a runner that was killed and so cannot end them itself.

A separate process reads a pipe from the runner. If the pipe closes without a farewell, the runner
is dead. The process then thaws the control groups that the runner reported, kills the process
groups that it reported and, on Linux, every process that was started with one of the reported
addresses. It also removes the control groups and the sockets. This file is its program as well, and
imports nothing of the package.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

_SEARCH_DELAYS_S = (0.0, 0.2, 1.0)
"""Seconds before each search for processes; one may have been starting as the runner died."""

_REMOVAL_S = 2.0
_REMOVAL_INTERVAL_S = 0.01

_FAREWELL = "over"


class OrphanReaper:
    """The runner's end of the pipe. If the process cannot be started, nothing is watched."""

    def __init__(self, sockets: Path | None = None) -> None:
        """`sockets` is the directory of the sockets, if any; it is unique to this run."""
        try:
            self._process: subprocess.Popen[str] | None = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(sockets or "")],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                text=True,
                start_new_session=True,
            )
        except OSError:
            self._process = None

    def watch(self, group: int) -> None:
        """Report the process group of a bot that was started."""
        self._send(f"+{group}")

    def unwatch(self, group: int) -> None:
        """Report that a group has ended; its number may come to belong to another one."""
        self._send(f"-{group}")

    def watch_control_group(self, folders: Sequence[Path]) -> None:
        """Report the folders of the control group of a bot that was started."""
        for folder in folders:
            self._send(f"*{folder}")

    def unwatch_control_group(self, folders: Sequence[Path]) -> None:
        """Report that a control group is gone."""
        for folder in folders:
            self._send(f"/{folder}")

    def watch_address(self, address: str) -> None:
        """Report the address of a bot that is about to be started."""
        self._send(f"@{address}")

    def unwatch_address(self, address: str) -> None:
        """Report that no process of this address is left."""
        self._send(f"!{address}")

    def close(self) -> None:
        """End the process without killing anything."""
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


def _reap(sockets: str) -> None:
    """Read the pipe until it closes, and kill what is left unless a farewell was sent."""
    groups: set[int] = set()
    addresses: set[str] = set()
    folders: set[str] = set()
    for line in sys.stdin:
        message = line.strip()
        if message == _FAREWELL:
            return
        if message.startswith("+"):
            groups.add(int(message[1:]))
        elif message.startswith("-"):
            groups.discard(int(message[1:]))
        elif message.startswith("*"):
            folders.add(message[1:])
        elif message.startswith("/"):
            folders.discard(message[1:])
        elif message.startswith("@"):
            addresses.add(message[1:])
        else:
            addresses.discard(message[1:])
    _thaw(folders)  # a process that is frozen may ignore the signal
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    if addresses:
        for delay_s in _SEARCH_DELAYS_S:
            time.sleep(delay_s)
            for pid in _started_with(addresses):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
    if sockets:
        shutil.rmtree(sockets, ignore_errors=True)
    _remove(folders)


def _thaw(folders: Iterable[str]) -> None:
    """Let the processes of these control groups run; see `FreezerFile`."""
    for folder in folders:
        for name, thawed in (("cgroup.freeze", "0"), ("freezer.state", "THAWED")):
            with contextlib.suppress(OSError), Path(folder, name).open("r+") as file:
                file.write(thawed)


def _remove(folders: set[str]) -> None:
    """Remove these control groups once their processes, which were killed, are gone."""
    deadline = time.monotonic() + _REMOVAL_S
    while folders and time.monotonic() < deadline:
        for folder in list(folders):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
            if not Path(folder).exists():
                folders.discard(folder)
        time.sleep(_REMOVAL_INTERVAL_S)


def _started_with(addresses: set[str]) -> list[int]:
    """Return the processes whose environment names one of these addresses as their referee's."""
    wanted = {f"ASARA_ADDRESS={address}".encode() for address in addresses}
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if not wanted.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    _reap(sys.argv[1])
