"""Tournament files drawn at random: read, with a plan that adds up, or refused in sentences."""

import random
import re
from pathlib import Path
from typing import Any, Final

from asara_game.bounded_toml import parse_toml
from asara_server.tournament.config.tournament_file import ConfigError, check_tournament
from asara_server.tournament.schedule.plan import planned_matches, planned_table_kinds
from tests.cli import mutations
from tests.found_cases import seeds

PLAUSIBLE: Final[dict[str, list[Any]]] = {
    "seats": [2, 3, 4, [2, 4], [4, 3, 2]],
    "rules": ["basic", "pro+gifts+genie", ["basic", "pro"]],
    "rounds": [1, 2, 7, "2"],
    "orders": ["rotations", "all"],
    "blocks_per_entry": [1, 2, 5, 30],
    "until": ["ranks settled", "ranks"],
    "places": [1, 3, 20],
    "deals": ["committed", "joint"],
    "blocks": ["mirrored", "independent", "duplicate", 4],
    "tables": [3, 4, 50],
    "ponder": [True, False, "no"],
    "process_per": ["match", "run"],
    "clocks": [{"grace_s": 0}, {"time_bank_s": 5}, 5],
    "limits": [{"cores": 2}, [1]],
}
"""Values that are mostly valid alone, and often not together."""
MOST_LISTED: Final = 2_000
PYTHON: Final = re.compile(r"\b(tuple|dict\w*|string|integer|instance|Input|None|True|False)\b")
"""Words for which a tournament file has others."""


def odd_value(dice: random.Random) -> Any:
    """Return what a line of TOML may hold."""
    while True:
        try:
            return parse_toml(b"x = " + dice.choice(mutations.TOML_VALUES).encode(), 10_000)["x"]
        except ValueError:
            continue


def random_file(dice: random.Random) -> dict[str, Any]:
    """Return the tables of a file that is valid except for some of what was drawn."""
    entries: list[Any] = [
        {"name": f"e{number}", "command": "true"} for number in range(dice.choice([2, 4, 5, 8, 13]))
    ]
    for entry in entries[: dice.choice([0, 0, 2, 3])]:
        entry["team"] = "red"
    keys = dice.sample(sorted(PLAUSIBLE), dice.randrange(5))
    data = {"title": "Cup", "seats": 2, "rules": "basic", "entries": entries}
    data |= {key: dice.choice(PLAUSIBLE[key]) for key in keys}
    if dice.random() < 0.3:
        table = dice.choice([data, *entries])
        table[dice.choice([*table, *mutations.KEYS])] = odd_value(dice)
    return data


def test_random_files_are_planned_or_refused_in_sentences(tmp_path: Path) -> None:
    for seed in seeds(50):
        data = random_file(random.Random(seed))
        try:
            tournament = check_tournament(data, name="cup.toml", base=tmp_path)
        except ConfigError as error:
            for line in error.lines:
                fault, _, _ = line.partition(", not ")  # which repeats what the file has
                assert re.match(r"cup\.toml: \w", line), (seed, line)
                assert not PYTHON.search(re.sub("'[^']*'", "", fault)), (seed, line)
        else:
            kinds = planned_table_kinds(tournament)
            planned = sum(kind.matches for kind in kinds)
            assert planned > 0, seed
            if planned <= MOST_LISTED:
                assert len(planned_matches(tournament)) == planned, seed
