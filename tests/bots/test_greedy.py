"""Playing strength of greedy against random bots, on fixed deals with rotating seats."""

import pytest

import asara
from asara_game.edition import load_edition
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from bots.greedy.main import decide as greedy
from bots.random.main import decide as at_random
from tests.bots.in_process import play_match, share_of_wins
from tests.sizes import others_long

EDITION = load_edition()


@pytest.mark.long
@pytest.mark.parametrize(("seats", "deals", "least"), [(2, 5, 0.9), (4, 2, 0.8)])
def test_beats_random(seats, deals, least):
    for rule_sets in RULE_COMBINATIONS:
        assert share_of_wins(greedy, at_random, Rules(EDITION, rule_sets, seats), deals) >= least


@pytest.mark.parametrize("rule_sets", others_long(RULE_COMBINATIONS, 5), ids=format_rule_sets)
def test_decides_from_the_decision_alone(rule_sets):
    """The same decisions in the reverse order are answered alike."""
    answered: list[tuple[asara.Decision, asara.Match, asara.Action]] = []

    def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
        action = greedy(decision, match)
        answered.append((decision, match, action))
        return action

    play_match(Rules(EDITION, rule_sets, 2), [decide, decide], "recorded", bytes(32))
    for decision, match, action in reversed(answered):
        assert greedy(decision, match) == action
