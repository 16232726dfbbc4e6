import re

import pytest

from scripts.lib import strength
from scripts.lib.strength import (
    PAGE,
    read_cells,
    table,
)


def test_the_page_has_the_table_of_what_was_measured() -> None:
    shown = re.search(r"(?<=<!-- strength -->\n).*?(?=<!-- end -->)", PAGE.read_text(), re.DOTALL)
    assert shown is not None
    assert shown[0] == table(read_cells())


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
