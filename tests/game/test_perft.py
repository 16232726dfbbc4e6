"""Counts of reachable decisions from fixed deals agree with `tests/vectors/perft.json`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.game import perft
from tests.game.play import CASES, WIDE_CASES
from tests.game.table import rules

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "perft.json").read_text()
)


def of_case(rows: list[dict[str, Any]], rule_sets: str, seats: int) -> list[dict[str, Any]]:
    found = [row for row in rows if (row["rule_sets"], row["seats"]) == (rule_sets, seats)]
    assert found
    return found


def test_the_counts_are_of_the_shipped_edition():
    """If this alone fails, the edition has changed: `python -m tests.vectors.regenerate`."""
    assert rules("basic", 2).edition.sha256.hex() == VECTORS["edition_sha256"]


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_counts_of_decision_paths(rule_sets, seats):
    for row in of_case(VECTORS["positions"], rule_sets, seats):
        given = {key: row[key] for key in ("rule_sets", "seats", "secret", "answered")}
        assert perft.count(given) == row


@pytest.mark.parametrize(("rule_sets", "seats"), CASES)
def test_results_of_whole_matches(rule_sets, seats):
    for row in of_case(VECTORS["matches"], rule_sets, seats):
        given = {key: row[key] for key in ("rule_sets", "seats", "secret")}
        assert perft.finish(given) == row
