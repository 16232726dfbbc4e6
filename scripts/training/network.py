"""The PyTorch network used in training; `asara_env.policy_network` loads its `arrays`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from asara_env.action_numbers import ACTION_COUNT
from asara_env.episode import Episode
from asara_env.observation import OBSERVATION_SIZE
from asara_env.policy_network import INPUT_SIZE, VALUE_COUNT

from .evaluate import Chooser, Floats


class TrainedNetwork(nn.Module):
    """Two hidden layers. Inputs are divided by `scale`, so entries in use are about 1."""

    scale: Tensor

    def __init__(self, hidden: Sequence[int]) -> None:
        super().__init__()
        first, second = hidden
        self.first = nn.Linear(INPUT_SIZE, first)
        self.second = nn.Linear(first, second)
        self.policy = nn.Linear(second, ACTION_COUNT)
        self.value = nn.Linear(second, VALUE_COUNT)
        self.register_buffer("scale", torch.ones(INPUT_SIZE))
        for layer, gain in ((self.first, 2**0.5), (self.second, 2**0.5), (self.policy, 0.01)):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
        nn.init.zeros_(self.value.weight)
        nn.init.constant_(self.value.bias, 0.5)

    def forward(self, observations: Tensor, masks: Tensor, priors: Tensor) -> tuple[Tensor, Tensor]:
        """Return log probabilities [n, ACTION_COUNT] and values [n, VALUE_COUNT].

        `priors` are added to the network's numbers for actions; a prior of 0 has no influence.
        """
        inputs = torch.cat((observations, masks.to(observations.dtype)), dim=1) / self.scale
        hidden = torch.relu(self.second(torch.relu(self.first(inputs))))
        logits = (self.policy(hidden) + priors).masked_fill(~masks, -1e9)
        return torch.log_softmax(logits, dim=1), self.value(hidden)

    def forget_policy(self) -> None:
        """Reset the policy to the priors alone; the hidden layers stay."""
        nn.init.zeros_(self.policy.weight)
        nn.init.zeros_(self.policy.bias)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the weights for inference, with the scale already multiplied in."""

        def array(tensor: Tensor) -> npt.NDArray[Any]:
            return np.ascontiguousarray(tensor.detach().cpu().numpy())

        return {
            "w1": array((self.first.weight / self.scale).T),
            "b1": array(self.first.bias),
            "w2": array(self.second.weight.T),
            "b2": array(self.second.bias),
            "policy_w": array(self.policy.weight.T),
            "policy_b": array(self.policy.bias),
            "value_w": array(self.value.weight.T),
            "value_b": array(self.value.bias),
        }


def input_scale(observations: npt.NDArray[Any]) -> Tensor:
    """Return the scale of each input: the mean of its non-zero values in sample observations."""
    used = observations != 0
    mean = observations.sum(axis=0, dtype=np.float64) / np.maximum(used.sum(axis=0), 1)
    scale = np.ones(INPUT_SIZE, np.float32)
    scale[: observations.shape[1]] = np.maximum(mean, 1)
    return torch.from_numpy(scale)


def by_torch(network: TrainedNetwork, device: torch.device) -> Chooser:
    """Return a chooser that takes the most probable action, in batches."""

    def choose(episodes: Sequence[Episode], priors: Sequence[Floats]) -> list[int]:
        count = len(episodes)
        observations = np.empty((count, OBSERVATION_SIZE), np.float32)
        masks = np.zeros((count, ACTION_COUNT), np.bool_)
        spread = np.zeros((count, ACTION_COUNT), np.float32)
        for row, (episode, prior) in enumerate(zip(episodes, priors, strict=True)):
            observations[row] = episode.observe(episode.state.seat)
            masks[row, episode.numbers] = True
            spread[row, episode.numbers] = prior
        with torch.no_grad():
            logs, _ = network(
                *(torch.from_numpy(array).to(device) for array in (observations, masks, spread))
            )
        chosen: list[int] = logs.argmax(dim=1).tolist()
        return chosen

    return choose
