from pathlib import Path

import pytest

from bots.search.main import LEVELS
from scripts.tuning import levels
from scripts.tuning.levels import PAGE, read_table, write_table


def test_the_page_has_a_score_of_each_level_with_its_options(tmp_path: Path) -> None:
    assert list(read_table()) == list(range(2, len(LEVELS) + 1))
    assert "– | –" not in read_table().values()
    page = tmp_path / "README.md"
    page.write_bytes(PAGE.read_bytes())
    write_table(read_table(), page)
    assert page.read_bytes() == PAGE.read_bytes()


def test_a_score_of_other_options_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "LEVELS", (*LEVELS[:2], "--iterations 3", *LEVELS[3:]))
    assert list(read_table()) == [2, 5]
