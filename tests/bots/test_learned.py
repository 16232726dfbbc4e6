"""The bot that plays by a trained network."""

import os
import random
import subprocess
import sys
from itertools import product
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
from bots.random.main import decide as at_random
from tests.bots.in_process import finished_match, play_match, victory_share
from tests.events import EVENT_S
from tests.game.play import CASES, WIDE_CASES, playout
from tests.game.table import rules

MAIN = Path(__file__).parents[2] / "bots" / "learned" / "main.py"
SHIPPED = Path(asara_env.__file__).with_name("weights.npz")

SOME = [(format_rule_sets(sets), 2 + n % 3) for n, sets in enumerate(RULE_COMBINATIONS)]
"""Each combination of rule sets once, and each number of seats twice."""

learned = player()


def played(rule_sets, seats):
    table = [learned] * seats
    return finished_match(rules(rule_sets, seats), table, "played", bytes(32)).results


@pytest.mark.parametrize(("rule_sets", "seats"), SOME)
def test_plays_all_rule_sets_in_all_seats(rule_sets, seats):
    assert len(played(rule_sets, seats)) == seats


@pytest.mark.long
@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_plays_all_rules_and_repeats_itself(rule_sets, seats):
    assert played(rule_sets, seats) == played(rule_sets, seats)


@pytest.mark.long
def test_repeats_itself():
    assert played("basic", 2) == played("basic", 2)


def wins(opponent, rule_sets, deals):
    won = 0.0
    for deal, seat in product(range(deals), range(2)):
        bots = [learned if number == seat else opponent for number in range(2)]
        results = play_match(rules(rule_sets, 2), bots, f"deal-{deal}", deal.to_bytes(32))
        won += victory_share(results, seat)
    return won / (2 * deals)


@pytest.mark.long
def test_beats_random():
    assert wins(at_random, "pro+gifts+genie", 1) == 1


@pytest.mark.long
@pytest.mark.parametrize("rule_sets", RULE_COMBINATIONS, ids=format_rule_sets)
def test_beats_greedy(rule_sets):
    assert wins(greedy, format_rule_sets(rule_sets), 10) > 0.5


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


def run(*options):
    return subprocess.run(
        [sys.executable, str(MAIN), *options],
        env=os.environ | {"ASARA_TOKEN": "none"},
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        check=False,
    )


def test_damaged_weights_are_refused_in_one_line(tmp_path):
    path = tmp_path / "weights.npz"
    path.write_bytes(SHIPPED.read_bytes()[:9999])
    ran = run("--weights", str(path))
    assert ran.returncode == 2, "as for other wrong options, which a forfeit explains"
    assert ran.stderr.endswith(
        f"\nlearned: error: --weights: {path}: not a file of weights, or cut off\n"
    )


@pytest.mark.long
def test_weights_that_are_not_there_are_named(tmp_path):
    ran = run("--weights", str(tmp_path / "none.npz"))
    assert ran.returncode == 2
    assert ran.stderr.endswith("none.npz: No such file or directory\n")
    assert "Traceback" not in ran.stderr
    found = run("--weights", "none.npz").stderr
    assert found.endswith("directory; give the whole path, since a bot runs in its own folder\n")


def test_a_temperature_out_of_range_is_refused():
    assert "nan is not from 0 to 100" in run("--temperature", "nan").stderr


def test_the_weights_are_small_and_all_that_is_needed():
    assert SHIPPED.stat().st_size < 5_000_000
