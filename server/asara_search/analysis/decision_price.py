"""What a decision cost: the chosen action compared with the best one, from what the seat knew.

All candidates are tried in the same worlds, with the same later shuffles, and the greedy policy
plays on. Some playouts choose the best candidate by sequential halving. Others, in other worlds and
to the end of the match, compare it with the chosen action. So an action that was only lucky when it
was chosen gains nothing, and noise invents no mistake.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from asara_game.actions import Action
from asara_game.engine import apply_one
from asara_game.rules import Rules
from asara_game.state import State
from asara_search.evaluation import evaluate
from asara_search.playout import LabelShuffler
from asara_search.search_base import Search, SearchSettings

from .budgets import VERSION, Budget
from .statistics import VALUE_SPREAD, Estimate, Sums, expected_scores, scale_of

__all__ = ["LOSSES", "CandidatePrice", "DecisionPrice", "DecisionPricer", "label_of"]

LOSSES: Final = {"inaccuracy": 0.05, "mistake": 0.10, "blunder": 0.20}
"""For each label, the loss that an action must exceed, in shares of a match."""
_CERTAIN: Final = 2.0
"""Standard errors by which a loss must exceed the limit of its label."""
_HOPE: Final = 1.5
"""Standard errors by which more playouts may change a loss, for the decision to play them."""
_NO_LIMIT: Final = 1000


class CandidatePrice(NamedTuple):
    """The expected score of a candidate.

    - `pricing`: True for the best and the chosen action, whose scores come from playouts to the end
      of the match; False for a rough score from the playouts that chose the best action
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
        self._years = rules.edition.years

    def price(
        self,
        sample: Callable[[random.Random], State],
        legal: Sequence[Action],
        chosen: Action,
        name: str,
        behind: Collection[int] = (),
    ) -> DecisionPrice:
        """Price a decision.

        `sample` returns a world with this decision open. `name` is a name of the decision that the
        seat knows; with the version of the analyser, it determines all random numbers. Seats
        `behind` have forfeited.
        """
        seed = hashlib.sha256(f"{VERSION}/{name}".encode()).digest()
        trials = _Trials(self._search, sample, random.Random(int.from_bytes(seed[:16])), behind)
        actions = self._search.shortlist(trials.world(), legal)
        if chosen not in actions:
            actions.append(chosen)
        choosing, best = self._choose(trials, actions)
        pair = (best, actions.index(chosen))
        pricing, loss = self._compare(trials, actions, pair)
        return DecisionPrice(
            actions[best],
            pricing[best].estimate(),
            Estimate(0.0, 0.0, 0) if actions[best] == chosen else loss.estimate(),
            tuple(
                CandidatePrice(
                    action,
                    (pricing[index] if index in pair else choosing[index]).estimate(),
                    index in pair,
                )
                for index, action in enumerate(actions)
            ),
            trials.playouts,
        )

    def _choose(self, trials: _Trials, actions: Sequence[Action]) -> tuple[list[Sums], int]:
        """Choose the best candidate: after each round, the worse half is dropped."""
        sums = [Sums() for _ in actions]
        alive = list(range(len(actions)))
        rounds = math.ceil(math.log2(len(actions)))
        left = self._budget.choosing
        for number in range(rounds):
            for _ in range(max(1, left // ((rounds - number) * len(alive)))):
                tried = [actions[index] for index in alive]
                values = trials.values(tried, self._budget.years)
                for index, value in zip(alive, values, strict=True):
                    sums[index].add(value)
                left -= len(alive)
            alive.sort(key=lambda index: -sums[index].total)
            alive = alive[: (len(alive) + 1) // 2]
        return sums, alive[0]

    def _compare(
        self, trials: _Trials, actions: Sequence[Action], pair: tuple[int, int]
    ) -> tuple[list[Sums], Sums]:
        """Compare the best action with the chosen one, longer if it may be a mistake."""
        sums = [Sums() for _ in actions]
        loss = Sums()
        best, chosen = pair
        tried = [actions[best], actions[chosen]] if best != chosen else [actions[best]]
        until = self._budget.pricing
        while True:
            while loss.number < until:
                values = trials.values(tried, self._years)
                sums[best].add(values[0])
                if best != chosen:
                    sums[chosen].add(values[1])
                loss.add(values[0] - values[-1])
            if not self._is_doubtful(loss.estimate()):
                return sums, loss
            until = min(2 * until, self._budget.doubtful)

    def _is_doubtful(self, loss: Estimate) -> bool:
        """Return True if the loss can still turn out to be worth a label with more playouts."""
        mean, error, worlds = loss
        share = worlds / self._budget.doubtful
        hope = _HOPE * math.sqrt(max(1.0 - share, 0.0)) - _CERTAIN * math.sqrt(share)
        return share < 1.0 and mean + hope * error > LOSSES["inaccuracy"]


class _Trials:
    """Tries actions in worlds of one decision.

    `playouts` is the number of playouts so far.
    """

    def __init__(
        self,
        search: Search,
        sample: Callable[[random.Random], State],
        rng: random.Random,
        behind: Collection[int],
    ) -> None:
        self._search = search
        self._sample = sample
        self._rng = rng
        self._behind = behind
        self.playouts = 0

    def world(self) -> State:
        return self._sample(self._rng)

    def values(self, actions: Sequence[Action], years: int) -> list[float]:
        """Return the score that each action brings the seat, all in one world with the same later
        shuffles. The policy plays for this number of years.
        """
        world = self.world()
        seat = world.seat
        scale = scale_of(world, VALUE_SPREAD)
        seed = self._rng.getrandbits(40)
        values: list[float] = []
        for action in actions:
            state = world.copy(LabelShuffler(seed))
            apply_one(state, action)
            self._search.play_on(state, world.year + years, _NO_LIMIT)
            prestige = evaluate(state, self._search.estimator)
            values.append(expected_scores(prestige, scale, self._behind)[seat])
        self.playouts += len(actions)
        return values
