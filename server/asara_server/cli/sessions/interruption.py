"""Lets a signal end what a command awaits."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from asara_server.cli.errors import UserError

_Result = TypeVar("_Result")


async def until_signal(work: Coroutine[Any, Any, _Result], stopped: Callable[[], str]) -> _Result:
    """Return the result of the work; SIGINT or SIGTERM cancels it and raises UserError.

    `stopped` returns the text of that error.
    """
    task = asyncio.create_task(work)
    signals: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        signals.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not signals:
            raise
        raise UserError(stopped(), 128 + signals[0]) from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
