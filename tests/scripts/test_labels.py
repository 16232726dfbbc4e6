"""scripts/tune labels: planted blunders, and labels that are false."""

from dataclasses import replace
from pathlib import Path

import pytest

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_search.analysis import BUDGETS, Budget, DecisionPricer, Estimate
from scripts.tuning import labels
from scripts.tuning.labels import Measured, Reference, check_labels, decisions, report
from tests.scripts.resuming import printed_thrice

RULES = Rules(load_edition(), parse_rule_sets("basic"), 2)
TINY = Budget(candidates=2, choosing=2, years=1, pricing=2, doubtful=2, luck=1)


@pytest.fixture(autouse=True)
def _few_playouts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in BUDGETS:
        monkeypatch.setitem(BUDGETS, name, TINY)
    monkeypatch.setattr(labels, "REFERENCE", TINY)
    monkeypatch.setattr(labels, "PLAYER", "--iterations 1 --candidates 1")


def test_a_small_run_prints_the_shares_and_is_not_measured_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels.jsonl"
    printed = printed_thrice(
        check_labels,
        ["--matches", "1", "--whole", "0", "--deep", "1"],
        out,
        capsys,
        lambda: monkeypatch.setattr(DecisionPricer, "price", None),
    )
    assert "of the planted decisions that cost 0.25 or more" in printed
    assert len(printed.splitlines()) == 2 + 2 * len(BUDGETS)
    assert len(list(labels.read(out))) == labels.PLANTED


def test_a_match_and_its_planted_decisions_repeat_themselves() -> None:
    one, two = (
        [(found.name, found.planted, found.legal, found.chosen) for found in match]
        for match in (decisions(RULES, 1, 0), decisions(RULES, 1, 0))
    )
    assert one == two
    assert sum(planted for _, planted, _, _ in one) == labels.PLANTED
    assert all(chosen in legal and len(legal) > 1 for _, _, legal, chosen in one)


def test_the_reference_stops_when_the_loss_is_clear_of_the_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(labels, "REFERENCE", replace(TINY, doubtful=100))
    reference = Reference(RULES, labels.REFERENCE)
    reference.limits = (0.10, 0.25)
    assert reference._is_doubtful(Estimate(0.13, 0.02, 50))
    assert reference._is_doubtful(Estimate(0.20, 0.02, 50))
    assert not reference._is_doubtful(Estimate(0.17, 0.02, 50))
    assert not reference._is_doubtful(Estimate(0.13, 0.02, 100))


def test_a_label_is_false_if_the_reference_finds_less_than_its_limit() -> None:
    def case(cost: float, *, planted: bool, **losses: float) -> Measured:
        found = {budget: Estimate(loss, 0.01, 40) for budget, loss in losses.items()}
        return Measured("m", planted, {**found, "reference": Estimate(cost, 0.0, 9)})

    found = [
        case(0.30, planted=True, quick=0.0, normal=0.30, deep=0.30),
        case(0.26, planted=True, quick=0.3, normal=0.06, deep=0.30),  # normal misses a blunder
        case(0.12, planted=True, quick=0.3, normal=0.15),  # quick's blunder is a mistake
        case(0.06, planted=False, quick=0.1, normal=0.15),  # normal's mistake is an inaccuracy
        Measured("m", False, {"quick": Estimate(0.0, 0.0, 0)}),
    ]
    lines = list(report(found))
    assert lines[0].startswith("normal marks 1 of 2 (50.0%; 9.5% to 90.5%)")
    assert lines[1].startswith("deep marks 2 of 2 (100.0%; 34.2% to 100.0%)")
    assert [line.split(" (")[0] for line in lines[2:6]] == [
        "quick: 1 of 2",
        "quick: 0 of 1",
        "normal: 0 of 2",
        "normal: 1 of 1",
    ]
