"""Thinking while other seats decide."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from asara_game.state import State

from .search_base import Search

__all__ = ["Ponderer"]

_HEAD_START_S: Final = 0.003
"""Time in which a reply is sent before the pondering begins."""
_SWITCH_S: Final = 0.0005
"""Longest wait of the main thread for the interpreter, beyond the present playout."""


class Ponderer:
    """Prepares the next decision of a search in a thread of its own, between `start` and `stop`.

    The thread lets others run after every playout, so a message is read, and `stop` returns, after
    a playout at most. It ends with the process.
    """

    def __init__(self, search: Search, seat: int, rng: random.Random) -> None:
        self._search = search
        self._seat = seat
        self._rng = rng
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._switch_s = 0.0

    def start(self, sample: Callable[[random.Random], State]) -> None:
        """Ponder until `stop` is called.

        `sample` returns another world at each call, from the generator that it is passed, in which
        the seat has replied. Nothing is done in worlds in which it decides again at once.
        """
        self.stop()
        self._stopping.clear()
        self._thread = threading.Thread(
            target=self._ponder, args=(sample,), name="ponder", daemon=True
        )
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        self._thread.start()

    def stop(self) -> None:
        """End the pondering; return when the search is not used any more."""
        thread = self._thread
        if thread is None:
            return
        self._stopping.set()
        thread.join()
        self._thread = None
        sys.setswitchinterval(self._switch_s)

    def _ponder(self, sample: Callable[[random.Random], State]) -> None:
        stopping, search, seat, rng = self._stopping, self._search, self._seat, self._rng
        if stopping.wait(_HEAD_START_S):
            return
        while not stopping.is_set():
            world = sample(rng)
            if world.seat in (seat, -1):
                return
            search.ponder(world, seat, rng)
            time.sleep(0)
