"""`scripts/tune levels`: plays each level of the search bot against the one below.

The table in bots/README.md is the only record. A measurement replaces the row of its level.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from bots.search.main import LEVELS, make_search, parse
from scripts.tuning.arena import Duel, SearchPlayer, duel, secret_of

PAGE: Final = Path(__file__).parents[2] / "bots" / "README.md"
_TABLE: Final = re.compile(r"(?<=<!-- levels -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEAD: Final = """\
| level | options | score against the level below | pairs of matches |
|---|---|---|---|
"""


def measure(arguments: Sequence[str]) -> int:
    """Play the pairs of matches, and write each result to the table."""
    parser = argparse.ArgumentParser(prog="scripts/tune levels")
    parser.add_argument(
        "levels", nargs="*", type=int, choices=range(2, len(LEVELS) + 1), help="[default: all]"
    )
    parser.add_argument("--blocks", type=int, default=100, help="pairs of matches [default: 100]")
    given = parser.parse_args(arguments)
    if given.blocks < 1:
        parser.error("--blocks must be above 0")
    rules = Rules(load_edition(), parse_rule_sets("basic"), 2)
    deals = [secret_of("levels", number) for number in range(given.blocks)]
    for level in given.levels or range(2, len(LEVELS) + 1):
        found = duel(rules, _player(rules, level), _player(rules, level - 1), deals, _report)
        print()
        write_table({**read_table(), level: _cells(found)})
    return 0


def _player(rules: Rules, level: int) -> SearchPlayer:
    budget, settings = parse(["--level", str(level)])
    return SearchPlayer(
        make_search(rules, settings), budget.iterations, budget.milliseconds, seed=level
    )


def _report(so_far: Duel) -> None:
    print(f"\r{so_far}", end="", flush=True)


def _cells(found: Duel) -> str:
    low, high = found.interval_95
    return f"{found.score:.2f} ({low:.2f} to {high:.2f}) | {len(found.scores)}"


def read_table(page: Path = PAGE) -> dict[int, str]:
    """Return the last two cells of each row, by level.

    Rows that were measured with other options of the level, or of the one below, are left out.
    """
    found = _TABLE.search(page.read_text("utf-8"))
    assert found is not None
    rows = re.findall(r"^\| \d \| `([^`]*)` \| (.*) \|$", found[0], re.MULTILINE)
    same = [options == now for (options, _), now in zip(rows, LEVELS, strict=False)]
    return {
        level: cells for level, (_, cells) in enumerate(rows[1:], 2) if all(same[level - 2 : level])
    }


def write_table(measured: Mapping[int, str], page: Path = PAGE) -> None:
    """Write the table; a level that was not measured has no score."""
    rows = "".join(
        f"| {level} | `{options}` | {measured.get(level, '– | –')} |\n"
        for level, options in enumerate(LEVELS, 1)
    )
    text = page.read_text("utf-8")
    page.write_text(_TABLE.sub(lambda _: _HEAD + rows, text, count=1), "utf-8")
