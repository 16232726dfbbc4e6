"""Learning steps: imitation of a teacher, and proximal policy optimisation (PPO)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .network import TrainedNetwork
from .self_play import Samples


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    epochs: int
    minibatch: int
    clip: float
    entropy: float
    value_weight: float


def update(
    network: TrainedNetwork,
    optimiser: torch.optim.Optimizer,
    samples: Samples,
    options: UpdateOptions,
    imitate: bool,
    device: torch.device,
) -> dict[str, float]:
    """Fit the network to samples; return means over all steps, by name."""
    totals: dict[str, float] = {}
    steps = 0
    advantages = torch.from_numpy(samples.advantages)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    count = len(samples.actions)
    for _ in range(options.epochs):
        for rows in torch.split(torch.randperm(count), options.minibatch):
            if len(rows) < min(count, options.minibatch) // 2:
                continue  # a small batch would have a noisy gradient
            index = rows.numpy()
            priors = torch.from_numpy(samples.priors[index]).to(device).float()
            logs, values = network(
                torch.from_numpy(samples.observations[index]).to(device).float(),
                torch.from_numpy(samples.masks[index]).to(device),
                torch.zeros_like(priors) if imitate else priors,
            )
            actions = torch.from_numpy(samples.actions[index]).to(device)
            picked = logs.gather(1, actions[:, None])[:, 0]
            targets = torch.from_numpy(samples.targets[index]).to(device)
            parts = {"value_loss": value_loss(values, targets)}
            loss = options.value_weight * parts["value_loss"]
            if imitate:
                parts["imitation_loss"] = -picked.mean()
                parts["agreement"] = (logs.argmax(dim=1) == actions).float().mean()
                loss = loss + parts["imitation_loss"]
            else:
                old = torch.from_numpy(samples.log_probabilities[index]).to(device)
                ratio = torch.exp(picked - old)
                gain = advantages[rows].to(device)
                clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
                parts["policy_loss"] = -torch.minimum(ratio * gain, clipped * gain).mean()
                parts["entropy"] = entropy(logs)
                parts["divergence"] = (ratio - 1 - (picked - old)).mean()
                loss = loss + parts["policy_loss"] - options.entropy * parts["entropy"]
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimiser.step()
            steps += 1
            for name, part in parts.items():
                totals[name] = totals.get(name, 0.0) + float(part.detach())
    return {name: total / max(1, steps) for name, total in totals.items()}


def value_loss(values: Tensor, targets: Tensor) -> Tensor:
    """Return the mean squared error over the occupied seats."""
    known = ~torch.isnan(targets)
    return ((values - torch.nan_to_num(targets)) ** 2 * known).sum() / known.sum()


def entropy(logs: Tensor) -> Tensor:
    """Return the mean entropy of policies; illegal actions have probability 0."""
    return -(logs.exp() * logs.clamp_min(-50)).sum(dim=1).mean()
