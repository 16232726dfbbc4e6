"""Rewards at the end of a match. Their sum over the seats is 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["REWARDS", "reward_by_prestige", "reward_by_rank", "reward_function"]

Reward = Callable[[Sequence[int]], list[float]]
"""A function of the seats' prestige."""


def reward_by_rank(prestige: Sequence[int]) -> list[float]:
    """1 for the first rank down to -1 for the last, in even steps.

    Seats that tie have the mean of their ranks. It is twice the score of a tournament, less 1.
    """
    last = len(prestige) - 1
    rewards = []
    for own in prestige:
        better = sum([other > own for other in prestige])
        equal = sum([other == own for other in prestige]) - 1
        rewards.append(1 - (2 * better + equal) / last)
    return rewards


def reward_by_prestige(prestige: Sequence[int]) -> list[float]:
    """The seat's prestige less the mean of the others'."""
    total = sum(prestige)
    others = len(prestige) - 1
    return [own - (total - own) / others for own in prestige]


REWARDS: Final[dict[str, Reward]] = {"rank": reward_by_rank, "prestige": reward_by_prestige}


def reward_function(name: str) -> Reward:
    """Return the reward of this name; raise ValueError if there is none."""
    found = REWARDS.get(name)
    if found is None:
        raise ValueError(f"reward {name!r}: not one of {', '.join(REWARDS)}")
    return found
