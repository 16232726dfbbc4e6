"""Lets signals stop the work that a command is waiting for."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from asara_server.cli.errors import UserError

_Result = TypeVar("_Result")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_signals(stop: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Have the running event loop call `stop` for each SIGINT or SIGTERM within the context."""
    loop = asyncio.get_running_loop()
    try:
        for number in _SIGNALS:
            loop.add_signal_handler(number, stop, number)
    except NotImplementedError:  # Windows
        with _handlers(lambda number, _: loop.call_soon_threadsafe(stop, signal.Signals(number))):
            yield
        return
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


@contextmanager
def _handlers(handler: Callable[[int, Any], object]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


async def until_signal(work: Coroutine[Any, Any, _Result], stopped: Callable[[], str]) -> _Result:
    """Return the result of the work; SIGINT or SIGTERM cancels the work and raises UserError.

    `stopped` returns the text of the error.
    """
    task = asyncio.create_task(work)
    signals: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        signals.append(number)
        task.cancel()

    try:
        with on_signals(stop):
            return await task
    except asyncio.CancelledError:
        if not signals:
            raise
        raise UserError(stopped(), 128 + signals[0]) from None
