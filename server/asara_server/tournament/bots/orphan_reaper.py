"""Ends the bots of a runner that was killed: it cannot do so itself any more.

A process of its own reads a pipe from the runner. Where the pipe ends without a word, the runner is
dead: the guardian kills the process groups that it was told of, and on Linux every process that was
started with the address of this run, and removes the socket. This file is also its program; it
imports nothing of the package.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_LOOKS_S = (0.0, 0.2, 1.0)
"""Pauses before each look for processes: one may just be starting while the runner dies."""

_FAREWELL = "over"


class OrphanReaper:
    """The runner's side. It does without where no guardian can be started."""

    def __init__(self, address: str) -> None:
        """`address` is that of the referee, and of no other one."""
        try:
            self._process: subprocess.Popen[str] | None = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, address],
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
        """A bot was started, which leads this process group."""
        self._tell(f"+{group}")

    def forget(self, group: int) -> None:
        """The group is no more; its number may come to belong to somebody else."""
        self._tell(f"-{group}")

    def dismiss(self) -> None:
        """No bot is left."""
        self._tell(_FAREWELL)
        if self._process is not None:
            assert self._process.stdin
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _tell(self, line: str) -> None:
        if self._process is not None:
            assert self._process.stdin
            with contextlib.suppress(OSError):  # it was killed; there is no other to tell
                self._process.stdin.write(f"{line}\n")
                self._process.stdin.flush()


def _guard(address: str) -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        word = line.strip()
        if word == _FAREWELL:
            return
        if word.startswith("+"):
            groups.add(int(word[1:]))
        else:
            groups.discard(int(word[1:]))
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for pause_s in _LOOKS_S:
        time.sleep(pause_s)
        for pid in _started_with(address):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    if address.startswith("unix:"):
        socket = Path(address.removeprefix("unix:"))
        with contextlib.suppress(OSError):
            socket.unlink()
            socket.parent.rmdir()


def _started_with(address: str) -> list[int]:
    """Processes whose environment says that this is their referee."""
    wanted = f"ASARA_ADDRESS={address}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    _guard(sys.argv[1])
