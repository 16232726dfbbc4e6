"""The command line of scripts/tune."""

import argparse
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_search.evaluation import Weights, read_weights
from asara_search.policies import GreedyPolicy
from scripts.tuning.arena import Duel, PolicyPlayer, duel, secret_of
from scripts.tuning.calibration import calibrate
from scripts.tuning.duel_command import compare
from scripts.tuning.fit_forecast import fit
from scripts.tuning.labels import check_labels
from scripts.tuning.levels import measure
from scripts.tuning.spsa import Spsa

SHIPPED = Path(__file__).parents[2] / "server" / "asara_search" / "weights.toml"
KINDS = (("basic", 2), ("pro+gifts+genie", 2), ("basic", 3), ("pro+gifts+genie", 4), ("pro", 2))
"""Rule sets and numbers of seats for which the weights are tuned and checked."""
_REPORT_EVERY = 25


def main() -> int:
    """Tune, check on other deals, and write the weights if they are better."""
    given = _arguments()
    try:
        before = read_weights(given.weights)
    except (OSError, ValueError) as error:
        print(f"scripts/tune: {error}", file=sys.stderr)
        return 2
    edition = load_edition()
    kinds = [Rules(edition, parse_rule_sets(name), seats) for name, seats in KINDS]
    spsa = Spsa(kinds, before, given.seed, given.blocks)
    ends = time.monotonic() + given.minutes * 60
    while time.monotonic() < ends:
        gain = spsa.step()
        if spsa.steps % _REPORT_EVERY == 0:
            print(f"step {spsa.steps}: {gain:+.3f}", flush=True)
    if not spsa.steps:
        return 0
    print(f"{spsa.steps} steps; tuned weights against those of {given.weights}:")
    better = _check(kinds, spsa.mean, before, given.check_blocks)
    if better or given.force:
        given.out.write_text(_with_values(given.weights.read_text("utf-8"), spsa.mean), "utf-8")
        print(f"Written to {given.out}")
    else:
        print(
            "Not better within the interval: nothing is written. --force writes them all the same"
        )
    return 0


def _check(
    kinds: list[Rules], tuned: Mapping[str, float], before: Mapping[str, float], blocks: int
) -> bool:
    """Return True if the tuned weights are better with two seats, on separate deals."""
    scores: list[float] = []
    leads: list[float] = []
    for rules in kinds:
        a, b = (PolicyPlayer(GreedyPolicy(rules, Weights(w))) for w in (tuned, before))
        found = duel(rules, a, b, [secret_of("tune-check", number) for number in range(blocks)])
        print(
            f"  {'+'.join(s.name.lower() for s in sorted(rules.rule_sets))}, {rules.seats}: {found}"
        )
        if rules.seats == 2:
            scores += found.scores
            leads += found.leads
    return Duel(tuple(scores), tuple(leads)).interval_95[0] > 0.5


def _with_values(text: str, weights: Mapping[str, float]) -> str:
    """Return a file of weights as text, with new values and the old comments."""

    def row(found: re.Match[str]) -> str:
        name = found[1]
        if name in weights:
            return f"{name} = {weights[name]:.3f}"
        numbers = (weights[f"{name}_{place}"] for place in range(found[2].count(",") + 1))
        return f"{name} = [{', '.join(f'{number:.3f}' for number in numbers)}]"

    return re.sub(r"(?m)^(\w+) = (\[.*?\]|\S+)", row, text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/tune", description="Tune the weights of the evaluation by self-play."
    )
    parser.add_argument("--minutes", type=float, default=30, help="time to tune [default: 30]")
    parser.add_argument("--blocks", type=int, default=10, help="blocks of a step [default: 10]")
    parser.add_argument("--check-blocks", type=int, default=200, help="blocks of the final check")
    parser.add_argument("--seed", type=int, default=1, help="seed of steps and deals [default: 1]")
    parser.add_argument("--weights", type=Path, default=SHIPPED, help="weights to begin with")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="file to write")
    parser.add_argument("--force", action="store_true", help="write weights that are not better")
    given = parser.parse_args()
    if not (given.minutes > 0 and given.blocks > 0 and given.check_blocks > 0):
        parser.error("--minutes, --blocks and --check-blocks must be above 0")
    return given


if __name__ == "__main__":
    commands = {
        "calibration": calibrate,
        "duel": compare,
        "forecast": fit,
        "labels": check_labels,
        "levels": measure,
    }
    command = commands.get(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.exit(command(sys.argv[2:]) if command else main())
