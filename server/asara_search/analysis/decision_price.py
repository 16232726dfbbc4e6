"""What a decision cost: the chosen action compared with the best one, from what the seat knew.

All candidates are tried in the same worlds, with the same later shuffles, and the greedy policy
plays every match to its end. One half of the playouts chooses the best candidate by sequential
halving. The other half, in other worlds, compares it with the chosen action. So an action that was
only lucky in the first half gains nothing, and noise invents no mistake.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from asara_game.actions import Action
from asara_game.engine import apply_one
from asara_game.rules import Rules
from asara_game.state import State

from ..playout import LabelShuffler
from ..search_base import Search, SearchSettings
from .budgets import VERSION, Budget
from .statistics import Estimate, Sums, Table, turns_left

__all__ = ["LOSSES", "CandidatePrice", "DecisionPrice", "DecisionPricer", "label_of"]

LOSSES: Final = {"inaccuracy": 0.05, "mistake": 0.10, "blunder": 0.20}
"""For each label, the loss that an action must exceed, in shares of a match."""
_CERTAIN: Final = 2.0
"""Standard errors by which a loss must exceed the limit of its label."""


class CandidatePrice(NamedTuple):
    """The expected score of a candidate. `pricing` is True if it comes from the second half of the
    playouts, which did not choose the best candidate.
    """

    action: Action
    expected: Estimate
    pricing: bool


class DecisionPrice(NamedTuple):
    """The price of a decision.

    - `expected`: the score that the seat could expect with the best action
    - `loss`: what the chosen action cost; 0 if it is the best. Noise can make it negative
    """

    best: Action
    expected: Estimate
    loss: Estimate
    candidates: tuple[CandidatePrice, ...]
    playouts: int

    @property
    def label(self) -> str:
        """The label of the chosen action; "" for a good one."""
        return label_of(self.loss)


def label_of(loss: Estimate) -> str:
    """Return the label whose limit a loss certainly exceeds; "" if there is none."""
    certain = loss.mean - _CERTAIN * loss.error
    found = ""
    for name, limit in LOSSES.items():
        if certain > limit:
            found = name
    return found


class DecisionPricer:
    """Prices the decisions of one match."""

    def __init__(self, rules: Rules, budget: Budget) -> None:
        self._search = Search(rules, SearchSettings(candidates=budget.candidates))
        self._budget = budget
        self._rng = random.Random(0)
        self._playouts = 0
        self._table = Table(())

    def price(
        self,
        sample: Callable[[random.Random], State],
        legal: Sequence[Action],
        chosen: Action,
        name: str,
        table: Table,
    ) -> DecisionPrice:
        """Price a decision.

        `sample` returns a world with this decision open. `name` is a name of the decision that the
        seat knows; with the version of the analyser, it determines all random numbers.
        """
        seed = hashlib.sha256(f"{VERSION}/{name}".encode()).digest()
        rng = random.Random(int.from_bytes(seed[:16]))
        self._playouts = 0
        self._table = table
        first = sample(rng)
        actions = self._search.shortlist(first, legal)
        if chosen not in actions:
            actions.append(chosen)
        choosing = [Sums() for _ in actions]
        best = self._best(sample, actions, choosing, rng)
        pricing = [Sums() for _ in actions]
        loss = Sums()
        self._compare(sample, actions, (best, actions.index(chosen)), pricing, loss, rng)
        candidates = [
            CandidatePrice(action, (second if second.number else half).estimate(), second.number > 0)
            for action, half, second in zip(actions, choosing, pricing, strict=True)
        ]
        return DecisionPrice(
            actions[best],
            pricing[best].estimate(),
            Estimate(0.0, 0.0, 0) if actions[best] == chosen else loss.estimate(),
            tuple(candidates),
            self._playouts,
        )

    def _best(
        self,
        sample: Callable[[random.Random], State],
        actions: Sequence[Action],
        sums: Sequence[Sums],
        rng: random.Random,
    ) -> int:
        """Choose the best candidate: after each round, the worse half is dropped."""
        alive = list(range(len(actions)))
        rounds = math.ceil(math.log2(len(actions)))
        left = self._budget.choosing
        for number in range(rounds):
            for _ in range(max(1, left // ((rounds - number) * len(alive)))):
                values = self._try_all(sample(rng), [actions[index] for index in alive], rng)
                for index, value in zip(alive, values, strict=True):
                    sums[index].add(value)
                left -= len(alive)
            alive.sort(key=lambda index: -sums[index].total)
            alive = alive[: (len(alive) + 1) // 2]
        return alive[0]

    def _compare(
        self,
        sample: Callable[[random.Random], State],
        actions: Sequence[Action],
        pair: tuple[int, int],
        sums: Sequence[Sums],
        loss: Sums,
        rng: random.Random,
    ) -> None:
        """Compare the best action with the chosen one, longer if it may be a mistake."""
        tried = sorted(set(pair))
        until = self._budget.pricing
        while True:
            while loss.number < until:
                values = self._try_all(sample(rng), [actions[index] for index in tried], rng)
                for index, value in zip(tried, values, strict=True):
                    sums[index].add(value)
                loss.add(values[tried.index(pair[0])] - values[tried.index(pair[1])])
            mean, error, _ = loss.estimate()
            if until >= self._budget.doubtful or mean + _CERTAIN * error <= LOSSES["inaccuracy"]:
                return
            until = min(2 * until, self._budget.doubtful)

    def _try_all(
        self, world: State, actions: Sequence[Action], rng: random.Random
    ) -> list[float]:
        """Return what each action brings the seat in one world, with the same later shuffles."""
        seat = world.seat
        seed = rng.getrandbits(40)
        turns = turns_left(world)
        values: list[float] = []
        for action in actions:
            state = world.copy(LabelShuffler(seed))
            apply_one(state, action)
            values.append(self._table.play(state, turns, self._rng)[seat])
            self._playouts += 1
        return values
