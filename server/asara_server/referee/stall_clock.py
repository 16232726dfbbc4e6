"""The clock of the referee, which stands still while the referee itself is not running.

`Match` decides when a seat's time has run out; this clock only tells the time.

All time charged to bots is read from this clock. While the clock is in use, a timer of the event
loop, the beat, fires every few milliseconds and so shows that the loop is turning. The clock
advances at most `SLACK_US` beyond the last beat. So whatever keeps the loop from turning costs no
bot more than the slack, which is part of a decision's grace. Examples are a long callback, a commit
to a slow disk, garbage collection, a machine without a free core, and SIGSTOP.

When the loop turns again, the clock waits a little longer, at most `CATCH_UP_US`. A reply that
arrived in the meantime is still in the buffers of the socket and of gRPC. gRPC's thread passes it
to the loop only after the loop has run its timers. Without the wait, the timer of a decision could
forfeit a bot whose answer has already arrived.

The clock is monotonic and continuous. While nobody holds it, it advances like the system's
monotonic clock, which on Linux and macOS does not count the time that a machine was suspended.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from structlog.typing import FilteringBoundLogger

BEAT_US: Final = 5_000
"""Time between two beats, in microseconds.

An idle loop wakes for each beat, which takes 0.6 % of one core. The cost to a busy loop is too
small to notice.
"""

SLACK_US: Final = 10_000
"""Maximum time charged for one turn of the event loop, in microseconds.

A reply waits for at most two turns: the rest of the turn in which it arrives, and its place in the
next turn. Its decision waited for one turn to be sent. With this slack, the three turns fit into
the default grace of 50 ms. A smaller slack would mistake the delays of a busy scheduler for stalls.
"""

CATCH_UP_US: Final = 50_000
"""Maximum wait of the clock after a stall, in microseconds; never longer than the stall itself."""

_LOGGED_US: Final = 500_000
"""Duration above which a single stall is logged."""

_STALLS_REMEMBERED: Final = 64

_SHORTEST_DELAY_S: Final = 0.001
_ANY_US: Final = 2**62
_SECOND_US: Final = 1_000_000
_monotonic_ns: Final = time.monotonic_ns


class StallClock:
    """A clock for one event loop. It beats while anybody holds it."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        self.stalled_us = 0
        """Total time for which the loop did not turn, less the slack, in microseconds."""
        self._log = log
        self._holders = 0
        self._beat_timer: asyncio.TimerHandle | None = None
        self._slack_us = _ANY_US
        # The system time of the last beat (in the future during a catch-up), and how long the
        # clock had stood still by then.
        self._beat_us = monotonic_us()
        self._stood_us = 0
        # For each stall, the system time of its end, and how far the clock has been behind since.
        self._stalls = deque([(self._beat_us, 0)], maxlen=_STALLS_REMEMBERED)

    def now_us(self) -> int:
        """Return this clock's time in microseconds."""
        beat_us = self._beat_us
        ran_us = _monotonic_ns() // 1_000 - beat_us  # twice for every decision, so without a call
        if ran_us < 0:
            ran_us = 0
        elif ran_us > self._slack_us:
            ran_us = self._slack_us
        return beat_us - self._stood_us + ran_us

    @property
    def stood_us(self) -> int:
        """Total time for which the clock has stood still, in microseconds: stalls and the waits
        after them.

        The clocks of all bots stand still for that time.
        """
        return monotonic_us() - self.now_us()

    def at_us(self, system_us: int) -> int | None:
        """Return this clock's time at a past moment of the system's monotonic clock.

        Return None if the moment is too long ago to know how long the clock had stood still by
        then.
        """
        stopped_us = _ANY_US
        for began_us, stood_us in reversed(self._stalls):
            if system_us >= began_us:
                return min(system_us - stood_us, stopped_us)
            stopped_us = began_us - stood_us  # this clock's time throughout the previous stall
        return None

    def now_s(self) -> float:
        """Return this clock's time in seconds."""
        return self.now_us() / _SECOND_US

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the clock, so that it notices stalls; use it in the event loop."""
        self._holders += 1
        if self._holders == 1:
            self._start()
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._stop()

    def call_later(
        self, delay_s: float, callback: Callable[..., None], *args: object
    ) -> "ClockTimer":
        """Call the callback once this clock has advanced by `delay_s` seconds."""
        return ClockTimer(self, delay_s, callback, args)

    # Beats

    def _start(self) -> None:
        self._advance()
        self._slack_us = SLACK_US
        self._schedule()

    def _stop(self) -> None:
        if self._beat_timer is not None:
            self._beat_timer.cancel()
        self._advance()
        self._slack_us = _ANY_US

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._beat_timer = loop.call_later(BEAT_US / _SECOND_US, self._beat)

    def _beat(self) -> None:
        self._advance()
        self._schedule()

    def _advance(self) -> None:
        """Advance the clock by the time since the last beat, less any stall."""
        now_us = monotonic_us()
        ran_us = now_us - self._beat_us
        if ran_us < 0:  # catching up
            return
        stalled_us = ran_us - self._slack_us
        if stalled_us <= 0:
            self._beat_us = now_us
            return
        catch_up_us = min(stalled_us, CATCH_UP_US)
        self._beat_us = now_us + catch_up_us
        self._stood_us += stalled_us + catch_up_us
        self._stalls.append((self._beat_us, self._stood_us))
        self.stalled_us += stalled_us
        if stalled_us >= _LOGGED_US:
            self._log.warning("referee stalled", seconds=round(stalled_us / _SECOND_US, 3))


class ClockTimer:
    """A callback scheduled on a clock; `StallClock.call_later` creates it."""

    __slots__ = ("_args", "_callback", "_clock", "_due_us", "_handle")

    def __init__(
        self,
        clock: StallClock,
        delay_s: float,
        callback: Callable[..., None],
        args: tuple[object, ...],
    ) -> None:
        self._clock = clock
        self._due_us = clock.now_us() + round(delay_s * _SECOND_US)
        self._callback = callback
        self._args = args
        self._set(delay_s)

    def cancel(self) -> None:
        self._handle.cancel()

    def _set(self, delay_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(max(delay_s, _SHORTEST_DELAY_S), self._check)

    def _check(self) -> None:
        left_us = self._due_us - self._clock.now_us()
        if left_us > 0:  # the clock stood still in between
            self._set(left_us / _SECOND_US)
        else:
            self._callback(*self._args)


def monotonic_us() -> int:
    """Return the system's monotonic time in microseconds."""
    return _monotonic_ns() // 1_000
