"""Reports where the author's code hangs: after 30 seconds, and when its clock has run out.

One second after a bot's time runs out, the referee kills its process, with no warning to the bot.
"""

from __future__ import annotations

import faulthandler
import logging
import threading
import time

from asara.author_code import running_lines
from asara.v1.play_pb2 import Decision

_TICK_S = 0.25
"""Seconds between two checks; the referee kills a bot one second after its time runs out."""

_LONG_S = 30.0
"""Seconds after which code with time left is reported too, once per process."""

_STANDARD_ERROR = 2

log = logging.getLogger("asara")


class Watchdog:
    """Watches the main thread from another thread, using less than a millisecond per second.

    C code may hold the interpreter, so that no other thread runs. Every check therefore restarts a
    `faulthandler` timer, which does not need the interpreter. The timer fires only if no check
    follows within the time left on the bot's clock.
    """

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._task: tuple[Decision | str, float, float] | None = None
        self._clock_s = 0.0
        self._reported = False
        self._reported_long = False
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def begin(self, task: Decision | str, clock_us: int) -> None:
        """Record that the author's code begins a decision or a named task with this much time."""
        if clock_us <= 0:
            return
        self._clock_s = seconds = clock_us / 1e6
        self._task = task, seconds, time.monotonic() + seconds
        if self._thread is None:
            _print_stacks_after(seconds + 2 * _TICK_S)  # C code may keep the thread from starting
            thread = threading.Thread(target=self._watch, name="asara-watchdog", daemon=True)
            thread.start()
            self._thread = thread  # set last: an interrupt may prevent the start

    def end(self) -> None:
        """Record that the author's code has returned."""
        self._task = None

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._closing.wait(self._pause_s()):
            if self._reported:
                continue
            left_s, task = self._clock_s, self._task
            if task is not None:
                left_s = task[2] - time.monotonic()
                if left_s <= 0:
                    self._reported = True
                    faulthandler.cancel_dump_traceback_later()
                    self._report(task[0], f"has taken its whole time, {task[1]:.1f} s,")
                    continue
                if not self._reported_long:
                    if left_s <= task[1] - _LONG_S:
                        self._reported_long = True
                        _print_stacks_after(left_s + 2 * _TICK_S)  # before the report takes time
                        self._report(task[0], f"has taken {_LONG_S:.0f} s")
                        continue
                    left_s = min(left_s, left_s - task[1] + _LONG_S)
            _print_stacks_after(left_s + 2 * _TICK_S)
        faulthandler.cancel_dump_traceback_later()

    def _pause_s(self) -> float:
        task = self._task
        if task is None or self._reported:
            return _TICK_S
        return max(min(_TICK_S, task[2] - time.monotonic()), 0.01)

    def _report(self, task: Decision | str, what: str) -> None:
        lines = running_lines(self._main).rstrip()
        if not lines:
            return
        if not isinstance(task, str):
            task = f"decision {task.decision_id} of {task.match_id}"
        log.error("asara: %s %s and is still here:\n%s", task, what, lines)


def _print_stacks_after(seconds: float) -> None:
    faulthandler.dump_traceback_later(seconds, file=_STANDARD_ERROR)
