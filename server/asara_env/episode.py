"""One match, played with action numbers and observations: the core of all environments."""

from __future__ import annotations

import operator
import random
import reprlib
from typing import Final

import numpy as np
import numpy.typing as npt

from asara_game import (
    Action,
    ChooseSpace,
    Edition,
    Rules,
    Shuffler,
    State,
    apply,
    determinize,
    load_edition,
    new_match,
    parse_rule_sets,
    view,
)
from asara_game.vocabulary import DecisionKind

from .action_numbers import ACTION_COUNT, numbering
from .observation import Observer, StateObserver, Tensor

__all__ = ["Episode", "IllegalActionNumber", "match_rules", "new_episode", "whole"]

_SPACE: Final = DecisionKind.SPACE
_BUYERS: Final = DecisionKind.BUYERS
_BUILD: Final = DecisionKind.BUILD


class IllegalActionNumber(ValueError):
    """Raised if a number is not the number of a legal action; nothing has changed."""


def whole(action: object) -> int:
    """Return an action number of any integer type as an int; raise TypeError for anything else."""
    try:
        return operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        shown = reprlib.repr(action)  # an array's text would be long
        raise TypeError(f"action {shown}: a whole number is needed") from None


def match_rules(rules: str | Rules, seats: int = 2, edition: Edition | None = None) -> Rules:
    """Return the rules for a text such as `pro+gifts`. Raise ValueError or TypeError if invalid."""
    if isinstance(rules, str):
        rules = Rules(edition or load_edition(), parse_rule_sets(rules), seats)
    elif not isinstance(rules, Rules):
        raise TypeError(f"rules {rules!r}: a text such as 'pro+gifts' is needed")
    numbering(rules.edition)  # raises UnsupportedEdition
    return rules


class Episode:
    """A match, played from a state to its end."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._observer = StateObserver(state)
        self._looked = False  # True if nothing but the decision has changed since it observed
        self._others = Observer()
        self._numbering = numbering(state.rules.edition)
        self.numbers: list[int] = []
        """Numbers of the legal actions, in the order of `state.legal`."""
        self._number()

    def _number(self) -> None:
        """Number the legal actions of the open decision."""
        state = self.state
        if state.seat >= 0:
            towers = state.towers[state.seat] if state.kind is _BUILD else ()
            self.numbers = self._numbering.legal_numbers(state.legal, towers)
        else:
            self.numbers = []

    def action(self, number: int) -> Action:
        """Return the legal action with this number; raise IllegalActionNumber if there is none."""
        try:
            return self.state.legal[self.numbers.index(number)]
        except (ValueError, IndexError):
            raise IllegalActionNumber(self._refusal(number)) from None

    def _refusal(self, number: int) -> str:
        """Explain why a number is refused, without disclosing anything hidden."""
        state = self.state
        if state.seat < 0:
            return f"action number {number}: the match is over; reset the environment"
        try:
            action = self._numbering.action_of(number, state.towers[state.seat])
        except ValueError as error:
            words = str(error)
        else:
            words = f"action number {number} ('{action}') is not legal"
        return (
            f"{words}; decision {state.kind.name} of seat {state.seat} has "
            f"{len(self.numbers)} legal actions: see the mask"
        )

    def step(self, number: int) -> None:
        """Carry out the legal action with this number; raise IllegalActionNumber if not legal."""
        self.apply(self.action(number))

    def apply(self, action: Action) -> None:
        """Carry out a legal action."""
        state = self.state
        apply(state, action)
        if state.kind is not _BUYERS or type(action) is not ChooseSpace:
            self._looked = False  # else only the decision has changed
        self._number()

    def write(self, out: bytearray | memoryview, at: int) -> None:
        """Write the observation of the deciding seat as bytes (see `StateObserver.write`)."""
        self._observer.write(out, at, self._looked)
        self._looked = True

    def observe(self, seat: int) -> Tensor:
        """Return the observation of any seat, deciding or not, as a new array."""
        if seat != self.state.seat:
            return self._others.observe(view(self.state, seat))
        found = self._observer.observe(self._looked)
        self._looked = True
        return found

    def mask(self) -> npt.NDArray[np.int8]:
        """Return the mask of the deciding seat as a new array of 0 and 1."""
        data = bytearray(ACTION_COUNT)
        for number in self.numbers:
            data[number] = 1
        return np.frombuffer(data, np.int8)

    def world(self, seat: int, rng: random.Random) -> Episode:
        """Return a match that the seat cannot tell from this one; `rng` deals the hidden parts.

        Raise ValueError within another seat's turn, because the seat has not seen all of it.
        """
        state = self.state
        if state.seat not in (seat, -1) and state.kind is not _SPACE:
            raise ValueError(f"no world of seat {seat}: seat {state.seat} is within its turn")
        if not isinstance(rng, random.Random):
            raise TypeError(f"rng: a random.Random is needed, not {type(rng).__name__}")
        return Episode(determinize(view(self.state, seat), rng))

    def copy(self) -> Episode:
        """Return an exact copy, including hidden information and all future shuffles."""
        return Episode(self.state.copy())


def new_episode(rules: Rules, shuffler: Shuffler) -> Episode:
    """Return a match at its first decision."""
    return Episode(new_match(rules, shuffler)[0])
