"""A training run, from its options or its checkpoint to the weights."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch

from asara_env.policy_network import save_network

from .checkpoint import (
    CHECKPOINT,
    WEIGHTS,
    BadCheckpoint,
    append_log,
    load_checkpoint,
    save_checkpoint,
    trim_log,
)
from .estimates import weights_by_name
from .evaluate import OPPONENTS, measure
from .network import TrainedNetwork, by_torch, input_scale
from .self_play import Collector
from .update import UpdateOptions, update

__all__ = ["BadCheckpoint", "BadDevice", "Training", "train"]

TABLES: Final = (("basic", 2), ("pro+gifts+genie", 2), ("pro+gifts+genie", 4))
"""Rule sets and numbers of seats that are evaluated during training."""


class BadDevice(ValueError):
    """Raised for a device that PyTorch cannot use here."""


def train(options: argparse.Namespace) -> None:
    device = find_device(options.device)
    torch.set_num_threads(options.threads)
    # Products in bfloat16 where the processor has them: half the time, and no weaker play.
    torch.set_float32_matmul_precision("medium")
    Training(options, device).run()


def find_device(name: str) -> torch.device:
    """Return a device by name; `auto` prefers a GPU. Raise BadDevice if it is unusable."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        words = str(error).splitlines()[0]
        raise BadDevice(f"--device {name}: cannot be used here: {words}") from None
    return device


class Training:
    """One run, from its options or its checkpoint to the weights."""

    def __init__(self, options: argparse.Namespace, device: torch.device) -> None:
        self._folder: Path = options.out
        self._device = device
        self.iteration = 0
        self.imitated = 0
        self.played = 0
        self._seconds = 0.0
        facts = load_checkpoint(self._folder) if options.resume else None
        if facts is None and (self._folder / CHECKPOINT).exists():
            raise BadCheckpoint(
                f"{self._folder / CHECKPOINT}: there is a training already; "
                "--resume goes on with it, and --out names another folder"
            )
        if facts is not None:
            options = self._continued(options, facts["options"])
        self._options = options
        torch.manual_seed(options.seed)
        self.network = TrainedNetwork(options.hidden).to(device)
        self._optimiser = torch.optim.Adam(self.network.parameters(), lr=options.rate, eps=1e-5)
        if facts is not None:
            self._restore(facts)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._collector = Collector(
            options.matches, options.seed * 1_000_003 + self.iteration, options.decay
        )

    def _continued(self, options: argparse.Namespace, before: dict[str, Any]) -> argparse.Namespace:
        """Return the checkpoint's options, except options given on the command line."""
        every = vars(options)
        changed = {name: every[name] for name in options.given | {"out", "device", "threads"}}
        if changed.get("hidden", before.get("hidden")) != before.get("hidden"):
            raise BadCheckpoint(
                f"{self._folder / CHECKPOINT}: the hidden layers are {before.get('hidden')}; "
                "--hidden cannot change them"
            )
        return argparse.Namespace(**{**every, **before, **changed})

    def _restore(self, facts: dict[str, Any]) -> None:
        try:
            self.network.load_state_dict(facts["network"])
            self._optimiser.load_state_dict(facts["optimiser"])
            self.iteration, self.imitated = facts["iteration"], facts["imitated"]
            self.played, self._seconds = facts["played"], facts["seconds"]
            torch.set_rng_state(facts["random"])
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            words = str(error).splitlines()[0]
            raise BadCheckpoint(
                f"{self._folder / CHECKPOINT}: does not fit this version: {words}"
            ) from None
        trim_log(self._folder, self.iteration)

    def run(self) -> None:
        options = self._options
        append_log(self._folder, {"iteration": self.iteration, "options": _plain(options)})
        while not self._finished():
            started = time.monotonic()
            line = self._iterate()
            self._seconds += time.monotonic() - started
            self.iteration += 1
            line = {"iteration": self.iteration, **line, "seconds": round(self._seconds, 1)}
            every = options.evaluate_every
            if self._finished() or (every and self.iteration % every == 0):
                line["strength"] = self.evaluate()
            self._save(line)
        self._export()

    def _finished(self) -> bool:
        options = self._options
        return bool(self.imitated >= options.imitation and self.played >= options.samples)

    def _iterate(self) -> dict[str, Any]:
        """Collect a batch and learn from it; return the line for the log."""
        options = self._options
        imitate = self.imitated < options.imitation
        if imitate:
            samples = self._collector.imitate(options.batch, options.noise)
            self.imitated += len(samples.actions)
            if not self.iteration:
                self.network.scale.copy_(input_scale(samples.observations))
            rate = options.rate
        else:
            if not self.played:
                self.network.forget_policy()
            samples = self._collector.play(
                self.network, options.batch, options.against_greedy, self._device
            )
            rate = options.rate * max(0.05, 1 - self.played / options.samples)
            self.played += len(samples.actions)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        means = update(
            self.network,
            self._optimiser,
            samples,
            UpdateOptions(
                options.epochs,
                options.minibatch,
                options.clip,
                options.entropy,
                options.value_weight,
            ),
            imitate,
            self._device,
        )
        return {
            "phase": "imitation" if imitate else "self-play",
            "imitated": self.imitated,
            "played": self.played,
            "rate": rate,
            **{name: round(mean, 5) for name, mean in means.items()},
        }

    def evaluate(self) -> list[dict[str, Any]]:
        """Measure the strength against every opponent."""
        choose = by_torch(self.network, self._device)
        return [
            asdict(measure(choose, against, rules, seats, self._options.blocks, "during training"))
            for against in OPPONENTS
            for rules, seats in TABLES
        ]

    def _save(self, line: dict[str, Any]) -> None:
        append_log(self._folder, line)
        save_checkpoint(
            self._folder,
            {
                "network": self.network.state_dict(),
                "optimiser": self._optimiser.state_dict(),
                "options": _plain(self._options),
                "iteration": self.iteration,
                "imitated": self.imitated,
                "played": self.played,
                "seconds": self._seconds,
                "random": torch.get_rng_state(),
            },
        )
        self._export()
        words = [f"{name} {line[name]:.3f}" for name in line if name.endswith(("_loss", "ment"))]
        done = f"{line['imitated']:,} imitated, {line['played']:,} played"
        print(f"{line['iteration']:4}  {line['seconds']:7.0f} s  {done}  {'  '.join(words)}")
        for found in line.get("strength", ()):
            low, high = found["interval_95"]
            table = f"{found['rules']}, {found['seats']} seats"
            print(
                f"      {found['against']:6} {table:26} {found['score']:.3f} ({low:.3f}–{high:.3f})"
            )
        sys.stdout.flush()

    def _export(self) -> None:
        about = json.dumps({**_plain(self._options), "iteration": self.iteration})
        save_network(self._folder / WEIGHTS, self.network.arrays(), weights_by_name(), about)


def _plain(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that determine what is learned, in JSON types."""
    left_out = {"out", "resume", "device", "threads", "given"}
    return {name: value for name, value in vars(options).items() if name not in left_out}
