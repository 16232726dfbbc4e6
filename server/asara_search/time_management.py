"""Divides a match's clock among a seat's decisions, on machines of any speed.

A reply takes longer than its search. It also needs time for the message, for sampling worlds and,
above all, for waiting for a core on a machine with more bots than cores. This overhead is learned
from the clock that the referee sends with each decision. Time for later replies is set aside before
any search gets time.
"""

from __future__ import annotations

import math
from typing import Final

from asara_game.view import View

__all__ = ["TimeManager", "turns_left"]

DECISIONS_PER_TURN: Final = 2.2
"""Average number of searched decisions in a turn."""
REPLIES_PER_TURN: Final = 1.5
"""Average number of replies in a turn: one reply can answer several decisions."""

_FIRST_OVERHEAD_S: Final = 0.01
_FIRST_LONGEST_S: Final = 0.05
_OVERHEAD_WEIGHT: Final = 0.2
_FORGOTTEN: Final = 0.97
_SPARE_S: Final = 1.0


class TimeManager:
    """The clock of one seat in one match.

    Call `begin` for each decision, `share_s` before each search, and `searched` after the search.
    """

    def __init__(self) -> None:
        self.overhead_s = _FIRST_OVERHEAD_S
        """Average time of a reply beyond its searches, in seconds."""
        self.longest_s = _FIRST_LONGEST_S
        """Longest such overhead in seconds; it slowly decays."""
        self._clock_s: float | None = None
        self._increment_s = 0.0
        self._searched_s = 0.0

    def begin(self, clock_us: int, increment_us: int) -> None:
        """Record a decision's clock, in microseconds, and learn from the previous decision."""
        clock_s, self._increment_s = clock_us / 1e6, increment_us / 1e6
        if self._clock_s is not None:
            used_s = self._clock_s - clock_s + self._increment_s
            overhead_s = max(0.0, used_s - self._searched_s)
            self.overhead_s += _OVERHEAD_WEIGHT * (overhead_s - self.overhead_s)
            self.longest_s = max(overhead_s, self.longest_s * _FORGOTTEN)
        self._clock_s, self._searched_s = clock_s, 0.0

    def share_s(self, used_s: float, turns: int) -> float:
        """Return the seconds for the next search; 0 means that the bot should answer immediately.

        `used_s` is the number of seconds since the decision arrived. `turns` is the number of turns
        that the seat has left, including this one.
        """
        clock_s = (self._clock_s or 0.0) - used_s
        replies = REPLIES_PER_TURN * turns
        # The overheads of many replies differ from their mean by the root of their number.
        spare_s = max(self.longest_s * (1 + math.sqrt(replies) / 2), min(_SPARE_S, clock_s / 4))
        now_s = clock_s - spare_s
        later_s = replies * (self._increment_s - self.overhead_s)
        share_s = (now_s + later_s) / (DECISIONS_PER_TURN * (turns + 2))
        return max(0.0, min(share_s, now_s / 4))

    def searched(self, planned_s: float, took_s: float) -> None:
        """Record a search. The time beyond its plan counts as overhead."""
        self._searched_s += min(planned_s, took_s)


def turns_left(view: View) -> int:
    """Return the seat's remaining turns in the match, including the current turn."""
    rules = view.rules
    years = rules.edition.years - view.public.year
    return sum(view.private.hand) + 1 + years * rules.hand_size
