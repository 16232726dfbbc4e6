"""Playouts: policies play a state on until the match, or the year, is over."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from asara_game.events import Event
from asara_game.knowledge.shuffling import QuickShuffler, shuffle
from asara_game.moves import HANDLERS
from asara_game.state import State
from asara_game.vocabulary import DecisionKind

from .policies import Policy

__all__ = ["LabelShuffler", "QuickShuffler", "play_on", "play_out"]


_SPACE: Final = DecisionKind.SPACE


class LabelShuffler:
    """Gives equal labels equal shuffles, whatever was shuffled before.

    Candidates that are tried out with the same seed get the same deals in later years, so luck does
    not decide between them.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(0)

    def shuffle(self, label: str, items: list[int]) -> None:
        """Shuffle in place, using only the seed and the label."""
        self.rng.seed(f"{self.seed}/{label}")
        shuffle(items, self.rng)


def play_out(state: State, policy: Policy, rng: random.Random) -> int:
    """Play a state to the end of the match, in place; return the number of decisions."""
    return play_on(state, [policy] * len(state.hands), rng)


def play_on(
    state: State,
    policies: Sequence[Policy],
    rng: random.Random,
    *,
    last_year: int = 99,
    turn_only: bool = False,
) -> int:
    """Play a state on in place, with one policy per seat; return the number of decisions.

    Playing stops at the end of the match or of `last_year`. With `turn_only`, it also stops when a
    turn begins.
    """
    decisions = 0
    events: list[Event] = []
    while state.seat >= 0 and state.year <= last_year:
        if turn_only and state.kind is _SPACE:
            break
        legal = state.legal
        if len(legal) == 1:
            action = legal[0]
        else:
            action = policies[state.seat].choose(state, rng)
            decisions += 1
        HANDLERS[state.kind](state, action, events)
        events.clear()
    return decisions
