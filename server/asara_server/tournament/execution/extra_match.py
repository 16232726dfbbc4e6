"""One match more than there are cores, while bots are quick and cores idle.

A match of quick bots spends about a quarter of its time on messages between processes, so with a
match for each core, cores idle. Bots that think would share cores if there were more matches, while
their clocks run: then there is no extra match.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from asara_server.tournament.run.costs import RunCosts

_WINDOW_S: Final = 2.0
_QUICK_S: Final = 0.002
"""Mean time in which quick bots answer. It includes the way to the bot and back, some 0.5 ms."""
_THINKING_S: Final = 0.004
"""Mean time from which bots are no longer quick: above the other, as an extra match takes time
from all."""
_IDLE: Final = 0.1
"""Share of the cores that has to be idle."""


class ExtraMatch:
    """Decides whether an extra match is played, by the costs of the last seconds."""

    def __init__(self, costs: Callable[[], RunCosts], window_s: float | None = None) -> None:
        """`costs` returns those of the run so far."""
        self._costs = costs
        self._window_s = _WINDOW_S if window_s is None else window_s
        self._over = asyncio.Event()
        self.wanted = False

    def stop(self) -> None:
        """Begin no further match."""
        self.wanted = False
        self._over.set()

    async def play(self, play_matches: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `play_matches` whenever an extra match is wanted, until `stop` is called.

        `play_matches` ends when the match that it plays is over and none is wanted any more, or
        none is left.
        """
        over = asyncio.create_task(self._over.wait())
        playing: asyncio.Task[None] | None = None
        try:
            before = self._costs()
            while not self._over.is_set():
                await asyncio.wait({over}, timeout=self._window_s)
                now = self._costs()
                self.wanted = not self._over.is_set() and _wanted(now - before, already=self.wanted)
                before = now
                if playing is not None and playing.done():
                    playing.result()
                    playing = None
                if self.wanted and playing is None:
                    playing = asyncio.create_task(play_matches())
            if playing is not None:
                await playing
        finally:
            over.cancel()
            if playing is not None:
                playing.cancel()
                await asyncio.gather(playing, return_exceptions=True)


def _wanted(costs: RunCosts, *, already: bool) -> bool:
    """Return True if the costs of a few seconds call for an extra match, or for keeping it."""
    busy = costs.busy
    if not costs.decisions or busy is None:
        return already
    answer_s = costs.deciding_s / costs.decisions
    if already:
        return answer_s < _THINKING_S
    return answer_s < _QUICK_S and busy < 1 - _IDLE
