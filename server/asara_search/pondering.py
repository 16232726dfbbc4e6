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
"""Head start in seconds, so that a reply is sent before the pondering begins."""
_SWITCH_S: Final = 0.0005
"""Maximum time that the main thread waits for the interpreter, beyond the current playout."""


class Ponderer:
    """Prepares a search's next decision in a separate thread, between `start` and `stop`.

    After every playout the thread lets others run. Reading a message, or returning from `stop`,
    therefore waits for one playout at most. The thread ends with the process.
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

        Each call of `sample` returns a new world, drawn with the generator passed to it, in which
        the seat has already replied. Worlds in which the seat decides again immediately are
        skipped.
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
        """Stop pondering. When this method returns, the search is no longer in use."""
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
