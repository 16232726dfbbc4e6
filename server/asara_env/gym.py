"""A Gymnasium environment of the game, `Asara-v0`: one seat against given opponents.

An observation is a dictionary with `observation` (see `asara_env.observation`) and `action_mask`.
`info` also has the mask. The environment plays the opponents' turns itself. The reward comes at the
end of the match.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from asara_game import Deal, Edition

from .action_numbers import ACTION_COUNT
from .deals import Deals, given_secret
from .episode import Episode, IllegalActionNumber, match_rules, new_episode, whole
from .missing_library import missing
from .observation import OBSERVATION_SIZE, Tensor, observation_limits
from .render import render_table
from .rewards import reward_function

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise missing("gymnasium", "env") from error

__all__ = ["Opponent", "SeatEnv", "random_opponent"]

Observation = dict[str, npt.NDArray[Any]]
Opponent = Callable[[Tensor, npt.NDArray[np.int8], np.random.Generator], int]
"""A function that takes an observation, its mask and the environment's generator, and returns an
action."""


def random_opponent(
    observation: Tensor,  # noqa: ARG001 - an opponent of its own would look at it
    mask: npt.NDArray[np.int8],
    rng: np.random.Generator,
) -> int:
    """Return a random legal action."""
    return int(rng.choice(np.flatnonzero(mask)))


_OPPONENTS: Final[dict[str, Opponent]] = {"random": random_opponent}


class SeatEnv(gymnasium.Env[Observation, np.int64]):
    """Plays one seat in one match after another.

    `seat` is the learning seat, or None for a random seat in every match. `opponents` is `random`,
    a function, or a list with `random` or a function for each other seat in rising order. If
    `illegal` is `lose`, an illegal action ends the match with the reward for last place; by default
    it raises an error. Copying or pickling an environment keeps its settings but no match, because
    a match contains hidden information.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium declares it so
        "render_modes": ["ansi"],
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: str = "basic",
        seats: int = 2,
        *,
        seat: int | None = 0,
        opponents: str | Opponent | Sequence[str | Opponent] = "random",
        reward: str = "rank",
        illegal: str = "error",
        render_mode: str | None = None,
        edition: Edition | None = None,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode {render_mode!r}: only 'ansi' or None")
        self.rules = match_rules(rules, seats, edition)
        if seat is not None and seat not in range(seats):
            raise ValueError(f"seat {seat}: a match of {seats} has the seats 0 to {seats - 1}")
        if illegal not in ("error", "lose"):
            raise ValueError(f"illegal {illegal!r}: 'error' or 'lose'")
        self.seat = seat or 0
        """The learning seat in the current match."""
        self.render_mode = render_mode
        self._arguments = {
            "rules": rules,
            "seats": seats,
            "seat": seat,
            "opponents": opponents,
            "reward": reward,
            "illegal": illegal,
            "render_mode": render_mode,
            "edition": edition,
        }
        self._fixed_seat = seat
        self._lose = illegal == "lose"
        self._opponents = _opponents(opponents, seats - 1)
        self._reward = reward_function(reward)
        self._deals = Deals(None)
        self._episode: Episode | None = None
        self._over = False
        self.observation_space: Any = spaces.Dict(
            {
                "observation": spaces.Box(
                    np.zeros(OBSERVATION_SIZE, np.float32), observation_limits()
                ),
                "action_mask": spaces.Box(0, 1, (ACTION_COUNT,), np.int8),
            }
        )
        self.action_space: Any = spaces.Discrete(ACTION_COUNT)

    def __reduce__(self) -> Any:
        """Copy only the settings."""
        return _made, (self._arguments,)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a match and play up to the seat's first decision.

        A seed determines all deals and random choices from now on. The option `secret`, 32 bytes,
        determines the deal of this match only. Other options are ignored.
        """
        secret = given_secret(options)
        super().reset(seed=seed)
        if seed is not None:
            self._deals = Deals(seed)
        if secret is None:
            secret = self._deals.next_secret()
        if self._fixed_seat is None:
            self.seat = int(self.np_random.integers(self.rules.seats))
        episode = self._episode = new_episode(self.rules, Deal(secret))
        self._over = False
        self._play_opponents(episode)
        return self._observation(episode)

    def _running(self) -> Episode:
        if self._episode is None:
            raise RuntimeError(
                "no match runs: call reset() first; a copy of an environment has no match either"
            )
        return self._episode

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action of the seat, then play up to its next decision.

        Raises IllegalActionNumber, and changes nothing, if the action is not legal. Raises
        RuntimeError if the match is over.
        """
        episode = self._running()
        if self._over or episode.state.seat < 0:
            raise RuntimeError("the match is over: call reset()")
        number = whole(action)
        try:
            episode.step(number)
        except IllegalActionNumber:
            if not self._lose:
                raise
            return self._lost(episode)
        self._play_opponents(episode)
        over = episode.state.seat < 0
        reward = self._reward(episode.state.prestige)[self.seat] if over else 0.0
        observation, info = self._observation(episode)
        if over:
            info["prestige"] = list(episode.state.prestige)
        return observation, reward, over, False, info

    def _lost(self, episode: Episode) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """End the match with the reward for last place."""
        self._over = True
        prestige = list(episode.state.prestige)
        prestige[self.seat] = -1
        observation, info = self._observation(episode)
        return observation, self._reward(prestige)[self.seat], True, False, info

    def _play_opponents(self, episode: Episode) -> None:
        """Answer the other seats' decisions; raise IllegalActionNumber, which reports the seat."""
        while (seat := episode.state.seat) not in (self.seat, -1):
            opponent = self._opponents[seat - (seat > self.seat)]
            number = opponent(episode.observe(seat), episode.mask(), self.np_random)
            try:
                episode.step(whole(number))
            except (IllegalActionNumber, TypeError) as error:
                self._episode = None
                raise type(error)(f"the opponent of seat {seat}: {error}") from None

    def _observation(self, episode: Episode) -> tuple[Observation, dict[str, Any]]:
        mask = episode.mask()
        observation = episode.observe(self.seat)
        return {"observation": observation, "action_mask": mask}, {"action_mask": mask}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the mask of the open decision; sb3-contrib looks for a method with this name.

        Without a match, or after its end, no action is legal.
        """
        if self._episode is None:
            return np.zeros(ACTION_COUNT, np.bool_)
        return self._episode.mask().view(np.bool_)

    def render(self) -> Any:
        """Return the public information as text, in render mode `ansi`."""
        return render_table(self._running().state) if self.render_mode == "ansi" else None

    def world(self, rng: random.Random) -> SeatEnv:
        """Return a copy in which everything hidden from the seat, and the future, is dealt anew.

        The opponents' random choices also come from `rng`.
        """
        new = self._with(self._running().world(self.seat, rng))
        new.np_random = np.random.default_rng(rng.getrandbits(64))
        return new

    def exact_copy(self) -> SeatEnv:
        """Return a copy with all hidden information and future shuffles; keep it from agents."""
        new = self._with(self._running().copy())
        new.np_random = copy.deepcopy(self.np_random)
        return new

    def _with(self, episode: Episode) -> SeatEnv:
        if self._over or episode.state.seat < 0:
            raise ValueError("the match is over: there is nothing to copy")
        new = _made(self._arguments)
        new.seat = self.seat
        new._episode = episode
        return new


def _made(arguments: dict[str, Any]) -> SeatEnv:
    return SeatEnv(**arguments)


def _opponents(
    given: str | Opponent | Sequence[str | Opponent], count: int
) -> tuple[Opponent, ...]:
    """Return an opponent for each other seat; raise ValueError if `opponents` is invalid."""
    words = "a function, or one of " + ", ".join(map(repr, _OPPONENTS))
    listed: Sequence[Any]
    if isinstance(given, str) or callable(given):
        listed = [given] * count
    elif isinstance(given, Sequence):
        listed = given
    else:
        raise TypeError(f"opponents: {given!r} is not {words}, nor a list of them")
    if len(listed) != count:
        raise ValueError(f"opponents: {len(listed)} given for {count} other seats")
    found = []
    for opponent in listed:
        if callable(opponent):
            found.append(opponent)
        elif isinstance(opponent, str) and opponent in _OPPONENTS:
            found.append(_OPPONENTS[opponent])
        else:
            raise ValueError(f"opponents: {opponent!r} is not {words}")
    return tuple(found)


gymnasium.register(id="Asara-v0", entry_point="asara_env.gym:SeatEnv")
