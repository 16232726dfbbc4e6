"""Strength against random and greedy in mirrored matches; the network plays its best action."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from asara_env.episode import Episode, match_rules, new_episode
from asara_env.policy_network import Network, prior
from asara_env.rewards import reward_by_rank
from asara_game import Deal, RandomShuffler, Rules, State, apply, determinize, view
from asara_game.vocabulary import DecisionKind
from asara_search.evaluation import Weights
from asara_search.policies import GreedyPolicy, Policy, RandomPolicy
from asara_server.tournament.standings.intervals_and_ranks import intervals_95
from asara_server.tournament.standings.result_table import BlockScores
from scripts.tuning.duel_command import RULES_OF_THUMB

from .estimates import greedy

OPPONENTS: Final[dict[str, Callable[[Rules], Policy]]] = {
    "random": lambda _: RandomPolicy(),
    "greedy": greedy,
}
Floats = npt.NDArray[np.float32]
Chooser = Callable[[Sequence[Episode], Sequence[Floats]], list[int]]
"""Returns an action number for the open decision of each match, given the actions' priors."""


@dataclass(frozen=True, slots=True)
class Strength:
    """The mean score over blocks: 1 if always first, 0 if always last."""

    against: str
    rules: str
    seats: int
    blocks: int
    score: float
    interval_95: tuple[float, float]
    prestige: float
    """Mean of the network's final prestige."""


def measure(
    choose: Chooser,
    against: str,
    rules: str,
    seats: int,
    blocks: int,
    name: str,
    estimates: Weights | None = None,
) -> Strength:
    """Play mirrored blocks: in each deal, the network plays every seat once against the opponent.

    Deals depend only on `name` and are never used in training. The priors come from `estimates`, by
    default greedy's.
    """
    numbers = match_rules(rules, seats)
    rng = random.Random(f"{name} {against} {rules} {seats}")
    opponent = OPPONENTS[against](numbers)
    priors = GreedyPolicy(numbers, estimates or RULES_OF_THUMB)
    scores: list[float] = []
    prestige: list[int] = []
    for first in range(0, blocks, 64):
        some = range(first, min(first + 64, blocks))
        tables = [
            (new_episode(numbers, Deal(_secret(name, rules, seats, block))), seat)
            for block in some
            for seat in range(seats)
        ]
        _play(tables, choose, priors, opponent, rng)
        for episode, seat in tables:
            points = episode.state.prestige
            scores.append((reward_by_rank(points)[seat] + 1) / 2)
            prestige.append(points[seat])
    party = np.zeros(len(scores), np.int64)
    block = np.repeat(np.arange(blocks), seats)
    found = BlockScores.of(party, block, np.array(scores), 1)
    low, high = intervals_95(found)[0]
    mean = float(found.means[0])
    return Strength(
        against, rules, seats, blocks, mean, (float(low), float(high)), float(np.mean(prestige))
    )


def _secret(name: str, rules: str, seats: int, block: int) -> bytes:
    return hashlib.sha256(f"asara/train/{name}/{rules}/{seats}/{block}".encode()).digest()


def _play(
    tables: Sequence[tuple[Episode, int]],
    choose: Chooser,
    estimates: GreedyPolicy,
    opponent: Policy,
    rng: random.Random,
) -> None:
    """Play all matches to the end, evaluating the network for all of them together."""
    running = list(tables)
    while running:
        for episode, seat in running:
            state = episode.state
            while state.seat >= 0 and state.seat != seat:
                episode.apply(opponent.choose(state, rng))
        running = [(episode, seat) for episode, seat in running if episode.state.seat >= 0]
        asked = [episode for episode, _ in running]
        priors = [prior(estimates.worths(episode.state)) for episode in asked]
        for episode, number in zip(asked, choose(asked, priors) if asked else (), strict=True):
            episode.step(number)


def by_numpy(network: Network) -> Chooser:
    """Return a chooser that takes the most probable action, as bots do."""

    def number(episode: Episode, worths: Floats) -> int:
        observation = episode.observe(episode.state.seat)
        hidden = network.hidden(observation, episode.numbers)
        found = network.probabilities(hidden, episode.numbers, worths)
        return episode.numbers[int(found.argmax())]

    return lambda episodes, priors: list(map(number, episodes, priors))


def by_turn(value: Callable[[State], Sequence[float]]) -> Chooser:
    """Return a chooser that takes the action with the best value after the seat's turn.

    After each action, greedy plays all seats until the seat's next turn begins, in one world that
    the seat cannot tell from the true one. The best action has the largest lead over the mean of
    the rivals' values at that point.
    """
    rng = random.Random(0)
    policies: dict[Rules, GreedyPolicy] = {}

    def number(episode: Episode) -> int:
        state = episode.state
        seat = state.seat
        if state.rules not in policies:
            policies[state.rules] = greedy(state.rules)
        policy = policies[state.rules]
        world = determinize(view(state, seat), rng)
        leads = []
        for action in tuple(world.legal):
            after = world.copy(RandomShuffler(rng))
            apply(after, action)
            while after.seat >= 0 and not (after.seat == seat and after.kind is DecisionKind.SPACE):
                apply(after, policy.choose(after, rng))
            values = value(after)
            leads.append(values[seat] - (sum(values) - values[seat]) / (len(values) - 1))
        return episode.numbers[leads.index(max(leads))]

    return lambda episodes, _: list(map(number, episodes))
