"""The bot that plays by a trained network."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import asara_env
from asara_env.policy_network import Advice
from asara_game.actions import BuildCount
from asara_game.knowledge.determinize import determinize
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_game.view import view
from asara_search.policies import GreedyPolicy
from bots.greedy.main import decide as greedy
from bots.learned.main import chosen, player
from tests.bots.in_process import finished_match, share_of_wins
from tests.events import EVENT_S
from tests.game.play import CASES, playout
from tests.game.table import rules
from tests.sizes import others_long

MAIN = Path(__file__).parents[2] / "bots" / "learned" / "main.py"
SHIPPED = Path(asara_env.__file__).with_name("weights.npz")

SOME = [(format_rule_sets(sets), 2 + n % 3) for n, sets in enumerate(RULE_COMBINATIONS)]
"""Each combination of rule sets once, and each number of seats twice."""

learned = player()


def played(rule_sets, seats):
    table = [learned] * seats
    return finished_match(rules(rule_sets, seats), table, "played", bytes(32)).results


@pytest.mark.parametrize(("rule_sets", "seats"), others_long(SOME, 3))
def test_plays_all_rules_and_repeats_itself(rule_sets, seats):
    assert played(rule_sets, seats) == played(rule_sets, seats)


@pytest.mark.long
@pytest.mark.parametrize("rule_sets", RULE_COMBINATIONS[::-2], ids=format_rule_sets)
def test_beats_greedy(rule_sets):
    assert share_of_wins(learned, greedy, rules(format_rule_sets(rule_sets), 2), 4) > 0.5


@pytest.mark.parametrize(("rule_sets", "seats"), CASES[::4])
def test_the_estimates_see_nothing_that_the_seat_may_not_know(rule_sets, seats):
    policy = GreedyPolicy(rules(rule_sets, seats))
    dice = random.Random(6)
    for number, (state, *_) in enumerate(playout(rules(rule_sets, seats), 4)):
        if state.seat >= 0 and number % 5 == 0:
            other = determinize(view(state, state.seat), dice)
            assert policy.worths(state) == policy.worths(other)


def test_a_temperature_draws_by_the_probabilities():
    shares = np.array([0.6, 0.3, 0.1, 0.0], np.float32)
    advice = Advice(tuple(map(BuildCount, (1, 2, 3, 4))), shares, shares, shares)
    rng = random.Random(1)
    drawn = [chosen(advice, 1.0, rng) for _ in range(2000)]
    assert [drawn.count(index) / 2000 for index in range(4)] == pytest.approx(shares, abs=0.04)
    sharper = [chosen(advice, 0.5, rng) for _ in range(2000)]
    assert sharper.count(0) / 2000 == pytest.approx(0.36 / 0.46, abs=0.04)
    assert {chosen(advice, 1e-6, rng) for _ in range(20)} == {0}
    assert chosen(advice, 0.0, rng) == 0


@pytest.mark.parametrize(
    ("options", "end"),
    [
        (["--weights", "cut.npz"], "--weights: cut.npz: not a file of weights, or cut off\n"),
        (["--weights", "none.npz"], "give the whole path, since a bot runs in its own folder\n"),
        (["--temperature", "nan"], "nan is not from 0 to 100\n"),
    ],
)
def test_options_that_will_not_do_are_refused_in_one_line(tmp_path, options, end):
    (tmp_path / "cut.npz").write_bytes(SHIPPED.read_bytes()[:9999])
    ran = subprocess.run(
        [sys.executable, str(MAIN), *options],
        cwd=tmp_path,
        env=os.environ | {"ASARA_TOKEN": "none"},
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        check=False,
    )
    assert ran.returncode == 2, "as for other wrong options, which a forfeit explains"
    *_, last = ran.stderr.splitlines(keepends=True)
    assert last.startswith("learned: error: ")
    assert last.endswith(end)


def test_the_weights_are_small_and_all_that_is_needed():
    assert SHIPPED.stat().st_size < 5_000_000
