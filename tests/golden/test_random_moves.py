"""Random starters play what the rules and the published rule say; `regenerate.py` writes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.match.inputs import ReplyRecord
from bots.random.main import decide as at_random
from tests.bots.in_process import finished_match
from tests.game.table import rules
from tests.golden.random_moves import MATCHES, GoldenMatch, digest, golden

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "random_moves.json").read_text())


def test_the_file_is_what_the_rules_say():
    """After an intended change, run `python -m tests.golden.regenerate` and review the diff."""
    assert json.loads(json.dumps(golden())) == GOLDEN


def test_the_matches_have_20_seeds_all_rules_and_all_seat_counts():
    rows = GOLDEN["matches"]
    assert len({row["seed"] for row in rows}) == 20
    kinds = {(row["rule_sets"], row["seats"]) for row in rows}
    assert len(kinds) == 3 * len(RULE_COMBINATIONS)


@pytest.mark.parametrize("match", MATCHES[::6], ids=lambda match: match.match_id)
def test_the_python_starter_plays_these_moves(match: GoldenMatch):
    row = next(row for row in GOLDEN["matches"] if row["match_id"] == match.match_id)
    bots = [at_random] * match.seats
    ended = finished_match(
        rules(match.rule_sets, match.seats), bots, match.match_id, match.secret, str(match.seed)
    )
    replies = [record for record in ended.records if isinstance(record, ReplyRecord)]
    actions = [action for reply in replies for action in reply.actions]
    assert (len(actions), digest(actions)) == (row["actions"], row["sha256"])
    assert [result.end.rank for result in ended.results] == row["ranks"]
