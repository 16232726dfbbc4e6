"""The luck of draws, measured with all cards open.

The value of a state is the mean score of playouts from it. Nobody knows the order of the piles,
so every playout shuffles them again. The luck of a draw is the value of the state after it, less
the mean value after other draws. So luck is 0 on average, whatever the policy is worth. A weight
allows for real players, who make up for most of it. Pairs of playouts have the same later shuffles.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from asara_game.actions import Action
from asara_game.engine import apply_one, new_match
from asara_game.events import BuyersRecruited, Event, LitWindowsDrawn, YearStarted
from asara_game.knowledge.shuffling import shuffle
from asara_game.rules import Rules
from asara_game.state import State
from asara_search.playout import LabelShuffler, play_on
from asara_search.policies import GreedyPolicy

from .budgets import VERSION
from .statistics import LUCK_SPREAD, LUCK_WEIGHT, Sums, expected_scores, scale_of

__all__ = ["Luck", "deal_luck", "draw_luck", "is_draw"]

_STROKE: Final = 0.02
"""Score that a stroke of luck certainly brings or costs a seat."""
_CERTAIN: Final = 2.0
"""Standard errors by which it must exceed that."""
_DRAWS: Final = (YearStarted, BuyersRecruited, LitWindowsDrawn)
_KNOWN: Final = 8
"""Lit windows in the stack from this number on are known to a seat."""


class Luck(NamedTuple):
    """The luck of one draw: by seat, the score that it brought, and its standard error."""

    gained: tuple[float, ...]
    error: tuple[float, ...]
    playouts: int

    @property
    def stroke(self) -> int | None:
        """The seat for which this was most certainly a stroke of luck, good or bad; None if it was
        one for nobody.
        """
        sizes = [
            abs(gained) - _CERTAIN * error
            for gained, error in zip(self.gained, self.error, strict=True)
        ]
        return sizes.index(max(sizes)) if max(sizes) > _STROKE else None


def is_draw(events: Sequence[Event]) -> bool:
    """Return True if something was drawn at random among these events of one action."""
    return any(isinstance(event, _DRAWS) for event in events)


def deal_luck(state: State, playouts: int, name: str) -> Luck:
    """Return the luck of the set-up of a match; `state` is the state after it."""
    rules: Rules = state.rules

    def redraw(_: random.Random, later: LabelShuffler) -> State:
        return new_match(rules, later)[0]

    return _luck(state, redraw, (), playouts, name)


def draw_luck(
    before: State, action: Action, after: State, behind: Collection[int], playouts: int, name: str
) -> Luck:
    """Return the luck of the draw that an action caused."""

    def redraw(rng: random.Random, later: LabelShuffler) -> State:
        state = _reshuffled(before, rng, later)
        apply_one(state, action)
        return state

    return _luck(after, redraw, behind, playouts, name)


def _luck(
    after: State,
    redraw: Callable[[random.Random, LabelShuffler], State],
    behind: Collection[int],
    playouts: int,
    name: str,
) -> Luck:
    seed = hashlib.sha256(f"{VERSION}/luck/{name}".encode()).digest()
    rng = random.Random(int.from_bytes(seed[:16]))
    seats = after.rules.seats
    gained = [Sums() for _ in range(seats)]
    scale = scale_of(after, LUCK_SPREAD)
    policies = [GreedyPolicy(after.rules)] * seats
    for _ in range(playouts):
        later = LabelShuffler(rng.getrandbits(40))
        scores: list[list[float]] = []
        for state in (_reshuffled(after, rng, later), redraw(rng, later)):
            play_on(state, policies, rng)
            scores.append(expected_scores(state.prestige, scale, behind))
        for seat, (drawn, other) in enumerate(zip(*scores, strict=True)):
            gained[seat].add(LUCK_WEIGHT * (drawn - other))
    found = [sums.estimate() for sums in gained]
    return Luck(tuple(one.mean for one in found), tuple(one.error for one in found), 2 * playouts)


def _reshuffled(state: State, rng: random.Random, later: LabelShuffler) -> State:
    """Return a copy in which everything whose order nobody knows is in another order."""
    state = state.copy(later)
    for pile in (*state.piles, state.buyer_pile, state.gift_deck):
        shuffle(pile, rng)
    stack = state.lit_stack
    unknown = [place for place, window in enumerate(stack) if window < _KNOWN]
    windows = [stack[place] for place in unknown]
    shuffle(windows, rng)
    for place, window in zip(unknown, windows, strict=True):
        stack[place] = window
    return state
