"""Processes of this machine, and what a test waits for."""

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def living_in(folder: Path) -> list[int]:
    """Processes whose working directory is this folder, as that of the bots of a tournament."""
    return [pid for pid in running_processes() if _working_directory(pid) == folder]


def children(pid: int, mark: str) -> list[int]:
    """Children of a process that have the mark in their command line."""
    found = []
    for other in running_processes():
        try:
            parent = int(_stat_fields(Path(f"/proc/{other}/stat"))[1])
            words = Path(f"/proc/{other}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if parent == pid and mark in words:
            found.append(other)
    return found


def is_in_tree(pid: int, root: int) -> bool:
    """Return True if a process is `root` or descends from it; False if it has ended."""
    while pid > 1 and pid != root:
        try:
            pid = int(_stat_fields(Path(f"/proc/{pid}/stat"))[1])
        except OSError:
            return False
    return pid == root


def running_processes() -> list[int]:
    """All processes except zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if _stat_fields(path)[0] != "Z":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def die_while_returning(_job: object) -> bytes:
    """Kill this process of a pool when half of the result of its job has been sent."""
    whole = bytes(1_000_000)
    send: Any = Connection._send  # type: ignore[attr-defined]

    def send_half(self: Connection, data: bytes, *rest: Any) -> None:
        if len(data) > len(whole):
            send(self, data[: len(whole) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        send(self, data, *rest)

    Connection._send = send_half  # type: ignore[attr-defined]
    return whole


def _stat_fields(path: Path) -> list[str]:
    """The fields after the name: the state, the parent, and more."""
    return path.read_text().rpartition(")")[2].split()


def _working_directory(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None
