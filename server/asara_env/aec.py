"""A PettingZoo environment (AEC) of the game: `aec.env(rules="pro+gifts", seats=3)`.

Agents are `seat_0` to `seat_3`. An observation is a dictionary with `observation` (see
`asara_env.observation`) and `action_mask`. `info` also has the mask. Agents are rewarded only when
the match ends.
"""

from __future__ import annotations

import random
from typing import Any, Final, SupportsIndex

import numpy as np
import numpy.typing as npt

from asara_game import Deal, Edition

from .action_numbers import ACTION_COUNT
from .deals import Deals, given_secret
from .episode import Episode, match_rules, new_episode, whole
from .missing_library import missing
from .observation import OBSERVATION_SIZE, observation_limits
from .render import render_table
from .rewards import reward_function

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
except ImportError as error:
    raise missing("pettingzoo", "env") from error

__all__ = ["AsaraEnv", "env", "raw_env"]

_NO_MASK: Final = np.zeros(ACTION_COUNT, np.int8)
_NO_MASK.flags.writeable = False

Observation = dict[str, npt.NDArray[Any]]


class AsaraEnv(AECEnv[str, Observation, int]):  # type: ignore[misc] # it ships no types
    """Plays one match after another; each `reset` begins a new match.

    `rules` is a combination of rule sets, and `reward` is `rank` or `prestige`. `edition` defaults
    to the shipped edition. Copying or pickling an environment keeps its settings but no match,
    because a match contains information hidden from the agents. Use `world` or `exact_copy` to copy
    the match.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo declares it so
        "name": "asara_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str = "basic",
        seats: int = 2,
        *,
        reward: str = "rank",
        render_mode: str | None = None,
        edition: Edition | None = None,
    ) -> None:
        super().__init__()
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode {render_mode!r}: only 'ansi' or None")
        self.rules = match_rules(rules, seats, edition)
        self.render_mode = render_mode
        self._arguments = (rules, seats, reward, render_mode, edition)
        self._reward = reward_function(reward)
        self._deals = Deals(None)
        self._episode: Episode | None = None
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        limits = observation_limits()
        space = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(np.zeros(OBSERVATION_SIZE, np.float32), limits),
                    "action_mask": spaces.Box(0, 1, (ACTION_COUNT,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.observation_spaces: dict[str, Any] = space
        self.action_spaces: dict[str, Any] = {
            agent: spaces.Discrete(ACTION_COUNT) for agent in self.possible_agents
        }
        self.agents: list[str] = []

    def __reduce__(self) -> Any:
        """Copy only the settings."""
        return _made, self._arguments

    def observation_space(self, agent: str) -> Any:
        try:
            return self.observation_spaces[agent]
        except (KeyError, TypeError):
            raise self._unknown(agent) from None

    def action_space(self, agent: str) -> Any:
        try:
            return self.action_spaces[agent]
        except (KeyError, TypeError):
            raise self._unknown(agent) from None

    def _seat(self, agent: str) -> int:
        """Return the seat of an agent; raise ValueError if there is no such agent."""
        try:
            return self._seat_of[agent]
        except (KeyError, TypeError):
            raise self._unknown(agent) from None

    def _unknown(self, agent: object) -> ValueError:
        return ValueError(f"no agent {agent!r}: the agents are {', '.join(self.possible_agents)}")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match.

        A seed determines the deals of this and all later matches (see `asara_env.deals`). The
        option `secret`, 32 bytes, determines the deal of this match only. Other options are
        ignored.
        """
        secret = given_secret(options)
        if seed is not None:
            self._deals = Deals(seed)
        if secret is None:
            secret = self._deals.next_secret()
        self._begin(new_episode(self.rules, Deal(secret)))

    def _begin(self, episode: Episode) -> None:
        self._episode = episode
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": _NO_MASK} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.agents[episode.state.seat]
        self.infos[self.agent_selection] = {"action_mask": episode.mask()}

    def _running(self) -> Episode:
        if self._episode is None:
            raise RuntimeError(
                "no match runs: call reset() first; a copy of an environment has no match either"
            )
        return self._episode

    def _check_agents(self) -> None:
        if not self.agents:
            raise RuntimeError("the match is over and all agents have left it: call reset()")

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, Any]:
        """Return observation, reward, termination, truncation and info of the selected agent.

        Raises RuntimeError if there is no match or all agents have left the match.
        """
        self._running()
        self._check_agents()
        found: tuple[Any, float, bool, bool, Any] = super().last(observe)
        return found

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterate over the agents that act; raise RuntimeError if there is no match."""
        self._running()
        return super().agent_iter(max_iter)

    def step(self, action: SupportsIndex | None) -> None:
        """Carry out the selected agent's action; pass None after the end of the match.

        Raises IllegalActionNumber, and changes nothing, if the action is not legal. Raises
        RuntimeError if there is no match or all agents have left the match.
        """
        episode = self._running()
        self._check_agents()
        agent = self.agent_selection
        if episode.state.seat < 0:
            self._was_dead_step(action)
            return
        episode.step(whole(action))
        self.infos[agent] = {"action_mask": _NO_MASK}
        seat = episode.state.seat
        if seat >= 0:
            self.agent_selection = self.possible_agents[seat]
            self.infos[self.agent_selection] = {"action_mask": episode.mask()}
        else:
            self._end(episode)

    def _end(self, episode: Episode) -> None:
        rewards = self._reward(episode.state.prestige)
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent; its mask is all 0 if the agent does not decide."""
        episode = self._running()
        seat = self._seat(agent)
        info = self.infos.get(agent)
        mask = _NO_MASK if info is None else info["action_mask"]
        return {"observation": episode.observe(seat), "action_mask": mask}

    def action_mask(self, agent: str) -> npt.NDArray[np.int8]:
        """Return the mask of the deciding agent; raise ValueError for any other agent."""
        episode = self._running()
        self._seat(agent)
        if episode.state.seat < 0:
            raise ValueError(f"no mask of {agent!r}: the match is over")
        if agent != self.agent_selection:
            raise ValueError(f"no mask of {agent!r}: {self.agent_selection!r} decides")
        return episode.mask()

    def render(self) -> str | None:
        """Return the public information as text, in render mode `ansi`."""
        return render_table(self._running().state) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Drop the match; `reset` begins a new one."""
        self._episode = None

    def world(self, agent: str, rng: random.Random) -> AsaraEnv:
        """Return a copy in which everything hidden from the agent, and the future, is dealt anew.

        The agent cannot tell the copy from the true match. Use such copies to look ahead.
        """
        return self._with(self._running().world(self._seat(agent), rng))

    def exact_copy(self) -> AsaraEnv:
        """Return a copy with all hidden information and future shuffles; keep it from agents."""
        return self._with(self._running().copy())

    def _with(self, episode: Episode) -> AsaraEnv:
        if episode.state.seat < 0:
            raise ValueError("the match is over: there is nothing to copy")
        new = _made(*self._arguments)
        new._begin(episode)
        return new


def _made(
    rules: str, seats: int, reward: str, render_mode: str | None, edition: Edition | None
) -> AsaraEnv:
    return AsaraEnv(rules, seats, reward=reward, render_mode=render_mode, edition=edition)


raw_env = env = AsaraEnv
