"""Waiting for events. A test never sleeps for a time in which something should have happened."""

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
    while not (found := holds()):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(_POLL_S)
    return found


async def until(condition: Callable[[], T]) -> T:
    """Wait until this returns something true while the event loop runs, and return that."""
    async with asyncio.timeout(EVENT_S):
        while not (found := condition()):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
        return found


async def turns(number: int = 20) -> None:
    """Let the event loop turn, so that all that is ready has happened."""
    for _ in range(number):
        await asyncio.sleep(0)
