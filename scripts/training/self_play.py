"""Collects decisions and their results from matches played side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from asara_env.action_numbers import ACTION_COUNT, legal_numbers
from asara_env.observation import OBSERVATION_SIZE
from asara_env.policy_network import MOST_SEATS, PRESTIGE_UNIT, VALUE_COUNT, prior
from asara_env.vector import Matches, Step
from asara_game import RULE_COMBINATIONS, format_rule_sets
from asara_search.policies import GreedyPolicy

from .estimates import greedy
from .network import TrainedNetwork

SEATS: Final = (2, 2, 2, 3, 4)
"""Numbers of seats of the rows. More rows have two seats, where one error decides more."""
RULES: Final = tuple(format_rule_sets(rule_sets) for rule_sets in RULE_COMBINATIONS)

Array = npt.NDArray[Any]


@dataclass
class Samples:
    """One player's decisions, with training targets; all arrays have one row per decision."""

    observations: Array
    """float16 [n, OBSERVATION_SIZE]"""
    masks: Array
    """bool [n, ACTION_COUNT]"""
    priors: Array
    """float16 [n, ACTION_COUNT]: priors of the legal actions; 0 for other actions."""
    actions: Array
    """The chosen action, or the teacher's action."""
    log_probabilities: Array
    """Log probabilities of the actions at the time they were chosen."""
    advantages: Array
    targets: Array
    """float32 [n, VALUE_COUNT]: true values to learn; NaN for an empty seat."""


def lead(values: Array, seats: int) -> Array:
    """Return what play maximises: score plus prestige lead of the first of `seats` seats."""
    rivals = values[..., MOST_SEATS + 1 : MOST_SEATS + seats].mean(axis=-1)
    result: Array = values[..., 0] + values[..., MOST_SEATS] - rivals
    return result


def outcome_values(rewards: Array, prestige: Array, seat: int, seats: int) -> Array:
    """Return the true values of a seat at the end of a match; NaN for empty seats."""
    values = np.full(VALUE_COUNT, np.nan, np.float32)
    places = (seat + np.arange(seats)) % seats
    values[:seats] = (rewards[places] + 1) / 2
    values[MOST_SEATS : MOST_SEATS + seats] = prestige[places] / PRESTIGE_UNIT
    return values


class Collector:
    """Matches of all rule sets and numbers of seats, played by the network and by `greedy`."""

    def __init__(self, count: int, seed: int, decay: float) -> None:
        rows = [(rules, seats) for seats in SEATS for rules in RULES]
        rows = [rows[row % len(rows)] for row in range(count)]
        self._matches = Matches([r for r, _ in rows], [s for _, s in rows], count)
        self._seats = np.array([seats for _, seats in rows])
        self._rng = np.random.default_rng(seed)
        self._step: Step = self._matches.reset(seed)
        self._decay = decay
        self._greedy: dict[tuple[str, int], GreedyPolicy] = {}
        self._rows = rows
        self._played = np.ones((count, MOST_SEATS), np.bool_)
        """[row, seat]: True if the network plays the seat, False if greedy does."""
        self._priors = np.zeros((count, ACTION_COUNT), np.float32)
        self._open: list[list[list[int]]] = [[[] for _ in range(MOST_SEATS)] for _ in rows]
        """By row and seat: where the decisions of the running match are stored."""
        self._imitating = False
        self._free: list[int] = []
        self._grow(1 << 14)

    def _grow(self, size: int) -> None:
        """Make room for this many decisions."""
        old = len(self._free) if not hasattr(self, "observations") else len(self.actions)
        shapes: dict[str, tuple[tuple[int, ...], Any]] = {
            "observations": ((OBSERVATION_SIZE,), np.float16),
            "masks": ((ACTION_COUNT,), np.bool_),
            "priors": ((ACTION_COUNT,), np.float16),
            "actions": ((), np.int64),
            "log_probabilities": ((), np.float32),
            "leads": ((), np.float32),
            "advantages": ((), np.float32),
            "targets": ((VALUE_COUNT,), np.float32),
        }
        for name, (shape, dtype) in shapes.items():
            new = np.zeros((size, *shape), dtype)
            if old:
                new[:old] = getattr(self, name)
            setattr(self, name, new)
        self._free.extend(range(size - 1, old - 1, -1))

    observations: Array
    masks: Array
    priors: Array
    actions: Array
    log_probabilities: Array
    leads: Array
    advantages: Array
    targets: Array

    def imitate(self, size: int, noise: float) -> Samples:
        """Return at least `size` decisions in which greedy plays all seats.

        A share `noise` of actions is random, so that positions after mistakes occur too.
        """
        self._imitating = True
        self._played[:] = True
        ready: list[int] = []
        while len(ready) < size:
            step = self._step
            chosen = [self._look(row) for row in range(len(self._rows))]
            places = self._store(step, range(len(self._rows)))
            self.actions[places] = chosen
            for row in np.flatnonzero(self._rng.random(len(chosen)) < noise).tolist():
                chosen[row] = int(self._rng.choice(np.flatnonzero(step.masks[row])))
            self._advance(np.array(chosen), ready, 0.0)
        return self._taken(ready)

    @torch.no_grad()
    def play(
        self, network: TrainedNetwork, size: int, against_greedy: float, device: torch.device
    ) -> Samples:
        """Return at least `size` decisions of the network, from matches that have ended.

        In a share `against_greedy` of the matches, greedy plays all seats but one.
        """
        if self._imitating:
            self._forget()
        ready: list[int] = []
        while len(ready) < size:
            step = self._step
            every = np.arange(len(self._rows))
            own = self._played[every, step.seats]
            chosen = np.array([self._look(row) for row in every.tolist()])
            rows = np.flatnonzero(own)
            if len(rows):
                places = self._store(step, rows.tolist())
                arrays = (step.observations[rows], step.masks[rows], self._priors[rows])
                logs, values = network(*(torch.from_numpy(array).to(device) for array in arrays))
                noise = -torch.log(-torch.log(torch.rand_like(logs).clamp_min(1e-20)))
                actions = (logs + noise).argmax(dim=1)
                chosen[rows] = self.actions[places] = actions.cpu().numpy()
                picked = logs.gather(1, actions[:, None])[:, 0]
                self.log_probabilities[places] = picked.cpu().numpy()
                found = values.cpu().numpy()
                for seats in (2, 3, 4):
                    some = self._seats[rows] == seats
                    self.leads[places[some]] = lead(found[some], seats)
            self._advance(chosen, ready, against_greedy)
        return self._taken(ready)

    def _forget(self) -> None:
        """Drop the decisions of running matches, because the teacher made them."""
        self._imitating = False
        for seats in self._open:
            for places in seats:
                self._free.extend(places)
                places.clear()

    def _look(self, row: int) -> int:
        """Write the priors of a row; return the number of greedy's action."""
        state = self._matches.state(row)
        key = self._rows[row]
        policy = self._greedy.get(key)
        if policy is None:
            policy = self._greedy[key] = greedy(state.rules)
        found = prior(policy.worths(state))
        numbers = legal_numbers(state)
        self._priors[row] = 0
        self._priors[row, numbers] = found
        return numbers[int(found.argmax())]

    def _store(self, step: Step, rows: Sequence[int]) -> Array:
        """Store the open decisions of some rows; return where they are stored."""
        while len(self._free) < len(rows):
            self._grow(2 * len(self.actions))
        places = np.array([self._free.pop() for _ in rows])
        index = np.asarray(rows)
        self.observations[places] = step.observations[index]
        self.masks[places] = step.masks[index]
        self.priors[places] = self._priors[index]
        seats = step.seats[index].tolist()
        for row, seat, place in zip(rows, seats, places.tolist(), strict=True):
            self._open[row][seat].append(place)
        return places

    def _advance(self, actions: Array, ready: list[int], against_greedy: float) -> None:
        """Carry out the actions, and compute the targets of matches that have ended."""
        step = self._step = self._matches.step(actions)
        for row in np.flatnonzero(step.dones).tolist():
            seats = int(self._seats[row])
            for seat in range(seats):
                places = self._open[row][seat]
                if places:
                    values = outcome_values(step.rewards[row], step.prestige[row], seat, seats)
                    self.targets[places] = values
                    self._estimate(np.array(places), float(lead(values, seats)))
                    ready.extend(places)
                    self._open[row][seat] = []
            self._played[row] = True
            if self._rng.random() < against_greedy:
                self._played[row] = False
                self._played[row, self._rng.integers(seats)] = True

    def _estimate(self, places: Array, final: float) -> None:
        """Compute generalised advantages without discounting: all reward comes at the end."""
        leads = self.leads[places]
        changes = np.append(leads[1:], np.float32(final)) - leads
        total = 0.0
        for at in range(len(places) - 1, -1, -1):
            total = float(changes[at]) + self._decay * total
            self.advantages[places[at]] = total

    def _taken(self, ready: list[int]) -> Samples:
        """Return stored decisions, and free their space."""
        places = np.array(ready)
        self._free.extend(ready)
        return Samples(
            self.observations[places],
            self.masks[places],
            self.priors[places],
            self.actions[places],
            self.log_probabilities[places],
            self.advantages[places],
            self.targets[places],
        )
