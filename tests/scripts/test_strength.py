import re
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from scripts.lib import strength
from scripts.lib.strength import (
    GREEDY,
    PAGE,
    RANDOM,
    Cell,
    pairings,
    read_cells,
    search,
    table,
    with_cell,
    write_cells,
    write_table,
)

CELL = Cell("greedy", "random", "basic", 2, 50, 0.98, (0.91, 1.0), 0, "0123456789")


def test_the_page_has_the_table_of_what_was_measured() -> None:
    shown = re.search(r"(?<=<!-- strength -->\n).*?(?=<!-- end -->)", PAGE.read_text(), re.DOTALL)
    assert shown is not None
    assert shown[0] == table(read_cells())


def test_a_row_has_every_number_of_seats() -> None:
    four = replace(CELL, seats=4, score=0.875, interval_95=(0.8, 0.92), forfeits=2)
    assert table([CELL, four]).splitlines()[2] == (
        "| greedy | random | `basic` | 0.98 (0.91 to 1.00) | – | 0.88 (0.80 to 0.92, 2 forfeits) "
        "| 50 |"
    )


def test_bots_are_sorted_by_their_opponents_then_by_their_budgets() -> None:
    names = [(1000, "greedy"), (25, "greedy"), (100, "search, 50 ms")]
    cells: list[Cell] = []
    for milliseconds, against in names:
        cells = with_cell(cells, replace(CELL, bot=search(milliseconds).name, against=against))
    cells = with_cell(cells, CELL)
    assert [(cell.bot, cell.against) for cell in cells] == [
        ("greedy", "random"),
        ("search, 25 ms", "greedy"),
        ("search, 1 s", "greedy"),
        ("search, 100 ms", "search, 50 ms"),
    ]


def test_a_new_measurement_replaces_the_old_one(tmp_path: Path) -> None:
    new = replace(CELL, score=0.5)
    write_cells(with_cell([CELL], new), tmp_path / "strength.json")
    assert read_cells(tmp_path / "strength.json") == [new]


def test_the_ladder_compares_twice_the_budget_with_once() -> None:
    ladder = [p for p in pairings((25, 50, 75)) if p.others not in (RANDOM, GREEDY)]
    assert [(p.one.name, p.others.name) for p in ladder] == [("search, 50 ms", "search, 25 ms")]


def test_a_page_without_a_place_for_the_table_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("# Bots\n")
    with pytest.raises(SystemExit, match="has no place for the table: <!-- strength -->"):
        write_table([CELL], page)
    assert page.read_text() == "# Bots\n"


@pytest.mark.long
def test_it_plays_and_writes_also_when_it_was_interrupted_after_the_last_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "README.md"
    page.write_text("<!-- strength -->\n<!-- end -->\n")
    monkeypatch.setattr(strength, "_RUNS", tmp_path / "runs")
    monkeypatch.setattr(strength, "read_cells", lambda: read_cells(tmp_path / "strength.json"))
    monkeypatch.setattr(
        strength, "write_cells", lambda cells: write_cells(cells, tmp_path / "strength.json")
    )
    monkeypatch.setattr(strength, "write_table", lambda cells: write_table(cells, page))
    few = ["--against", "random", "--rule-sets", "basic", "--seats", "2", "--blocks", "1"]
    with monkeypatch.context() as interrupting:
        interrupting.setattr(strength, "Cell", interrupted)
        with pytest.raises(KeyboardInterrupt):
            strength.main(few)
    assert read_cells(tmp_path / "strength.json") == []
    monkeypatch.setattr(strength, "_asara", interrupted)  # it plays nothing again
    strength.main(few)
    (cell,) = read_cells(tmp_path / "strength.json")
    assert (cell.bot, cell.against, cell.blocks, cell.forfeits) == ("greedy", "random", 1, 0)
    assert "| greedy | random | `basic` |" in page.read_text()
    assert list((tmp_path / "runs").iterdir()) == []


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "options", [["--blocks", "0"], ["--seats", "5"], ["--rule-sets", "chess"], ["--budgets", "x"]]
)
def test_options_that_make_no_sense_are_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        strength.main(options)
    assert refused.value.code == 2
    assert options[0] in capsys.readouterr().err
