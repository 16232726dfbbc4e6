"""scripts/tune calibration: expected scores compared with real ones."""

from pathlib import Path

import pytest

from asara_search.analysis import Budget
from scripts.tuning import calibration, priced_matches
from scripts.tuning.calibration import Rows, calibrate, luck_lines
from scripts.tuning.priced_matches import Measured, Task, Turn, measure
from tests.scripts.resuming import printed_thrice

TINY = Budget(candidates=2, choosing=2, years=1, pricing=1, doubtful=1, luck=1)


@pytest.fixture(autouse=True)
def _few_playouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priced_matches, "BUDGET", TINY)
    monkeypatch.setattr(priced_matches, "PLAYERS", ("--iterations 1 --candidates 1",))


def test_a_small_run_prints_the_table_and_is_not_measured_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["basic", "--matches", "2", "--turns", "3", "--luck", "2"]
    printed = printed_thrice(
        calibrate,
        options,
        tmp_path / "matches.jsonl",
        capsys,
        lambda: monkeypatch.setattr(calibration, "measure", None),
    )
    assert "| `basic` | 2 | 2 | 6 | nan ± nan |" in printed
    assert "mean luck by seat in 2 matches" in printed


def test_turns_are_spread_over_the_match_and_scores_are_shares() -> None:
    found = measure(Task("pro+gifts+genie", 3, 1, 0, 4, with_luck=False))
    assert [turn.year for turn in found.turns] == [1, 2, 3, 4]
    assert sum(found.scores) == pytest.approx(1.5)
    assert all(0 <= turn.expected <= 1 for turn in found.turns)


def test_a_gap_is_the_largest_of_the_tenths_with_enough_turns() -> None:
    def match(number: int, expected: float) -> Measured:
        """Seat 0 wins four of five matches."""
        won = number % 5 > 0
        lead = (5, 0) if won else (0, 5)
        return Measured((float(won), float(not won)), (), (Turn(0, 1, lead, expected),))

    well = [match(number, 0.81) for number in range(100)]
    badly = [match(number, 0.75) for number in range(100, 200)]
    few = [match(number, 0.15) for number in range(200, 299)]
    assert Rows(well).tenths()[1] == pytest.approx(0.01)
    lines, gap, error = Rows([*well, *badly, *few]).tenths()
    assert gap == pytest.approx(0.05)
    assert error == pytest.approx(0.04)
    assert [line.split()[:2] for line in lines] == [["0.1", "99"], ["0.7", "100"], ["0.8", "100"]]
    expected, prestige, constant = Rows(well).brier()
    assert expected == pytest.approx((80 * 0.19**2 + 20 * 0.81**2) / 100)
    assert prestige == pytest.approx(0.0)  # the lead tells the winner
    assert constant == pytest.approx(0.25)


def test_luck_that_decides_matches_leaves_no_variance() -> None:
    matches = [
        Measured((won, 1.0 - won), (won - 0.5, 0.5 - won), ()) for won in (0.0, 1.0, 1.0, 0.0)
    ]
    mean, left = luck_lines(matches)
    assert "+0.0000" in mean
    assert "is 0.000 ± 0.000" in left
    assert luck_lines([Measured((1.0, 0.0), (), ())] * 3) == []
    assert len(luck_lines([Measured((1.0, 0.0), (0.1, -0.1), ())] * 3)) == 1
