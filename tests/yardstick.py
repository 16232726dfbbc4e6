"""Processor time in units that mean the same on every machine: loops of this process."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(loops: float) -> Iterator[None]:
    """Fail if the context takes more processor time than this many reference loops.

    A loop takes some 40 ms on a slow core.
    """
    began = time.process_time()
    yield
    took = (time.process_time() - began) / loop_s()
    assert took < loops, f"as long as {took:.1f} reference loops"


def loop_s() -> float:
    """Seconds of processor time that a reference loop takes in this process."""
    began = time.process_time()
    total = 0
    for number in range(500_000):
        total += number % 7
    return time.process_time() - began
