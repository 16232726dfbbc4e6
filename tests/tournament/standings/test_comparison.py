"""Scores that are compared with those of others who held the same seat of the same deal."""

import random
from dataclasses import replace

import numpy as np
import pytest

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.result_table import compared, tabulate
from asara_server.tournament.standings.standings import compute_standings
from tests.tournament.samples import match, seat

NAMES = ["ann", "bob", "cid", "dot"]


def block(number: int, *tables: tuple[str, str]) -> list[MatchResult]:
    """Tables of two seats, won by the entry that is named first, which has the seat of the deal."""
    name = f"r1-basic-{number:04}"
    found = []
    for place, (winner, loser) in enumerate(tables, start=1):
        seats = [seat(winner, 1), seat(loser, 2)]
        seats = seats[:: 1 if number % 2 else -1]
        found.append(match(f"{name}-{place}", *seats, block=name, duplicate_deal=name))
    return found


def drawn(blocks: int = 60, *, decided: bool) -> list[MatchResult]:
    """Blocks of two tables. If `decided`, the deal decides both; otherwise each is a coin toss."""
    dice = random.Random(1)
    found = []
    for number in range(blocks):
        a, b, c, d = dice.sample(NAMES, 4)
        tables = [(a, b), (c, d)]
        results = block(number, *tables)
        if not decided and dice.random() < 0.5:
            first = results[0]
            changed = [replace(line, rank=3 - line.rank) for line in first.seats]
            results[0] = replace(first, seats=tuple(changed))
        found += results
    return found


def test_where_the_deal_decides_everything_all_are_equal() -> None:
    scores = compared(tabulate(NAMES, drawn(decided=True))).score
    assert abs(scores - 0.5).mean() < 0.12  # of 0.5 without a comparison
    standings = compute_standings("Cup", NAMES, 120, drawn(decided=True))
    assert max(abs(row.score - 0.5) for row in standings.overall) < 0.02
    assert max(abs(row.match_score - 0.5) for row in standings.overall) > 0.05
    [share] = standings.deal_shares
    assert share.share > 0.9


def test_blocks_of_other_kinds_are_not_compared() -> None:
    results = [replace(result, duplicate_deal="") for result in drawn(decided=True)]
    table = tabulate(NAMES, results)
    found = compared(table)
    assert (found.score == table.score).all()
    assert found.shares == ()
    standings = compute_standings("Cup", NAMES, 120, results)
    assert standings.deal_shares == ()
    assert all(row.score == row.match_score for row in standings.overall)


def test_a_match_with_a_forfeit_is_compared_with_nothing() -> None:
    results = drawn(decided=True)
    lost = results[10]
    loser = max(range(2), key=lambda place: lost.seats[place].rank)
    seats = list(lost.seats)
    seats[loser] = seat(seats[loser].entry, 2, "exit code 1")
    results[10] = replace(lost, seats=tuple(seats))
    table = tabulate(NAMES, results)
    score = compared(table).score
    rows = np.isin(table.match, [10, 11])
    assert (score[rows] == table.score[rows]).all()


@pytest.mark.parametrize("blocks", [0, 1, 2, 3])
def test_few_blocks_are_compared_as_far_as_they_go(blocks: int) -> None:
    results = drawn(blocks, decided=True)
    standings = compute_standings("Cup", NAMES, len(results), results)
    assert {row.entry for row in standings.overall} == set(NAMES)
    for row in standings.overall:
        assert -1 <= row.score <= 2
        assert row.interval_95 is None or row.interval_95[0] <= row.score <= row.interval_95[1]
    if blocks == 1:
        assert all(row.score == row.match_score for row in standings.overall)


def test_the_cross_table_has_direct_meetings_only() -> None:
    results = drawn(decided=True)
    standings = compute_standings("Cup", NAMES, len(results), results)
    assert sum(pair.matches for pair in standings.cross_table) == len(results)
    won = dict.fromkeys(NAMES, 0.0)
    for pair in standings.cross_table:
        won[pair.entry] += pair.score * pair.matches
        won[pair.opponent] += (1 - pair.score) * pair.matches
    for row in standings.overall:
        assert won[row.entry] / row.matches == pytest.approx(row.match_score, abs=1e-5)
