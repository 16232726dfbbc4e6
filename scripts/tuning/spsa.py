"""Simultaneous perturbation stochastic approximation (SPSA) of the weights, by self-play.

Each step changes all weights at the same time, each up or down at random. The greedy policy with
these changes plays mirrored matches against a greedy policy with the opposite changes, and all
weights move in proportion to the result. The answer is the mean of the later steps, because it
varies less than the last step. Source: J. C. Spall, "Implementation of the Simultaneous
Perturbation Algorithm for Stochastic Optimization" (1998), which also gives the exponents.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

from asara_game.rules import Rules
from asara_search.evaluation import BONUSES, Weights
from asara_search.policies import GreedyPolicy
from scripts.tuning.arena import PolicyPlayer, duel, secret_of

PROBABILITIES = ("building_", "ahead_", "waiting", "on_display", "in_pile", "fitting")
"""Prefixes of the names of weights between 0 and 1."""
_CLEAR_LEAD = 15.0
"""Prestige lead considered clear; much larger leads count little more."""
_PERTURBATION, _STEP, _DELAY = 0.6, 0.45, 8
_AVERAGED = 0.03
"""Share of the mean that each step replaces."""


class Spsa:
    """Weights that are being tuned."""

    def __init__(
        self, kinds: Sequence[Rules], weights: Mapping[str, float], seed: int, blocks: int
    ) -> None:
        self._kinds = kinds
        self._present = dict(weights)
        self._scale = {name: max(0.3 * abs(value), _least(name)) for name, value in weights.items()}
        self._rng = random.Random(seed)
        self._seed = seed
        self._blocks = blocks
        self._deals = 0
        self.steps = 0
        self.mean = dict(weights)
        """The tuned weights so far."""

    def step(self) -> float:
        """Take one step; return the result of its matches, from -1 to 1."""
        self.steps += 1
        width = _PERTURBATION / self.steps**0.101
        rate = _STEP / (self.steps + _DELAY) ** 0.602
        signs = {name: self._rng.choice((-1, 1)) for name in self._present}
        moves = {name: width * self._scale[name] * sign for name, sign in signs.items()}
        up, down = (
            _bounded({name: value + side * moves[name] for name, value in self._present.items()})
            for side in (1, -1)
        )
        gain = self._compare(Weights(up), Weights(down))
        for name in self._present:
            self._present[name] += rate * gain / width * signs[name] * self._scale[name]
        self._present = _bounded(self._present)
        part = max(_AVERAGED, 1 / self.steps)
        for name in self._present:
            self.mean[name] += part * (self._present[name] - self.mean[name])
        return gain

    def _compare(self, up: Weights, down: Weights) -> float:
        total = 0.0
        for rules, secret in self._next_deals():
            a, b = (PolicyPlayer(GreedyPolicy(rules, weights)) for weights in (up, down))
            total += math.tanh(duel(rules, a, b, [secret]).lead / _CLEAR_LEAD)
            total -= math.tanh(duel(rules, b, a, [secret]).lead / _CLEAR_LEAD)
        return total / self._blocks / 2

    def _next_deals(self) -> Iterator[tuple[Rules, bytes]]:
        for _ in range(self._blocks):
            rules = self._kinds[self._deals % len(self._kinds)]
            yield rules, secret_of(f"tune/{self._seed}", self._deals)
            self._deals += 1


def _least(name: str) -> float:
    if name in BONUSES:
        return 0.5
    return 0.04 if name.startswith("ahead_") else 0.1


def _bounded(weights: dict[str, float]) -> dict[str, float]:
    """Keep each weight but the bonuses at 0 or more, and each probability at 1 or less."""
    return {
        name: value if name in BONUSES else min(max(0.0, value), _most(name))
        for name, value in weights.items()
    }


def _most(name: str) -> float:
    return 1.0 if name.startswith(PROBABILITIES) else math.inf
