"""Prices of decisions that take no time, for tests in which it does not matter what they are."""

from collections.abc import Sequence

import pytest

from asara_game.actions import Action
from asara_game.state import State
from asara_search.analysis import DecisionPrice, Estimate, Luck
from asara_server.replay import analysis


class Pricer:
    """Takes the first legal action for the best, and any other for a mistake."""

    def __init__(self, *_: object) -> None: ...

    def price(
        self, sample: object, legal: Sequence[Action], chosen: Action, *_: object
    ) -> DecisionPrice:
        loss = 0.0 if chosen == legal[0] else 0.3
        return DecisionPrice(legal[0], Estimate(0.5, 0.01, 9), Estimate(loss, 0.01, 9), (), 9)


def _deal_luck(state: State, *_: object) -> Luck:
    return Luck((0.0,) * len(state.hands), (0.0,) * len(state.hands), 0)


def without_playouts(patch: pytest.MonkeyPatch) -> None:
    """Analyse replays without playouts, which take nearly all the time."""
    patch.setattr(analysis, "DecisionPricer", Pricer)
    patch.setattr(analysis, "deal_luck", _deal_luck)
    patch.setattr(analysis, "draw_luck", lambda before, action, after, *_: _deal_luck(after))
