"""Options of the command line."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def whole(low: int, high: int) -> Any:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{number} is not from {low} to {high}")
        return number

    parse.__name__ = "whole number"
    return parse


def real(low: float, high: float) -> Any:
    def parse(text: str) -> float:
        number = float(text)
        if not (math.isfinite(number) and low <= number <= high):
            raise argparse.ArgumentTypeError(f"{text} is not from {low:g} to {high:g}")
        return number

    parse.__name__ = "number"
    return parse


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/train",
        description="Train a network: first it imitates greedy, then it plays against itself.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    count = whole(0, 10**12)
    parser.add_argument("--out", type=Path, default=Path("runs/train"), help="folder of the run")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the checkpoint in the folder, with its options but for those given",
    )
    parser.add_argument("--seed", type=whole(0, 2**32), default=1, help="seed of all randomness")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, mps")
    parser.add_argument("--threads", type=whole(1, 256), default=1, help="threads of PyTorch")
    parser.add_argument(
        "--hidden", type=whole(1, 4096), nargs=2, default=[384, 256], help="hidden layers"
    )
    parser.add_argument("--matches", type=whole(1, 10**5), default=180, help="side by side")
    parser.add_argument("--imitation", type=count, default=300_000, help="decisions to imitate")
    parser.add_argument("--samples", type=count, default=1_600_000, help="decisions of self-play")
    parser.add_argument("--batch", type=whole(1, 10**7), default=32_768, help="an iteration's")
    parser.add_argument("--minibatch", type=whole(1, 10**6), default=2048, help="a step's")
    parser.add_argument("--epochs", type=whole(1, 100), default=2, help="passes over a batch")
    parser.add_argument("--rate", type=real(0, 1), default=3e-4, help="first learning rate")
    parser.add_argument("--clip", type=real(0.01, 1), default=0.2, help="of PPO's ratio")
    parser.add_argument("--decay", type=real(0, 1), default=0.95, help="lambda of advantages")
    parser.add_argument("--entropy", type=real(0, 1), default=0.003, help="weight of entropy")
    parser.add_argument("--value-weight", type=real(0, 10), default=0.5, help="of the values")
    parser.add_argument(
        "--noise", type=real(0, 1), default=0.05, help="random actions while imitating"
    )
    parser.add_argument(
        "--against-greedy", type=real(0, 1), default=0.5, help="share of matches against greedy"
    )
    parser.add_argument(
        "--evaluate-every", type=count, default=15, help="iterations; 0: only the last"
    )
    parser.add_argument("--blocks", type=whole(1, 10**6), default=40, help="of an evaluation")
    options = parser.parse_args(arguments)
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    options.given = set(vars(parser.parse_args(arguments)))
    return options


if __name__ == "__main__":
    parse_options(sys.argv[1:])
