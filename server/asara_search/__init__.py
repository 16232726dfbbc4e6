"""A forward model for bots: samples worlds that fit what a seat knows, and plays them on.

    worlds = asara_search.Worlds(decision, match)
    state = worlds.sample(match.random)
    asara_search.apply(state, asara_search.legal_actions(state)[0])

A world contains only what the seat was sent, plus what is drawn from the caller's random numbers.
"""

from __future__ import annotations

from asara_game import Action, Outcome, State, apply, decision, legal_actions, outcome

from .actions import to_action, to_message, to_messages
from .worlds import Worlds, copy, history, view, world

__all__ = [
    "Action",
    "Outcome",
    "State",
    "Worlds",
    "apply",
    "copy",
    "decision",
    "history",
    "legal_actions",
    "outcome",
    "to_action",
    "to_message",
    "to_messages",
    "view",
    "world",
]
