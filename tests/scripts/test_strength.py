import re

from scripts.lib.strength import (
    PAGE,
    read_cells,
    table,
)


def test_the_page_has_the_table_of_what_was_measured() -> None:
    shown = re.search(r"(?<=<!-- strength -->\n).*?(?=<!-- end -->)", PAGE.read_text(), re.DOTALL)
    assert shown is not None
    assert shown[0] == table(read_cells())
