"""The game passes OpenSpiel's own tests, and its states hold no future."""

import random
import unittest
from collections import Counter

import numpy as np
import pytest

from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from tests.game.play import WIDE_CASES

pyspiel = pytest.importorskip("pyspiel")
pytest.importorskip("open_spiel")

from absl import flags  # noqa: E402 - only where OpenSpiel is installed
from open_spiel.python.algorithms import ismcts, mcts  # noqa: E402

import asara_env.openspiel  # noqa: E402, F401 - registers the game
from asara_env.episode import IllegalActionNumber  # noqa: E402
from asara_env.rewards import reward_by_prestige  # noqa: E402


def game(rule_sets="basic", players=2, **more):
    words = "".join(f",{key}={value}" for key, value in more.items())
    return pyspiel.load_game(f"asara(rules={rule_sets},players={players}{words})")


def played(loaded, decisions, seed):
    """A state after some random decisions, at a decision or at the end."""
    dice = random.Random(seed)
    state = loaded.new_initial_state()
    while not state.is_terminal() and (decisions > 0 or state.is_chance_node()):
        decisions -= not state.is_chance_node()
        state.apply_action(dice.choice(state.legal_actions()))
    return state


# OpenSpiel's own tests, called as they are.


def test_random_simulation():
    pyspiel.random_sim_test(game("pro+gifts", 2), num_sims=1, serialize=True, verbose=False)


def test_api():
    from open_spiel.integration_tests import api_test  # takes seconds, of every worker's collection

    flags.FLAGS(["api_test", "--test_only_games=^asara$"])
    suite = api_test.load_tests(unittest.TestLoader(), unittest.TestSuite(), None)
    assert suite.countTestCases() >= 5
    result = unittest.TestResult()
    suite.run(result)
    assert result.errors == result.failures == result.skipped == []


def test_is_mcts_of_openspiel_plays_it():
    loaded = game("pro+gifts", 3)
    state = played(loaded, 30, 1)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(loaded, evaluator, 2.0, 8, random_state=np.random.RandomState(2))
    assert bot.step(state) in state.legal_actions()


# Worlds.


@pytest.mark.parametrize(("rule_sets", "players"), WIDE_CASES)
def test_a_resampled_state_looks_the_same_and_is_another_one(rule_sets, players):
    loaded = game(rule_sets, players)
    dice = random.Random(1)
    for seed in range(2):
        state = played(loaded, 10 + 30 * seed, seed)
        seat = state.current_player()
        number = dice.random()
        other, same = (state.resample_from_infostate(seat, lambda n=number: n) for _ in range(2))
        assert str(other) == str(same) != str(state)
        assert other.information_state_string(seat) == state.information_state_string(seat)
        assert other.observation_string(seat) == state.observation_string(seat)
        assert other.observation_tensor(seat) == state.observation_tensor(seat)
        assert other.legal_actions() == state.legal_actions()
        assert other.history() == []


def test_resampling_forgets_what_the_other_players_have_seen():
    state = played(game(players=3), 40, 3)
    seat = state.current_player()
    worlds = [state.resample_from_infostate(seat, random.Random(n).random) for n in range(2)]
    for other in range(3):
        digests = {str(w.information_state_string(other)).split("\n")[0] for w in worlds}
        true = state.information_state_string(other).split("\n")[0]
        assert len(digests) == 1
        assert (true in digests) == (other == seat)


# No future.


def test_a_clone_has_no_future():
    """Clones in which the same decisions are made differ if other outcomes are drawn."""
    loaded = game("pro+gifts")
    state = played(loaded, 40, 4)
    ends: Counter[str] = Counter()
    for seed in range(3):
        clone = state.clone()
        assert str(clone) == str(state)
        dice = random.Random(seed)
        while clone.core.state.year == state.core.state.year and not clone.is_terminal():
            if clone.is_chance_node():
                clone.apply_action(dice.randrange(256))
            else:
                clone.apply_action(clone.legal_actions()[0])
        ends[str(clone)] += 1
    assert len(ends) == 3


def test_chance_comes_before_all_that_is_dealt_or_drawn():
    """Between chance nodes, an action leads to one state, whatever the hidden orders are."""
    dice = random.Random(7)
    kinds = set()
    for seed in range(6):
        state = game("pro+gifts+genie", 2).new_initial_state()
        dice = random.Random(seed)
        while not state.is_terminal():
            action = dice.choice(state.legal_actions())
            before = state.core.state
            if not state.is_chance_node():
                kind = before.kind
                mixed = mixed_up(state.clone(), dice)
                state.apply_action(action)
                mixed.apply_action(action)
                assert mixed.is_chance_node() == state.is_chance_node()
                if state.is_chance_node():
                    kinds.add(kind)
                else:
                    assert seen_by_all(mixed) == seen_by_all(state)
            else:
                state.apply_action(action)
    assert {DecisionKind.BUYERS, DecisionKind.LIT_OFFER} <= kinds


def mixed_up(state, dice):
    """Bring every hidden order into another one."""
    inner = state.core.state.copy()
    for pile in (*inner.piles, inner.buyer_pile, inner.gift_deck):
        dice.shuffle(pile)
    if all(window < 8 for window in inner.lit_stack):
        dice.shuffle(inner.lit_stack)
    state.core = state.core._replace(state=inner)
    return state


def seen_by_all(state):
    inner = state.core.state
    return [view(inner, seat) for seat in range(len(inner.towers))]


# Bad input, and rewards.


def test_an_illegal_action_changes_nothing():
    state = played(game(), 3, 1)
    text, history = str(state), state.history()
    illegal = next(n for n in range(311) if n not in state.legal_actions())
    with pytest.raises(IllegalActionNumber, match=f"action number {illegal} is not legal"):
        state.apply_action(illegal)
    assert (str(state), state.history()) == (text, history)


def test_a_chance_outcome_or_a_player_that_does_not_exist_is_named():
    loaded = game("basic", 2)
    start = loaded.new_initial_state()
    with pytest.raises(ValueError, match="chance outcome 256: the outcomes are 0 to 255"):
        start._apply_action(256)
    state = played(loaded, 1, 1)
    observer = loaded.make_py_observer()
    for call in (
        lambda: state.resample_from_infostate(2, random.random),
        lambda: observer.set_from(state, 2),
        lambda: observer.string_from(state, -1),
    ):
        with pytest.raises(ValueError, match="the players are 0 to 1"):
            call()


@pytest.mark.parametrize(
    ("text", "problem"),
    [("rules=advanced", "unknown rule set 'advanced'"), ("players=5", "2, 3 or 4 seats")],
)
def test_wrong_parameters_are_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        pyspiel.load_game(f"asara({text})")


def test_returns_by_prestige():
    state = played(game("basic", 3, reward="prestige"), 10**9, 5)
    prestige = state.core.state.prestige
    assert state.returns() == reward_by_prestige(prestige)
    assert sum(state.returns()) == pytest.approx(0)
