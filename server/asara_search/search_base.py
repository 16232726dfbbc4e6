"""Code shared by all searches: switches, candidates, and the value of a state."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from asara_game.actions import Action
from asara_game.events import Event
from asara_game.moves import HANDLERS
from asara_game.rules import Rules
from asara_game.state import State
from asara_game.vocabulary import Area, DecisionKind

from .evaluation import Estimator, Weights
from .forecast import Forecast
from .policies import GreedyPolicy

__all__ = ["Search", "SearchSettings"]

_SPACE: Final = DecisionKind.SPACE
_BUILD, _BUILD_COUNT = DecisionKind.BUILD, DecisionKind.BUILD_COUNT
_ALIKE: Final = (
    int(Area.BANK),
    int(Area.HOUSE_OF_SPIES),
    int(Area.TENT),
    int(Area.HOUSE_OF_THE_BOTTLE_GENIE),
)
"""Areas whose spaces differ only in their cost or income."""


@dataclass(frozen=True)
class SearchSettings:
    """The switches of a search. Raises ValueError for a value out of range."""

    candidates: int = 24
    """Maximum number of actions that are tried out. A turn search tries no more than playouts."""
    turns: int = 0
    """Turns played on after the seat's own before the state is priced; 0 sets no limit."""
    years: int = 1
    """Years played on, the present one included, before the state is priced."""
    prior: float = 5.0
    """The policy's price of an action counts as much as this many playouts."""
    scale: float = 6.0
    """Lead, in prestige, that raises the expected score against a seat from 0.5 to 0.73; 0 lets the
    search maximise the lead itself."""
    filter_moves: bool = True
    """True to try only the best of the spaces that differ only in cost or income."""
    noise: float = 0.0
    """Standard deviation, in prestige, of the chance that is added to the policy's prices: a weaker
    opponent for people."""

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= 1000:
            raise ValueError(f"candidates is {self.candidates}; use 1 to 1,000")
        if not 0 <= self.turns <= 1000:
            raise ValueError(f"turns is {self.turns}; use 0 to 1,000")
        if not 1 <= self.years <= 100:
            raise ValueError(f"years is {self.years}; use 1 to 100")
        if not 0 <= self.prior <= 1e6:
            raise ValueError(f"prior is {self.prior}; use 0 to 1,000,000")
        if not 0 <= self.scale <= 1e6:
            raise ValueError(f"scale is {self.scale}; use 0 to 1,000,000")
        if not 0 <= self.noise <= 1e6:
            raise ValueError(f"noise is {self.noise}; use 0 to 1,000,000")


class Search:
    """A search of one seat's decisions in one match; base of `TurnSearch` and `TreeSearch`."""

    def __init__(
        self,
        rules: Rules,
        settings: SearchSettings,
        policy_weights: Weights | None = None,
    ) -> None:
        self.rules = rules
        self.policy = GreedyPolicy(rules, policy_weights)
        self.estimator = Estimator(rules)
        self.forecast = Forecast()
        self.candidates = settings.candidates
        self.turns = settings.turns or 1000
        self.years = settings.years
        self.prior = settings.prior
        self.scale = settings.scale
        self.filter_moves = settings.filter_moves
        self.noise = settings.noise
        self.priors: list[float] = []
        """Prices of the candidates that `shortlist` returned last."""
        self.playouts = 0
        """Number of playouts so far."""
        self._rng = random.Random(0)

    def choose(
        self,
        sample: Callable[[], State],
        legal: Sequence[Action],
        rng: random.Random,
        iterations: int,
        deadline: float,
    ) -> Action:
        """Return the best of the legal actions.

        Each call of `sample` returns a new world with this decision open, which the search may
        change. The search ends after about `iterations` playouts, or at `deadline`, a time of
        `time.perf_counter` (0 for no deadline).
        """
        raise NotImplementedError

    def ponder(self, world: State, seat: int, rng: random.Random) -> None:
        """Prepare the seat's next decision, in a world where other seats decide first.

        The search may change the world. One call takes as long as one playout.
        """
        raise NotImplementedError

    def shortlist(
        self, world: State, legal: Sequence[Action], chance: random.Random | None = None
    ) -> list[Action]:
        """Return the candidates in the order of the policy's prices, best first.

        With `chance`, the settings' noise is added to prices in prestige, so not in a build.
        """
        policy = self.policy
        policy.look(world)
        priced: list[tuple[float, int]] = []
        choosing = self.filter_moves and world.kind is _SPACE
        noise = 0.0 if world.kind is _BUILD or world.kind is _BUILD_COUNT else self.noise
        taken = 0
        for index in range(len(legal)):
            # Of spaces that differ in cost or income alone, the best one comes last or first.
            place = len(legal) - 1 - index
            action = legal[place]
            worth = policy.action_worth(world, action)
            if chance is not None and noise:
                worth += chance.gauss(0.0, noise)
            priced.append((-worth, place))
        priced.sort()
        actions: list[Action] = []
        self.priors = []
        for cost, place in priced:
            action = legal[place]
            if choosing:
                info = self.rules.spaces_by_action[action]
                area = info.area
                if area in _ALIKE and (info.chest < 0 or not world.chests[info.chest]):
                    if taken >> area & 1:
                        continue
                    taken |= 1 << area
            actions.append(action)
            self.priors.append(-cost)
            if len(actions) == self.candidates:
                break
        return actions

    def play_on(self, state: State, year: int, turns: int) -> None:
        """Let the policy play a state on until a year, a turn or the match begins or ends."""
        events: list[Event] = []
        policy = self.policy
        rng = self._rng
        while state.seat >= 0 and state.year < year:
            legal = state.legal
            if state.kind is _SPACE:
                turns -= 1
                if turns < 0:
                    break
            answer = legal[0] if len(legal) == 1 else policy.choose(state, rng)
            HANDLERS[state.kind](state, answer, events)
            events.clear()

    def play_to(self, state: State, seat: int) -> bool:
        """Let the policy play a state on until the seat decides.

        Return False if the match or the year ends before that.
        """
        events: list[Event] = []
        year = state.year
        while state.seat >= 0 and state.year == year:
            legal = state.legal
            if len(legal) > 1 and state.seat == seat:
                return True
            answer = legal[0] if len(legal) == 1 else self.policy.choose(state, self._rng)
            HANDLERS[state.kind](state, answer, events)
            events.clear()
        return False

    def worth(self, state: State, seat: int) -> float:
        """Return what a state is worth to a seat (see `advantage`)."""
        return self.advantage(self.expected(state), seat)

    def expected(self, state: State) -> list[float]:
        """Return the prestige that each seat can expect, by seat.

        Only the differences between seats are meaningful: when a year begins, the forecast replaces
        the evaluation.
        """
        estimator = self.estimator
        if state.seat >= 0 and not any(state.dispatched):
            forecast = self.forecast
            return [forecast.value(estimator, state, seat) for seat in range(estimator.seats)]
        return [estimator.value(state, seat) for seat in range(estimator.seats)]

    def advantage(self, prestige: list[float], seat: int) -> float:
        """Return a seat's mean lead over the other seats, from the prestige that each can expect.

        If a scale is set, each lead is transformed to grow like the score against that seat.
        """
        scale = self.scale
        total = 0.0
        for other in range(len(prestige)):
            if other != seat:
                lead = prestige[seat] - prestige[other]
                total += 2.0 * scale * math.tanh(lead / scale / 2.0) if scale else lead
        return total / (len(prestige) - 1)
