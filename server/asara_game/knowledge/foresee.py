"""Predicts the rest of a turn, as far as it follows from what the seat knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from asara_game.actions import Action, PayOffer, SearchPile
from asara_game.engine import apply_one
from asara_game.events import BuyersRecruited, Event
from asara_game.moves import options
from asara_game.state import State, lit_index
from asara_game.view import View, view
from asara_game.vocabulary import MARKET_TYPES, DecisionKind

from .hidden import HiddenLitWindows
from .restore import restore, resume_turn

_GIFT_BUYER: Final = DecisionKind.GIFT_BUYER
_GIFT_LIT_WINDOW: Final = DecisionKind.GIFT_LIT_WINDOW


class Foreseen(NamedTuple):
    """The predicted result of a seat's actions in its turn."""

    hidden: bool
    """True if the next decision depends on information that the seat does not have yet."""
    seen: View | None
    """What the seat will see with its next decision, or at the end of its turn if no decision
    follows. None if this cannot be predicted."""
    events: tuple[Event, ...]
    """Predicted events of the actions; empty without a view."""


def foresee(seen: View, actions: Sequence[Action]) -> Foreseen:
    """Predict the result of actions by the seat that decides, up to the end of its turn.

    The prediction depends only on the view, so it is the same in every state that the seat cannot
    tell from the true one. Raise ValueError if the seat has nothing to decide, if its decision is
    not the one in the view, or if an action is illegal or comes after the end of the turn.
    """
    asked = seen.decision
    if asked is None or asked.seat != seen.private.seat:
        raise ValueError("the seat has nothing to decide")
    state = restore(seen, _NO_SHUFFLER)
    _fill(state, seen)
    resume_turn(state, seen)
    state.legal = seen.legal
    if tuple(options(state)) != seen.legal:
        raise ValueError("the legal actions are not those of the view")
    foresight = _Foresight(state, asked.kind)
    for number, action in enumerate(actions, 1):
        if foresight.over:
            raise ValueError(f"nothing can be foreseen after action {number - 1}")
        if action not in state.legal:
            raise ValueError(f"action {number}, '{action}', is not legal")
        foresight.carry_out(action)
    return foresight.result()


class _Foresight:
    """A turn played in a state that lacks everything hidden."""

    def __init__(self, state: State, kind: DecisionKind) -> None:
        self._state = state
        self._seat = state.seat
        # Looking through the buyer pile or the stack shows what the next card finds there.
        self._known = kind
        self._events: list[Event] = []
        self._hidden = False
        self.over = False

    def carry_out(self, action: Action) -> None:
        """Carry out a legal action and the forced actions that follow."""
        self._carry_out(action)
        while not self.over and len(self._state.legal) == 1:
            self._carry_out(self._state.legal[0])

    def _carry_out(self, action: Action) -> None:
        state, seat = self._state, self._seat
        if isinstance(action, SearchPile | PayOffer):
            self._hidden = self.over = True
            return
        # With a buyer in another hand, no year ends with this turn: it would be dealt a new one.
        other = (seat + 1) % len(state.hand_sizes)
        state.hand_sizes[other] += 1
        events = apply_one(state, action)
        state.hand_sizes[other] -= 1
        self._events += events
        if state.kind is DecisionKind.SPACE:
            self.over = True
            state.seat = state.turn_seat = seat
            self._hidden = any(isinstance(event, BuyersRecruited) for event in events)
        elif state.kind in (_GIFT_BUYER, _GIFT_LIT_WINDOW) and state.kind is not self._known:
            self._hidden = self.over = True

    def result(self) -> Foreseen:
        state, seat = self._state, self._seat
        ended = state.kind is DecisionKind.SPACE and self.over
        if self._hidden:
            return Foreseen(not ended, None, ())
        shown = view(state, seat)
        if ended:
            shown = shown._replace(decision=None, legal=())
        return Foreseen(False, shown, tuple(self._events))


class _NoShuffler:
    """Shuffles nothing: the new order of shuffled items stays hidden until the turn ends."""

    def shuffle(self, label: str, items: list[int]) -> None:
        """Leave the items as they are."""


_NO_SHUFFLER: Final = _NoShuffler()


def _fill(state: State, seen: View) -> None:
    """Add the items that the seat looked through, and placeholders for the hidden items.

    No prediction depends on the placeholders.
    """
    public, own = seen.public, seen.private
    state.piles = [[0] * size for size in public.pile_sizes]
    if own.searched_sections:
        market = own.searched_sections[0].kind - 1
        types = MARKET_TYPES[market]
        state.piles[market] = [types.index(section) for section in own.searched_sections]
    state.buyer_pile = list(map(int, own.searched_buyers)) or [1] * public.buyer_pile_size
    windows = HiddenLitWindows(seen)
    state.lit_stack = [
        window or (windows.searched.pop() if windows.searched else 1) for window in windows.stack
    ]
    state.gift_deck = [0] * public.gift_deck_size
    for seat, known in enumerate(public.seats):
        if seat != own.seat:
            state.lit_held[lit_index(seat, 1)] = known.lit_windows
