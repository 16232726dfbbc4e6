import re
from pathlib import Path
from typing import NoReturn

import pytest

from scripts.lib import strength
from scripts.lib.strength import (
    PAGE,
    read_cells,
    table,
    write_cells,
    write_table,
)


def test_the_page_has_the_table_of_what_was_measured() -> None:
    shown = re.search(r"(?<=<!-- strength -->\n).*?(?=<!-- end -->)", PAGE.read_text(), re.DOTALL)
    assert shown is not None
    assert shown[0] == table(read_cells())


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
