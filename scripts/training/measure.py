"""The strength of a file of weights, played as the bot plays."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from asara_env.policy_network import SHIPPED, Network, evaluate, load_network
from asara_game import RULE_COMBINATIONS, Rules, State, format_rule_sets
from asara_search.evaluation import Estimator, weights_of_network
from asara_search.evaluation import evaluate as by_hand

from .evaluate import OPPONENTS, Chooser, by_numpy, by_turn, measure
from .options import whole


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    every = [format_rule_sets(rule_sets) for rule_sets in RULE_COMBINATIONS]
    parser = argparse.ArgumentParser(
        prog="scripts/train measure",
        description="Measure weights in mirrored matches against random and greedy.",
    )
    parser.add_argument("weights", type=Path, nargs="?", default=SHIPPED, help="weights.npz")
    parser.add_argument("--against", nargs="+", choices=list(OPPONENTS), default=["greedy"])
    parser.add_argument("--rule-sets", nargs="+", choices=every, default=every, metavar="RULES")
    parser.add_argument("--seats", nargs="+", type=int, choices=(2, 3, 4), default=[2, 3, 4])
    parser.add_argument(
        "--by",
        choices=("policy", "value", "hand-made"),
        default="policy",
        help="the network's policy, or greedy's turns that lead to the best value: the network's, "
        "or that of asara_search.evaluation",
    )
    parser.add_argument("--blocks", type=whole(1, 10**6), default=100, help="deals of each (100)")
    return parser.parse_args(arguments)


def _chooser(by: str, network: Network) -> Chooser:
    if by == "policy":
        return by_numpy(network)
    if by == "value":
        return by_turn(lambda state: evaluate(state, network))
    estimators: dict[Rules, Estimator] = {}

    def hand_made(state: State) -> list[float]:
        rules = state.rules
        if rules not in estimators:
            estimators[rules] = Estimator(rules)
        return by_hand(state, estimators[rules])

    return by_turn(hand_made)


def print_strength(options: argparse.Namespace) -> None:
    """Print a row for each opponent, combination of rule sets and number of seats."""
    network = load_network(options.weights)
    choose = _chooser(options.by, network)
    estimates = weights_of_network(network.estimates)
    print("| against | rule sets | seats | blocks | score | 95 % | prestige |")
    print("|---|---|---|---|---|---|---|")
    for against in options.against:
        for rules in options.rule_sets:
            for seats in options.seats:
                found = measure(
                    choose, against, rules, seats, options.blocks, "after training", estimates
                )
                low, high = found.interval_95
                print(
                    f"| {against} | `{rules}` | {seats} | {found.blocks} | {found.score:.3f} | "
                    f"{low:.3f}–{high:.3f} | {found.prestige:.0f} |",
                    flush=True,
                )
