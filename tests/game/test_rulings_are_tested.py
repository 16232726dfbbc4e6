"""Every ruling of the rules page has tests that bear its number."""

import re
from pathlib import Path

HERE = Path(__file__).parent
RULES_PAGE = HERE.parents[1] / "server" / "asara_game" / "README.md"


def test_every_ruling_of_the_rules_page_has_a_test():
    tests = "".join(path.read_text() for path in HERE.glob("test_*.py"))
    tested = {int(number) for number in re.findall(r"^def test_r(\d\d)_", tests, re.MULTILINE)}
    ruled = {
        int(number) for number in re.findall(r"^\| R(\d+) \|", RULES_PAGE.read_text(), re.MULTILINE)
    }
    assert tested == ruled == set(range(1, 22))
