"""Lets signals stop what a command is waiting for, and a command end with its parent."""

import asyncio
import os
import signal
import stat
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from asara_server.user_error import UserError

_Result = TypeVar("_Result")

_NICE: Final = 10
"""Niceness that a child adds to its own, so that its parent runs first."""

_HANGUP = getattr(signal, "SIGHUP", signal.SIGTERM)  # Windows has none
_SIGNALS = {signal.SIGINT, signal.SIGTERM, _HANGUP}
"""Signals that end a command: by Ctrl-C, by other programs, and by a terminal that is closed."""


@contextmanager
def on_signals(stop: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Have the running event loop call `stop` for each signal that ends a command.

    With nohup, a command outlives its terminal.
    """
    loop = asyncio.get_running_loop()
    without = {_HANGUP} if signal.getsignal(_HANGUP) is signal.SIG_IGN else set()
    heard = _SIGNALS - without

    def heed(number: signal.Signals) -> None:
        if number is _HANGUP:
            _leave_terminal()
        stop(number)

    try:
        for number in heard:
            loop.add_signal_handler(number, heed, number)
    except NotImplementedError:  # Windows
        with handlers(lambda number, _: loop.call_soon_threadsafe(stop, signal.Signals(number))):
            yield
        return
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def _leave_terminal() -> None:
    """Write to nowhere what would go to a terminal: one that is closed raises errors."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):  # isatty denies a closed one
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


@contextmanager
def handlers(handler: Callable[[int, Any], object]) -> Iterator[None]:
    """Have `handler` called for each signal that ends a command, outside an event loop."""
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


async def until_signal(work: Coroutine[Any, Any, _Result], stopped: Callable[[], str]) -> _Result:
    """Return the result of the work; a signal cancels the work and raises UserError.

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


def live_with_parent() -> None:
    """Run at a lower priority than the parent, ignore its Ctrl-C, and stop once it has ended.

    The parent's end is the end of standard input.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        while os.read(0, 4096):
            pass
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, name="parent", daemon=True).start()
