"""The forecast when a year begins, and where the searches use it."""

import random

import numpy as np
import pytest

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import new_match
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from asara_game.state import State
from asara_search.evaluation import Estimator, evaluate
from asara_search.forecast import (
    FEATURES,
    Forecast,
    features,
    read_forecast,
    shipped_forecast,
)
from asara_search.turn_search import TurnSearch
from scripts.tuning.fit_forecast import fitted

EDITION = load_edition()


def begun(rules: Rules, year: int) -> State:
    """Return the beginning of a year that the greedy policy has played up to."""
    state, _ = new_match(rules, Deal(bytes(32)))
    TurnSearch(rules).play_on(state, year, 1000)
    return state


@pytest.mark.parametrize("rule_sets", RULE_COMBINATIONS, ids=format_rule_sets)
def test_a_forecast_is_a_weighted_sum_of_what_the_seat_has(rule_sets):
    rules = Rules(EDITION, rule_sets, 3)
    state, estimator = begun(rules, 3), Estimator(rules)
    found = dict(zip(FEATURES, features(estimator, state, 1), strict=True))
    assert found["prestige"] == state.prestige[1]
    assert found["asari"] == state.money[1]
    assert found["towers"] == len(state.towers[1]) > 0
    assert found["patronage"] == (state.patronage_seat == 1)
    held = ("held_bases", "held_turrets", "held_middles")
    assert sum(found[name] for name in held) == sum(state.unbuilt_of(1))
    assert found["held_lit"] == sum(state.lit_held_by(1))
    weights = shipped_forecast()[1]
    total = sum(weight * found[name] for name, weight in zip(FEATURES, weights, strict=True))
    assert Forecast().value(estimator, state, 1) == pytest.approx(total)


@pytest.mark.parametrize("rule_sets", [RULE_COMBINATIONS[0], RULE_COMBINATIONS[-1]])
def test_a_search_uses_the_forecast_only_when_a_year_begins(rule_sets):
    rules = Rules(EDITION, rule_sets, 2)
    search, estimator, forecast = TurnSearch(rules), Estimator(rules), Forecast()
    state = begun(rules, 2)
    assert search.expected(state) == [forecast.value(estimator, state, seat) for seat in (0, 1)]
    assert search.expected(state) != evaluate(state, estimator)
    search.play_on(state, 3, 1)
    assert state.year == 2
    assert search.expected(state) == evaluate(state, estimator)
    search.play_on(state, 5, 1000)
    assert search.expected(state) == state.prestige


def test_the_fit_finds_what_seats_differ_by():
    rng = np.random.default_rng(1)
    weights, x = rng.normal(size=len(FEATURES)), rng.normal(size=(4000, len(FEATURES)))
    luck = rng.normal(scale=1, size=4000)
    x[:, 0] = 0
    near = np.full(len(FEATURES), 0.5)
    weights[0] = 0.5
    assert fitted(x, x @ weights + luck, near) == pytest.approx(weights, abs=0.06)


DAMAGE = {
    "a feature is missing": (lambda rows: rows[1:], "must be prestige, towers"),
    "another order": (lambda rows: [rows[1], rows[0], *rows[2:]], "in this order"),
    "one too many": (lambda rows: [*rows, "more = [1, 2, 3]"], "in this order"),
    "a year is missing": (lambda rows: [*rows[:-1], "asari = [1, 2]"], "asari: 3 finite numbers"),
    "no number": (lambda rows: [*rows[:-1], "asari = [1, 2, nan]"], "asari: 3 finite numbers"),
    "text": (lambda rows: [*rows[:-1], "asari = ['1', 2, 3]"], "real number"),
    "no list": (lambda rows: [*rows[:-1], "asari = 1"], "no len"),
    "no TOML": (lambda rows: ["\0"], "nvalid"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(damage, tmp_path):
    change, message = DAMAGE[damage]
    file = tmp_path / "forecast.toml"
    rows = [f"{name} = [1, 2, {place}]" for place, name in enumerate(FEATURES)]
    file.write_text("\n".join(rows))
    assert read_forecast(file)[2] == list(range(len(FEATURES)))
    file.write_text("\n".join(change(rows)))
    with pytest.raises(ValueError, match=rf"forecast\.toml: .*{message}"):
        read_forecast(file)


def test_luck_of_a_world_does_not_reach_the_seat_that_decides():
    """Two worlds that differ only in the order of the piles have the same forecast."""
    rules = Rules(EDITION, RULE_COMBINATIONS[-1], 2)
    state = begun(rules, 2)
    other = state.copy()
    for pile in other.piles:
        random.Random(1).shuffle(pile)
    assert state.piles != other.piles
    search = TurnSearch(rules)
    assert search.expected(state) == search.expected(other)
