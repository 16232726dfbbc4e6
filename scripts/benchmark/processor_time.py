"""The wall time and processor time of a command, including all its descendants.

A process's usage includes only children that it has waited for. Most of a contained bot is missing
there, because a sandbox's PID namespace ends without waiting for its processes. A control group
counts all processes.
"""

import os
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from scripts.benchmark.figures import BenchError

_ROOT: Final = Path("/sys/fs/cgroup")
_EMPTY_S: Final = 5.0
"""Seconds for killed processes to disappear."""
_LAST_LINES: Final = 15

_numbers = count(1)


class Usage(NamedTuple):
    """What a command used, and what it printed."""

    seconds: float
    cpu_s: float
    printed: str


def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Usage:
    """Run a command to its end. If it fails, raise BenchError with its last lines of output."""
    with _group() as group:
        before_s = group.cpu_s()
        began = time.perf_counter()
        try:
            done = subprocess.run(
                group.entered_by(command),
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BenchError(f"{command[0]} took more than {timeout_s:g} s") from None
        except OSError as error:
            raise BenchError(f"{command[0]}: {error.strerror}") from None
        seconds = time.perf_counter() - began
        group.wait_until_empty()
        used_s = group.cpu_s() - before_s
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-_LAST_LINES:])
        raise BenchError(f"{command[0]} ended with status {done.returncode}:\n{last}")
    return Usage(seconds, used_s, done.stdout)


def counts_all() -> bool:
    """Return False if, without control groups, contained bots are only partly counted."""
    with _group() as group:
        return type(group) is not _Children


class _Children:
    """Without a control group: children that were waited for, and their own waited-for children."""

    def entered_by(self, command: Sequence[str]) -> list[str]:
        return list(command)

    def cpu_s(self) -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def wait_until_empty(self) -> None:
        """Return immediately: there is nothing to wait for."""


class _OwnGroup(_Children):
    """This process's version 2 group, in which the benchmark itself idles during the command.

    A new group inside it could not pass its controllers on to the groups of contained bots.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "cpu.stat"

    def cpu_s(self) -> float:
        for line in self._file.read_text().splitlines():
            name, value = line.split()
            if name == "usage_usec":
                return int(value) / 1e6
        raise BenchError(f"{self._file} has no usage_usec")


class _NewGroup(_Children):
    """A group for the command in the version 1 `cpuacct` hierarchy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def entered_by(self, command: Sequence[str]) -> list[str]:
        enter = 'echo $$ >"$0" && exec "$@"'
        return ["sh", "-c", enter, str(self._folder / "cgroup.procs"), *command]

    def cpu_s(self) -> float:
        return int((self._folder / "cpuacct.usage").read_text()) / 1e9

    def wait_until_empty(self) -> None:
        deadline = time.monotonic() + _EMPTY_S
        while (self._folder / "cgroup.procs").read_text():
            if time.monotonic() > deadline:
                raise BenchError(f"processes are left in {self._folder}")
            time.sleep(0.01)

    def remove(self) -> None:
        with suppress(OSError):
            self._folder.rmdir()


@contextmanager
def _group() -> Iterator[_Children]:
    """Yield the best group that this user can create."""
    paths = _own_paths()
    version_1 = paths.get("cpuacct")
    version_2 = _ROOT / paths.get("", "/").lstrip("/")
    if version_1 is not None:
        parent = _ROOT / "cpuacct" / version_1.lstrip("/")
        folder = parent / f"asara-bench-{os.getpid()}-{next(_numbers)}"
        with suppress(OSError):
            folder.mkdir()
        if folder.is_dir():
            group = _NewGroup(folder)
            try:
                yield group
            finally:
                group.remove()
            return
    if (version_2 / "cpu.stat").exists():
        yield _OwnGroup(version_2)
    else:
        yield _Children()


def _own_paths() -> dict[str, str]:
    """Return the path of this process's group by controller; the key "" is version 2."""
    paths: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            paths |= dict.fromkeys(controllers.split(","), path)
    return paths
