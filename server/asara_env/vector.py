"""Many matches at once: every step answers one decision in each, with arrays in and out.

A match that ends is replaced by a new one within the same step: its row of `dones` is True, its row
of `rewards` and `prestige` is that of the match that ended, and its observation, mask and seat are
those of the new match's first decision.

The arrays are the same objects in every step; copy what must outlive the next one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from asara_game import Action, Deal, Edition, Rules, State

from .action_numbers import ACTION_COUNT
from .deals import Deals
from .episode import Episode, IllegalActionNumber, match_rules, new_episode
from .observation import OBSERVATION_BYTES, OBSERVATION_SIZE, Tensor
from .rewards import reward_function

__all__ = ["Matches", "Step"]

_MOST_SEATS: Final = 4


class Step(NamedTuple):
    """The decisions that are open now, and what the last actions brought; row by row."""

    observations: Tensor
    """[matches, OBSERVATION_SIZE], of the seat that decides."""
    masks: npt.NDArray[np.bool_]
    """[matches, ACTION_COUNT], of the seat that decides."""
    seats: npt.NDArray[np.int8]
    """[matches]: the seat that decides."""
    rewards: npt.NDArray[np.float32]
    """[matches, 4]: rewards by seat if the match has ended with this step, else 0."""
    dones: npt.NDArray[np.bool_]
    """[matches]: True if the match has ended with this step; the row is of the next match."""
    prestige: npt.NDArray[np.int32]
    """[matches, 4]: final prestige by seat if the match has ended with this step, else 0."""


class Matches:
    """A fixed number of matches that are played side by side.

    `rules` and `seats` may be lists: row r plays the r-th of each, and begins again after the last.
    """

    def __init__(
        self,
        rules: str | Rules | Sequence[str | Rules] = "basic",
        seats: int | Sequence[int] = 2,
        count: int = 64,
        *,
        reward: str = "rank",
        edition: Edition | None = None,
    ) -> None:
        if count < 1:
            raise ValueError(f"count {count}: at least one match")
        all_rules = [rules] if isinstance(rules, str | Rules) else list(rules)
        all_seats = [seats] if isinstance(seats, int) else list(seats)
        if not all_rules or not all_seats:
            raise ValueError("rules and seats: name at least one of each")
        made: dict[Any, Rules] = {}
        self._rules: list[Rules] = []
        for row in range(count):
            key = (all_rules[row % len(all_rules)], all_seats[row % len(all_seats)])
            if key not in made:
                made[key] = match_rules(*key, edition)
            self._rules.append(made[key])
        self._reward = reward_function(reward)
        self.count = count
        self._deals: list[Deals] = []
        self._episodes: list[Episode] = []
        self._observations = bytearray(count * OBSERVATION_BYTES)
        self._masks = np.zeros(count * ACTION_COUNT, np.bool_)
        self._first_numbers = np.arange(count) * ACTION_COUNT
        self._step = Step(
            np.frombuffer(self._observations, np.float32).reshape(count, OBSERVATION_SIZE),
            self._masks.reshape(count, ACTION_COUNT),
            np.zeros(count, np.int8),
            np.zeros((count, _MOST_SEATS), np.float32),
            np.zeros(count, np.bool_),
            np.zeros((count, _MOST_SEATS), np.int32),
        )

    def __reduce__(self) -> Any:
        raise TypeError(
            "matches cannot be copied or pickled: a copy would hold all that is hidden; "
            "world(row, rng) returns one match that its seat cannot tell from the true one"
        )

    def reset(self, seed: SupportsIndex | None = None) -> Step:
        """Begin a new match in every row; the seed decides all deals from now on."""
        if seed is None:
            self._deals = [Deals(None) for _ in range(self.count)]
        else:
            self._deals = [Deals(seed, f"{row}.") for row in range(self.count)]
        self._episodes = [self._deal(row) for row in range(self.count)]
        step = self._step
        step.rewards[:] = 0
        step.dones[:] = False
        step.prestige[:] = 0
        for row, episode in enumerate(self._episodes):
            episode.write(self._observations, row * OBSERVATION_BYTES)
        self._write_masks_and_seats()
        return step

    def _deal(self, row: int) -> Episode:
        return new_episode(self._rules[row], Deal(self._deals[row].next_secret()))

    def _write_masks_and_seats(self) -> None:
        """Write the masks and seats of all rows together, in a fraction of the time of each row."""
        numbers: list[int] = []
        counts: list[int] = []
        seats: list[int] = []
        for episode in self._episodes:
            numbers += episode.numbers
            counts.append(len(episode.numbers))
            seats.append(episode.state.seat)
        legal = np.fromiter(numbers, np.intp, len(numbers))
        legal += np.repeat(self._first_numbers, counts)
        self._masks.fill(False)
        self._masks[legal] = True
        self._step.seats[:] = seats

    def step(self, actions: npt.ArrayLike, *, observe: bool = True) -> Step:
        """Carry out one action in every match, given by number.

        With `observe` off, the observations stay as they were, which takes about half the time.
        Raise IllegalActionNumber, and change nothing, if one of them is not legal.
        """
        chosen = self._check(actions)
        step = self._step
        if step.dones.any():
            step.rewards[:] = 0
            step.prestige[:] = 0
            step.dones[:] = False
        for row, action in enumerate(chosen):
            episode = self._episodes[row]
            episode.apply(action)
            if episode.state.seat < 0:
                self._end(row, episode)
                episode = self._episodes[row] = self._deal(row)
            if observe:
                episode.write(self._observations, row * OBSERVATION_BYTES)
        self._write_masks_and_seats()
        return step

    def _check(self, actions: npt.ArrayLike) -> list[Action]:
        """Return the actions of the numbers; raise IllegalActionNumber naming the first row."""
        if not self._episodes:
            raise RuntimeError("no match runs: call reset() before step()")
        try:
            chosen = np.asarray(actions)
        except ValueError:
            raise TypeError(
                f"actions: an array of {self.count} whole numbers is needed, "
                "not lists of different lengths"
            ) from None
        integers = chosen.dtype.kind in "iu"
        if not integers or chosen.shape != (self.count,):
            words = (
                f"actions: an array of {self.count} whole numbers is needed, "
                f"not {chosen.dtype} of shape {chosen.shape}"
            )
            raise IllegalActionNumber(words) if integers else TypeError(words)
        row = 0
        found: list[Action] = []
        try:
            for row, number in enumerate(chosen.tolist()):
                found.append(self._episodes[row].action(number))
        except IllegalActionNumber as error:
            raise IllegalActionNumber(f"row {row}: {error}") from None
        return found

    def _end(self, row: int, episode: Episode) -> None:
        """Write the results of a match that has ended."""
        prestige = episode.state.prestige
        seats = len(prestige)
        self._step.dones[row] = True
        self._step.prestige[row, :seats] = prestige
        self._step.rewards[row, :seats] = self._reward(prestige)

    def state(self, row: int) -> State:
        """Return the true state of a row, with all that is hidden, until the next step.

        It is for teachers that label decisions and for opponents that keep to what their seat
        knows, not for agents. Applying actions to it breaks the row.
        """
        return self._episode(row).state

    def _episode(self, row: int) -> Episode:
        """Return the match of a row; raise RuntimeError or IndexError."""
        if not self._episodes:
            raise RuntimeError("no match runs: call reset() first")
        if not 0 <= row < self.count:
            raise IndexError(f"row {row}: the rows are 0 to {self.count - 1}")
        return self._episodes[row]

    def world(self, row: int, rng: random.Random) -> Episode:
        """Return a match that the seat that decides in a row cannot tell from the true one."""
        episode = self._episode(row)
        return episode.world(episode.state.seat, rng)
