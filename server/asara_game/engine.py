"""The rules as five functions: new match, decision, legal actions, apply, outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from .actions import Action, ChooseSpace, Wish, format_space
from .deal import Shuffler
from .events import Event
from .moves import HANDLERS
from .rules import Rules
from .scoring import Outcome
from .state import Decision, IllegalAction, State, blank
from .turns import set_up, start_year
from .vocabulary import DecisionKind

_SPACE: Final = DecisionKind.SPACE
_WISH: Final = DecisionKind.WISH
_TURNS: Final = [Decision(seat, _SPACE) for seat in range(4)]
"""By seat, the decision that begins its turn."""
_new: Final = tuple.__new__
"""Makes a named tuple three times as fast as calling its class; all fields must be given."""
_ACTIONS: Final = get_args(Action)
"""The classes of actions."""


def new_match(rules: Rules, shuffler: Shuffler) -> tuple[State, list[Event]]:
    """Set up a match. Return the state at its first decision, and the events of the set-up."""
    state = blank(rules, shuffler)
    set_up(state)
    events: list[Event] = []
    start_year(state, events)
    _take_forced(state, events)
    return state, events


def legal_actions(state: State) -> Sequence[Action]:
    """Return the legal actions in canonical order: at least two, or none after the end."""
    return state.legal


def apply(state: State, action: Action) -> list[Event]:
    """Carry out an action and everything that it forces; return the events.

    Raise IllegalAction, and leave the state unchanged, unless the action is in
    `legal_actions(state)`.
    """
    if action not in state.legal:
        raise IllegalAction(_refusal(state, action))
    events: list[Event] = []
    HANDLERS[state.kind](state, action, events)
    if len(state.legal) == 1:
        _take_forced(state, events)
    return events


def apply_one(state: State, action: Action) -> list[Event]:
    """Carry out an action without the forced actions that follow; return the events.

    The next decision may have only one legal action. The caller then applies it.
    """
    events: list[Event] = []
    HANDLERS[state.kind](state, action, events)
    return events


def _take_forced(state: State, events: list[Event]) -> None:
    """Apply the action of every decision that has only one legal action."""
    while len(state.legal) == 1:
        HANDLERS[state.kind](state, state.legal[0], events)


def _refusal(state: State, action: object) -> str:
    """Explain why an action is refused, without disclosing anything hidden."""
    if not isinstance(action, _ACTIONS):
        found = f"{type(action).__module__}.{type(action).__qualname__}".removeprefix("builtins.")
        return (
            f"an object of type {found} is not an action; pass a member of legal_actions(state), "
            "not its index, text or message"
        )
    if state.seat < 0:
        return f"{action} is not legal: the match is over"
    kind, legal = state.kind.name, len(state.legal)
    text = f"{action} is not legal at decision {kind} of seat {state.seat}; {legal} others are"
    return f"{text}{_legal_spaces(state, action)}"


def _legal_spaces(state: State, action: Action) -> str:
    """Return a clause with the legal spaces of the action's area; "" if no space is chosen now."""
    if not isinstance(action, (ChooseSpace, Wish)) or state.kind not in (_SPACE, _WISH):
        return ""
    legal = [other.space for other in state.legal if isinstance(other, (ChooseSpace, Wish))]
    spaces = [format_space(space) for space in legal if space.area == action.space.area]
    return f"; legal spaces in this area: {', '.join(spaces) or 'none'}"


def decision(state: State) -> Decision:
    """Return the open decision; raise ValueError if the match is over."""
    if state.seat < 0:
        raise ValueError("the match is over")
    kind = state.kind
    if kind is _SPACE:
        return _TURNS[state.seat]
    return _new(
        Decision,
        (
            state.seat,
            kind,
            state.space.space,
            state.sections_to_build,
            state.build_steps,
            state.gift_queue,
            state.lit_to_keep,
        ),
    )


def outcome(state: State) -> Outcome | None:
    """Return the result, or None while the match is running."""
    if state.seat >= 0:
        return None
    best = max(state.prestige)
    winners = tuple(seat for seat, points in enumerate(state.prestige) if points == best)
    return Outcome(tuple(state.prestige), winners)
