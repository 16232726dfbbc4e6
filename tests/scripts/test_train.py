"""scripts/train: a tiny training from its start to its weights, and what it refuses."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from asara_env.policy_network import load_network, prior
from scripts.training.curve import draw, read_log

ROOT = Path(__file__).parents[2]
TINY = (
    *("--hidden", "8", "8", "--matches", "2", "--batch", "100", "--minibatch", "64"),
    *("--imitation", "100", "--samples", "100", "--evaluate-every", "0", "--blocks", "1"),
)

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason="PyTorch is not installed: it comes with the extra `train`",
)


def train(*arguments, timeout=300):
    """Run `python -m scripts.training`, which scripts/train runs after the installation."""
    return subprocess.run(
        [sys.executable, "-m", "scripts.training", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def lines(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@needs_torch
def test_a_training_that_is_resumed_ends_with_weights_and_a_curve(tmp_path):
    folder = tmp_path / "run"
    first = train("--out", folder, *TINY, "--samples", 0)
    assert first.returncode == 0, first.stderr
    assert lines(folder)[-1]["iteration"] == 1
    assert "there is a training already" in train("--out", folder, *TINY).stderr
    changed = train("--out", folder, "--resume", "--hidden", 9, 9)
    assert "--hidden cannot change them" in changed.stderr
    with (folder / "log.jsonl").open("a") as file:
        file.write('{"iteration": 2, "phase": "self-')  # killed while it wrote

    again = train("--out", folder, "--resume", "--samples", 100)
    assert again.returncode == 0, again.stderr
    log = lines(folder)
    assert [line["phase"] for line in log if "phase" in line] == ["imitation", "self-play"]
    assert log[-1]["played"] >= 100
    assert len(read_log(folder / "log.jsonl")) == 2
    strength = log[-1]["strength"]
    assert strength
    for found in strength:
        assert found["interval_95"][0] <= found["score"] <= found["interval_95"][1]
    load_network(folder / "weights.npz")

    draw(folder / "log.jsonl", tmp_path / "curve.svg")
    assert "self-play" in (tmp_path / "curve.svg").read_text()


@needs_torch
def test_numpy_plays_what_pytorch_trained():
    import torch

    from asara_env.action_numbers import ACTION_COUNT
    from asara_env.policy_network import Network
    from asara_env.vector import Matches
    from scripts.training.network import TrainedNetwork, input_scale

    torch.manual_seed(5)
    step = Matches("pro+gifts", 3, 8).reset(seed=2)
    trained = TrainedNetwork([16, 8])
    trained.scale.copy_(input_scale(step.observations))
    torch.nn.init.normal_(trained.value.weight)
    torch.nn.init.normal_(trained.policy.weight)
    network = Network(trained.arrays(), {})
    with torch.no_grad():
        logs, values = trained(
            torch.from_numpy(step.observations),
            torch.from_numpy(step.masks),
            torch.zeros(8, ACTION_COUNT),
        )
    for row in range(8):
        numbers = np.flatnonzero(step.masks[row]).tolist()
        hidden = network.hidden(step.observations[row], numbers)
        assert network.values(hidden) == pytest.approx(values[row].numpy(), abs=1e-3)
        shares = network.probabilities(hidden, numbers, prior([0.0] * len(numbers)))
        assert shares == pytest.approx(logs[row].exp().numpy()[numbers], abs=1e-3)


@needs_torch
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rate", "7"), "7 is not from 0 to 1"),
        (("--batch", "0"), "0 is not from 1"),
        (("--device", "abacus"), "--device abacus: cannot be used here"),
        (("--resume",), "there is no checkpoint; start without --resume"),
        (("measure", "none.npz"), "none.npz"),
        (("curve", "none.jsonl", "curve.svg"), "none.jsonl"),
        (("curve", "none.jsonl", "curve.doc"), "end the name in .svg or .png"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(tmp_path, arguments, words):
    first = () if arguments[0] in {"measure", "curve"} else ("--out", tmp_path / "run")
    ran = train(*first, *arguments)
    assert ran.returncode
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "run").exists()
