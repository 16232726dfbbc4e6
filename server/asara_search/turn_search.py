"""Search of a seat's own decision: every candidate is played on in equally many sampled worlds.

The candidates are the legal actions with the highest prices in the greedy policy. Each candidate is
applied in the same worlds, with the same later shuffles. The greedy policy plays on up to a
horizon. There the forecast prices the state if a year begins, and the evaluation if not. After each
round the worse half of the candidates is dropped (sequential halving), so most playouts go to the
candidates that are hard to tell apart.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Final

from asara_game.actions import Action
from asara_game.events import Event
from asara_game.moves import HANDLERS
from asara_game.rules import Rules
from asara_game.state import State
from asara_game.vocabulary import DecisionKind

from .evaluation import Weights
from .playout import LabelShuffler
from .search_base import Search, SearchSettings

__all__ = ["SearchSettings", "TurnSearch"]

_SPACE: Final = DecisionKind.SPACE


class TurnSearch(Search):
    """A search of one seat's decisions.

    Data kept between decisions only makes the search faster, unless the search ponders.
    """

    def __init__(
        self,
        rules: Rules,
        settings: SearchSettings | None = None,
        policy_weights: Weights | None = None,
    ) -> None:
        chosen = SearchSettings() if settings is None else settings
        super().__init__(rules, chosen, policy_weights)
        self.pondered: dict[Action, list[float]] = {}
        """For each action of the seat's next turn: the number of worlds in which the action was
        tried, and the sum of its advantages over the mean of the candidates."""
        self._next: State | None = None
        self._actions: list[Action] = []
        self._seed = 0
        self._found: list[float] = []

    def choose(
        self,
        sample: Callable[[], State],
        legal: Sequence[Action],
        rng: random.Random,
        iterations: int,
        deadline: float,
    ) -> Action:
        """Return the best of the legal actions (see `Search.choose`).

        Without a deadline and without pondering, the same call always returns the same action.
        """
        first = sample()
        actions = self.shortlist(first, legal, rng)[: max(iterations, 1)]
        totals = self._first_totals(first, actions)
        alive = list(range(len(actions)))
        rounds = math.ceil(math.log2(len(actions)))
        world: State | None = first
        began = time.perf_counter()
        left = iterations
        for number in range(rounds):
            worlds = min(left, max(1, left // ((rounds - number) * len(alive))))
            until = began + (deadline - began) * (number + 1) / rounds
            for _ in range(worlds):
                if deadline and time.perf_counter() >= until:
                    break
                if world is None:
                    world = sample()
                seed = rng.getrandbits(40)
                if not self._try_all(world, actions, alive, totals, seed, deadline):
                    break
                left -= len(alive)
                world = None
            alive.sort(key=lambda index: -totals[index])
            alive = alive[: (len(alive) + 1) // 2]
        return actions[alive[0]]

    def _first_totals(self, world: State, actions: Sequence[Action]) -> list[float]:
        """Return the initial totals of the candidates: their prices plus the results of pondering.

        Pondered worlds count like the price, for at most `prior` playouts, because in most of them
        the other seats have made different decisions.
        """
        totals = [self.prior * worth for worth in self.priors]
        self._next = None
        if self.pondered and world.kind is _SPACE:
            for place in range(len(actions)):
                found = self.pondered.get(actions[place])
                if found is not None:
                    totals[place] += found[1] / found[0] * min(found[0], self.prior)
            self.pondered.clear()
        return totals

    def _try_all(
        self,
        world: State,
        actions: Sequence[Action],
        alive: Sequence[int],
        totals: list[float],
        seed: int,
        deadline: float,
    ) -> bool:
        """Try out the remaining actions in one world; return False if the time ran out.

        The results count only if all actions were tried, because worlds differ more than actions.
        """
        seat = world.seat
        values: list[float] = []
        for index in alive:
            if deadline and time.perf_counter() >= deadline:
                return False
            values.append(self.try_out(world, actions[index], seat, seed))
        for place in range(len(alive)):
            totals[alive[place]] += values[place]
        return True

    def try_out(self, world: State, action: Action, seat: int, seed: int) -> float:
        """Play a candidate on in a world; return the resulting value for the seat."""
        self.playouts += 1
        state = world.copy(LabelShuffler(seed))
        events: list[Event] = []
        HANDLERS[state.kind](state, action, events)
        self.play_on(state, world.year + self.years, self.turns)
        return self.worth(state, seat)

    def ponder(self, world: State, seat: int, rng: random.Random) -> None:
        """Try out one action of the seat's next turn; until then, the policy plays for the others.

        A new world is begun when all candidates have been tried out in the current one.
        """
        if self._next is None:
            if not self.play_to(world, seat) or world.kind is not _SPACE:
                return
            self._next = world
            self._actions = self.shortlist(world, world.legal)
            self._seed = rng.getrandbits(40)
            self._found = []
        begun = self._next
        found = self._found
        found.append(self.try_out(begun, self._actions[len(found)], seat, self._seed))
        if len(found) < len(self._actions):
            return
        self._next = None
        mean = sum(found) / len(found)
        for place in range(len(found)):
            known = self.pondered.setdefault(self._actions[place], [0.0, 0.0])
            known[0] += 1.0
            known[1] += found[place] - mean
