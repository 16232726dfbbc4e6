"""Waiting for events. A test never sleeps for a time in which something should have happened.

What is waited for may read files of a running process: a file that does not exist, or that is
removed while it is read, means "not yet".
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

EVENT_S: Final = 240.0
"""Seconds after which any test gives up waiting, however busy the machine is."""

_POLL_S: Final = 0.02


def wait_until(what: str, holds: Callable[[], T]) -> T:
    """Wait until this returns something true, and return that."""
    deadline = time.monotonic() + EVENT_S
    while not (found := _now(holds)):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(_POLL_S)
    return found


async def until(condition: Callable[[], T]) -> T:
    """Wait until this returns something true while the event loop runs, and return that."""
    async with asyncio.timeout(EVENT_S):
        while not (found := _now(condition)):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
        return found


async def turns(number: int = 20) -> None:
    """Let the event loop turn, so that all that is ready has happened."""
    for _ in range(number):
        await asyncio.sleep(0)


def _now(holds: Callable[[], T]) -> T | None:
    try:
        return holds()
    except FileNotFoundError:
        return None
