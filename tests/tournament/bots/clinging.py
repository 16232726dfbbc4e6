"""A bot that is hard to end. It prints "clings" once all its processes are there.

It blocks signals, and its children are in sessions of their own, have no living parent, are stopped
or have closed nothing. With "exit" it ends itself and leaves the others behind.
"""

import os
import signal
import sys
from collections.abc import Callable


def start(what: Callable[[], object]) -> None:
    """Start a child that does this and then stays."""
    if os.fork() == 0:
        what()
        os.write(there, b".")
        stay()


def stay() -> None:
    while True:
        signal.pause()


def leave_twice() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.setsid()


def stop() -> None:
    os.write(there, b".")
    os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    arrivals, there = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    children = (lambda: None, os.setsid, leave_twice, stop)
    for child in children:
        start(child)
    for _ in children:
        os.read(arrivals, 1)
    print("clings", flush=True)
    if "exit" not in sys.argv:
        stay()
