"""Plays matches on the engine's states in one process: thousands of matches take minutes.

There is no referee, no message and no clock. A player sees only what its seat may know: a policy
reads nothing else, and a search receives worlds dealt from the view.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.engine import apply, new_match, outcome
from asara_game.knowledge.determinize import determinize
from asara_game.rules import Rules
from asara_game.scoring import Outcome
from asara_game.state import State
from asara_game.view import view
from asara_search.policies import Policy
from asara_search.search_base import Search
from asara_server.tournament.standings.intervals_and_ranks import intervals_95
from asara_server.tournament.standings.result_table import BlockScores

_UNLIMITED: Final = 10**12


class Player(Protocol):
    """One seat of a match."""

    def choose(self, state: State) -> Action:
        """Return a legal action for the seat that decides."""


class PolicyPlayer:
    """Plays by a policy."""

    def __init__(self, policy: Policy, seed: int = 0) -> None:
        self._policy = policy
        self._rng = random.Random(seed)

    def choose(self, state: State) -> Action:
        return self._policy.choose(state, self._rng)


class SearchPlayer:
    """Plays by a search with a fixed number of playouts per decision, or a fixed time."""

    def __init__(
        self, search: Search, iterations: int | None, milliseconds: int = 0, seed: int = 0
    ) -> None:
        """The time counts only if there is no number of playouts."""
        self._search = search
        self._iterations = iterations
        self._seconds = milliseconds / 1000
        self._rng = random.Random(seed)

    def choose(self, state: State) -> Action:
        seen = view(state, state.seat)
        rng = self._rng
        iterations, deadline = self._iterations, 0.0
        if iterations is None:
            iterations, deadline = _UNLIMITED, time.perf_counter() + self._seconds
        return self._search.choose(
            lambda: determinize(seen, rng), seen.legal, rng, iterations, deadline
        )


def play(rules: Rules, secret: bytes, players: Sequence[Player]) -> Outcome:
    """Play a match to its end; one player per seat."""
    state, _ = new_match(rules, Deal(secret))
    while state.legal:
        apply(state, players[state.seat].choose(state))
    found = outcome(state)
    assert found is not None
    return found


def secret_of(purpose: str, number: int) -> bytes:
    """Return the secret of a deal. Purposes such as `tune` and `strength` share no deals."""
    return random.Random(f"{purpose}/{number}").randbytes(32)


@dataclass(frozen=True, slots=True)
class Duel:
    """Result of blocks in which one player takes every seat in turn at a table of others."""

    scores: tuple[float, ...]
    """By block: the player's mean share of the victory."""
    leads: tuple[float, ...]
    """By block: the player's mean lead over its best rival, in prestige."""

    @property
    def score(self) -> float:
        return float(np.mean(self.scores))

    @property
    def lead(self) -> float:
        return float(np.mean(self.leads))

    @property
    def interval_95(self) -> tuple[float, float]:
        """Return a 95 % interval for the expected score of a block."""
        blocks = len(self.scores)
        party = np.zeros(blocks, np.int64)
        scores = BlockScores.of(party, np.arange(blocks), np.array(self.scores), 1)
        low, high = intervals_95(scores)[0]
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.interval_95
        return (
            f"{self.score:.3f} (95 %: {low:.3f}-{high:.3f}) in {len(self.scores)} blocks, "
            f"lead {self.lead:+.1f}"
        )


def duel(
    rules: Rules,
    player: Player,
    rival: Player,
    deals: Sequence[bytes],
    report: Callable[[Duel], None] | None = None,
) -> Duel:
    """Play a block for each deal; `report` is called with the result so far after each block."""
    scores: list[float] = []
    leads: list[float] = []
    for secret in deals:
        share = lead = 0.0
        for seat in range(rules.seats):
            table = [player if other == seat else rival for other in range(rules.seats)]
            ended = play(rules, secret, table)
            if seat in ended.winners:
                share += 1 / len(ended.winners)
            rest = [points for other, points in enumerate(ended.prestige) if other != seat]
            lead += ended.prestige[seat] - max(rest)
        scores.append(share / rules.seats)
        leads.append(lead / rules.seats)
        if report is not None:
            report(Duel(tuple(scores), tuple(leads)))
    return Duel(tuple(scores), tuple(leads))
