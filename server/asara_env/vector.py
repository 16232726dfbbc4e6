"""Many matches side by side: each step answers one decision per match, using arrays.

When a match ends, a new match replaces it within the same step. The row's entries in `dones`,
`rewards` and `prestige` then belong to the match that ended (`dones` is True). Its observation,
mask and seat belong to the first decision of the new match.

Every step returns the same array objects. Copy any data you need after the next step.
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
    """The open decisions and the results of the last actions; one row per match."""

    observations: Tensor
    """Shape [matches, OBSERVATION_SIZE]: observation of the deciding seat."""
    masks: npt.NDArray[np.bool_]
    """Shape [matches, ACTION_COUNT]: mask of the deciding seat."""
    seats: npt.NDArray[np.int8]
    """Shape [matches]: the deciding seat."""
    rewards: npt.NDArray[np.float32]
    """Shape [matches, 4]: rewards by seat if the match ended with this step, else 0."""
    dones: npt.NDArray[np.bool_]
    """Shape [matches]: True if the match ended with this step and a new match began in the row."""
    prestige: npt.NDArray[np.int32]
    """Shape [matches, 4]: final prestige by seat if the match ended with this step, else 0."""


class Matches:
    """A fixed number of matches, played side by side.

    `rules` and `seats` may be lists. Row r uses item r of each list, starting over after the last
    item.
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
        """Begin a new match in every row; the seed determines all deals from now on."""
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
        """Write the masks and seats of all rows in one pass, much faster than row by row."""
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

        If `observe` is False, the observations are not updated, which halves the time. Raise
        IllegalActionNumber, and change nothing, if any action is not legal.
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
        """Return the actions with these numbers. IllegalActionNumber reports the first bad row."""
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
        """Return the true state of a row, including everything hidden; valid until the next step.

        Teachers may use the state to label decisions, and so may opponents that only read what
        their seat knows. Agents must not use it. Applying actions to the state breaks the row.
        """
        return self._episode(row).state

    def _episode(self, row: int) -> Episode:
        """Return the match of a row; raise RuntimeError before `reset`, or IndexError."""
        if not self._episodes:
            raise RuntimeError("no match runs: call reset() first")
        if not 0 <= row < self.count:
            raise IndexError(f"row {row}: the rows are 0 to {self.count - 1}")
        return self._episodes[row]

    def world(self, row: int, rng: random.Random) -> Episode:
        """Return a match that the deciding seat of a row cannot tell from the true one."""
        episode = self._episode(row)
        return episode.world(episode.state.seat, rng)
