"""The action that a seat should choose, from what it knows: a short search."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Final

from asara_game.actions import Action
from asara_game.rules import Rules
from asara_game.state import State
from asara_search.turn_search import TurnSearch

__all__ = ["advise"]

_PLAYOUTS: Final = 96
"""Half a second without the compiled copy of the rules."""


def advise(
    rules: Rules,
    sample: Callable[[random.Random], State],
    legal: Sequence[Action],
    longest_s: float,
) -> Action:
    """Return the best of the legal actions.

    `sample` returns a world with this decision open. If `longest_s` is over before, fewer playouts
    decide; otherwise, the same call always returns the same action.
    """
    rng = random.Random(0)
    deadline = time.perf_counter() + longest_s
    return TurnSearch(rules).choose(lambda: sample(rng), legal, rng, _PLAYOUTS, deadline)
