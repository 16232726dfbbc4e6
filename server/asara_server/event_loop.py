"""How a process runs that has much to do: its event loop, and how it collects garbage."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Final, TypeVar

T = TypeVar("T")

#: Matches leave no reference cycles behind; looking for some as often as Python does by itself
#: takes a seventh of the referee's work.
_COLLECT_AFTER: Final = (50_000, 20, 100)


def seldom_collect() -> None:
    """From now on the process seldom looks for garbage."""
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """One of uvloop where there is one: it takes less time per message."""
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(main: Coroutine[None, None, T]) -> T:
    """Like `asyncio.run`, on `new_event_loop`. Calls `seldom_collect`."""
    seldom_collect()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
