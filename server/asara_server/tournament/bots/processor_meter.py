"""Measures the processor time of the bots of a match while they are asked and while they are not.

Reading the time of a bot takes 2 µs, so it is done for some decisions only. Which ones is drawn at
random: a bot that knew would think while others are asked only where nobody looks.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from asara_server.match.match import Match
from asara_server.tournament.run.processor_time import ProcessorTime

_INTERVAL: Final = 8
"""Mean number of decisions from one that is measured to the next."""
_NS: Final = 1e-9


class ProcessorClock(NamedTuple):
    """The processor time of a bot."""

    read: Callable[[], int | None]
    """Returns it in nanoseconds; None if it is not known."""
    children: bool
    """True if the processes count that the bot starts."""


class ProcessorMeter:
    """Follows one match; a `MatchObserver`."""

    def __init__(self, clocks: Sequence[ProcessorClock | None]) -> None:
        """`clocks` are those of the bots by seat; None for a bot that cannot be measured."""
        self._clocks = {seat: clock for seat, clock in enumerate(clocks) if clock is not None}
        self._decisions_left = _draw()
        self._asked: int | None = None  # the seat whose decision is being measured
        self._began_ns = 0
        self._before: list[int] = []
        self._last: list[int] = []
        self._first: list[int] = []
        count = len(clocks)
        self._asked_ns, self._unasked_ns, self._wait_ns = [0] * count, [0] * count, [0] * count

    def match_begins(self) -> None:
        """Count from now on."""
        self._clocks = {
            seat: clock for seat, clock in self._clocks.items() if clock.read() is not None
        }
        self._last = [0] * len(self._wait_ns)
        self._first = self._read()

    def reply_accepted(self, match: Match, seat: int) -> None:
        """Begin or end the measurement of a decision; mostly do neither."""
        self._decisions_left -= 1
        if self._decisions_left > 0 or not self._first:
            return
        if self._asked is None:
            if match.asked is not None:  # otherwise the next decision is measured
                self._asked = match.asked
                self._before = self._read()
                self._began_ns = time.monotonic_ns()
        else:
            if self._asked == seat:
                self._add()
            self._asked = None
            self._decisions_left = _draw()

    def times(self) -> list[ProcessorTime | None]:
        """Return the times by seat until now; None for a bot that was not measured."""
        if not self._first:
            return [None] * len(self._wait_ns)
        now = self._read()
        return [
            ProcessorTime(
                matches=1,
                children=self._clocks[seat].children,
                total_s=round((now[seat] - self._first[seat]) * _NS, 6),
                sampled_asked_s=round(self._asked_ns[seat] * _NS, 6),
                sampled_unasked_s=round(self._unasked_ns[seat] * _NS, 6),
                sampled_wait_s=round(self._wait_ns[seat] * _NS, 6),
            )
            if seat in self._clocks
            else None
            for seat in range(len(self._wait_ns))
        ]

    def _read(self) -> list[int]:
        """Return the processor times by seat; of a process that has ended, the last that was read.

        They never decrease.
        """
        for seat, clock in self._clocks.items():
            now = clock.read()
            if now is not None and now > self._last[seat]:
                self._last[seat] = now
        return self._last.copy()

    def _add(self) -> None:
        now, wall_ns = self._read(), time.monotonic_ns() - self._began_ns
        for seat in self._clocks:
            used_ns = now[seat] - self._before[seat]
            if seat == self._asked:
                self._asked_ns[seat] += used_ns
            else:
                self._unasked_ns[seat] += used_ns
                self._wait_ns[seat] += wall_ns


def _draw() -> int:
    """Return the number of decisions until the next one that is measured."""
    return secrets.randbelow(2 * _INTERVAL - 1) + 1
