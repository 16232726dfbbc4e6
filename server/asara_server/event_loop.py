"""The event loop and the garbage collection of a busy process."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Final, TypeVar

T = TypeVar("T")

_COLLECT_AFTER: Final = (50_000, 20, 100)
"""Thresholds of the collector. Matches leave no reference cycles; Python's default thresholds cost
a seventh of the referee's processor time."""


def seldom_collect() -> None:
    """Make the garbage collector run rarely in this process."""
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a uvloop event loop if available, which takes less time per message."""
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
