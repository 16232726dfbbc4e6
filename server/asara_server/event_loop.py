"""The event loop and the garbage collector settings of a process under heavy load."""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Final, TypeVar

T = TypeVar("T")

_THRESHOLDS: Final = (50_000, 20, 100)
"""Thresholds of the garbage collector. Matches leave no reference cycles. With Python's default
thresholds, the search for cycles takes a seventh of the referee's time."""


def seldom_collect() -> None:
    """Make this process's garbage collector search for reference cycles less often."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a uvloop event loop if uvloop is installed, because it takes less time per message."""
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(main: Coroutine[None, None, T]) -> T:
    """Run a coroutine like `asyncio.run`, on `new_event_loop` and with `seldom_collect`."""
    seldom_collect()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


async def read_pipe(
    descriptor: int, protocol: Callable[[], asyncio.BaseProtocol]
) -> asyncio.BaseTransport:
    """Have the running loop read a pipe, and close the descriptor exactly once at the end.

    uvloop closes the descriptor first, and then the file object that it was given. Between the two,
    another thread may have opened something with the same number: a socket, or the journal.
    """
    loop = asyncio.get_running_loop()
    closes_file = isinstance(loop, asyncio.BaseEventLoop)
    pipe = open(descriptor, "rb", buffering=0, closefd=closes_file)  # noqa: ASYNC230, SIM115
    transport, _ = await loop.connect_read_pipe(protocol, pipe)
    return transport
