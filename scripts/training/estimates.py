"""The estimates that the network corrects: the rules of thumb from bots/greedy."""

from __future__ import annotations

from asara_game import Rules
from asara_search.evaluation import NAMES, Weights
from asara_search.policies import GreedyPolicy
from scripts.tuning.duel_command import RULES_OF_THUMB


def greedy(rules: Rules) -> GreedyPolicy:
    """Return a policy that answers like bots/greedy."""
    return GreedyPolicy(rules, RULES_OF_THUMB)


def weights_by_name(weights: Weights = RULES_OF_THUMB) -> dict[str, float]:
    """Return weights in the form used in files."""
    found: dict[str, float] = {}
    for name in NAMES:
        stem, _, index = name.rpartition("_")
        if index.isdigit():  # one of several, such as building_0
            found[name] = float(getattr(weights, stem)[int(index)])
        else:
            found[name] = float(getattr(weights, name))
    return found
