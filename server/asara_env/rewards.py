"""Rewards at the end of a match. The rewards of all seats add up to 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["REWARDS", "reward_by_prestige", "reward_by_rank", "reward_function"]

Reward = Callable[[Sequence[int]], list[float]]
"""A function of the seats' prestige."""


def reward_by_rank(prestige: Sequence[int]) -> list[float]:
    """Return 1 for the first rank down to -1 for the last, in even steps.

    Tied seats get the mean of their ranks. The reward is twice the tournament score, minus 1.
    """
    last = len(prestige) - 1
    rewards = []
    for own in prestige:
        better = sum([other > own for other in prestige])
        equal = sum([other == own for other in prestige]) - 1
        rewards.append(1 - (2 * better + equal) / last)
    return rewards


def reward_by_prestige(prestige: Sequence[int]) -> list[float]:
    """Return the seat's prestige minus the mean prestige of the others."""
    total = sum(prestige)
    others = len(prestige) - 1
    return [own - (total - own) / others for own in prestige]


REWARDS: Final[dict[str, Reward]] = {"rank": reward_by_rank, "prestige": reward_by_prestige}


def reward_function(name: str) -> Reward:
    """Return the reward function with this name; raise ValueError if there is none."""
    found = REWARDS.get(name)
    if found is None:
        raise ValueError(f"reward {name!r}: not one of {', '.join(REWARDS)}")
    return found
