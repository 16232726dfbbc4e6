"""scripts/tune: self-play of policies and settings of the search."""

import pytest

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_search.evaluation import BONUSES, Weights, read_weights
from asara_search.forecast import read_forecast
from scripts.tuning import fit_forecast
from scripts.tuning.__main__ import SHIPPED, main
from scripts.tuning.arena import secret_of
from scripts.tuning.duel_command import compare
from scripts.tuning.spsa import PROBABILITIES, Spsa

RULES = Rules(load_edition(), parse_rule_sets("basic"), 2)


def test_no_deal_serves_two_purposes():
    purposes = ("tune/1", "tune/2", "tune-check", "strength", "switches", "forecast")
    secrets = {secret_of(purpose, number) for purpose in purposes for number in range(50)}
    assert len(secrets) == 6 * 50
    assert secret_of("strength", 7) == secret_of("strength", 7)


def test_steps_repeat_and_keep_weights_in_bounds():
    shipped = read_weights(SHIPPED)
    one, two = (Spsa([RULES], shipped, 1, 1) for _ in range(2))
    assert [one.step() for _ in range(3)] == [two.step() for _ in range(3)]
    assert one.mean == two.mean != shipped
    for name, value in one.mean.items():
        if name not in BONUSES:
            assert value >= 0
            assert value <= 1 or not name.startswith(PROBABILITIES)


@pytest.mark.long
def test_a_file_keeps_its_comments(tmp_path, monkeypatch, capsys):
    out = tmp_path / "tuned.toml"
    options = ["--minutes", "0.001", "--blocks", "1", "--check-blocks", "1", "--force"]
    monkeypatch.setattr("sys.argv", ["tune", *options, "--out", str(out)])
    assert main() == 0
    assert "Written" in capsys.readouterr().out
    tuned, shipped = out.read_text(), SHIPPED.read_text()
    assert tuned.count("#") == shipped.count("#")
    Weights(read_weights(out))


@pytest.mark.long
@pytest.mark.parametrize("search", ["turn", "tree"])
def test_two_settings_are_compared(search, capsys):
    setting = f"--search {search} --iterations 2 --turns 1"
    assert compare([setting, "greedy", "--blocks", "1"]) == 0
    assert "in 1 blocks" in capsys.readouterr().out


@pytest.mark.long
def test_the_forecast_is_fitted_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fit_forecast, "_KINDS", (("basic", 2),))
    out = tmp_path / "forecast.toml"
    assert fit_forecast.fit(["--matches", "8", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "0 years follow" in printed
    assert f"Written to {out}" in printed
    assert all(any(row) for row in read_forecast(out))
