"""The moves: what each action does, and which actions answer each kind of decision.

A handler carries out an action. It changes the state, appends the public events, and stores the
next decision in `state.kind` and `state.legal`. An options function returns the legal actions for
one kind of decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from asara_game.actions import Action
from asara_game.events import Event
from asara_game.state import State
from asara_game.turns import space_options
from asara_game.vocabulary import DecisionKind

from .areas import make_wish, pile_options, wish_options
from .building import build_step, count_options, start_build, step_options
from .buying import (
    display_options,
    keep_lit_windows,
    keep_options,
    offer_options,
    pay_offer,
    return_lit_window,
    return_options,
    search_pile,
    searched_options,
    take_displayed,
    take_searched,
)
from .dispatch import choose_space, lay_buyers, lay_options
from .gifts import (
    choose_buyer,
    choose_lit_window,
    choose_section,
    gift_buyer_options,
    gift_lit_window_options,
    gift_section_options,
)

Handler = Callable[[State, Any, list[Event]], None]
"""Carries out an action, whose class must fit the handler's kind of decision."""
Options = Callable[[State], Sequence[Action]]

_TABLE: Final[tuple[tuple[DecisionKind, Handler, Options], ...]] = (
    (DecisionKind.SPACE, choose_space, lambda state: space_options(state, state.seat)),
    (DecisionKind.BUYERS, lay_buyers, lay_options),
    (DecisionKind.SECTION, take_displayed, display_options),
    (DecisionKind.BUILD_COUNT, start_build, count_options),
    (DecisionKind.BUILD, build_step, step_options),
    (DecisionKind.PILE, search_pile, pile_options),
    (DecisionKind.PILE_SECTION, take_searched, searched_options),
    (DecisionKind.LIT_OFFER, pay_offer, offer_options),
    (DecisionKind.LIT_KEEP, keep_lit_windows, keep_options),
    (DecisionKind.WISH, make_wish, wish_options),
    (DecisionKind.GIFT_BUYER, choose_buyer, gift_buyer_options),
    (DecisionKind.GIFT_SECTION, choose_section, gift_section_options),
    (DecisionKind.GIFT_LIT_WINDOW, choose_lit_window, gift_lit_window_options),
    (DecisionKind.LIT_RETURN, return_lit_window, return_options),
)
_OPTIONS: Final = {kind: kind_options for kind, _, kind_options in _TABLE}

HANDLERS: Final[tuple[Handler, ...]] = (choose_space, *(handler for _, handler, _ in _TABLE))
"""Handlers by kind of decision; no kind has number 0."""


def options(state: State) -> Sequence[Action]:
    """Compute the legal actions of the open decision from the rest of the state."""
    return _OPTIONS[state.kind](state)
