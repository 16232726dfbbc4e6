import pytest

from asara_codec.results import Termination
from asara_server.tournament.standings.ladder import Ladder
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome


def result(
    match_id: str, *ranks: tuple[str, int], block: str = "", void: bool = False
) -> MatchResult:
    return MatchResult(
        match_id=match_id,
        block=block,
        round=1,
        rule_sets="basic",
        seats=tuple(
            SeatOutcome(entry=entry, rank=rank, prestige=0, termination=Termination.COMPLETED)
            for entry, rank in ranks
        ),
        void=void,
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
    )


def test_entries_begin_alike_and_move_with_every_match() -> None:
    ladder = Ladder(["bob", "ann"])
    assert [(line.entry, line.mu, line.matches) for line in ladder.rows] == [
        ("ann", 25, 0),
        ("bob", 25, 0),
    ]
    before = ladder.rows[0].sigma
    ladder.add(result("m1", ("bob", 1), ("ann", 2)))
    bob, ann = ladder.rows
    assert (bob.entry, ann.entry) == ("bob", "ann")
    assert bob.mu > 25 > ann.mu
    assert bob.sigma < before
    assert bob.ordinal == pytest.approx(bob.mu - 3 * bob.sigma, abs=1e-5)


def test_a_tie_of_equals_changes_no_estimate() -> None:
    ladder = Ladder()
    ladder.add(result("m1", ("ann", 1), ("bob", 1)))
    assert [line.mu for line in ladder.rows] == [25, 25]


def test_a_match_of_four_moves_all_in_the_order_of_their_ranks() -> None:
    ladder = Ladder()
    ladder.add(result("m1", ("cid", 3), ("ann", 1), ("dan", 4), ("bob", 2)))
    by_estimate = sorted(ladder.rows, key=lambda line: -line.mu)
    assert [line.entry for line in by_estimate] == ["ann", "bob", "cid", "dan"]


def test_void_matches_change_nothing() -> None:
    ladder = Ladder(["ann", "bob"])
    before = ladder.rows
    ladder.add(result("m1", ("ann", 1), ("bob", 2), void=True))
    assert ladder.rows == before
    assert ladder.history == {"ann": {}, "bob": {}}


def test_the_history_has_a_rating_for_each_block() -> None:
    ladder = Ladder()
    ladder.add(result("b1-1", ("ann", 1), ("bob", 2), block="b1"))
    ladder.add(result("b2-1", ("ann", 1), ("cid", 2), block="b2"))
    ladder.add(result("b1-2", ("bob", 1), ("ann", 2), block="b1"))
    ladder.add(result("m3", ("ann", 1), ("bob", 2)))
    assert {entry: list(points) for entry, points in ladder.history.items()} == {
        "ann": ["b1", "b2", "m3"],
        "bob": ["b1", "m3"],
        "cid": ["b2"],
    }
    lines = {line.entry: line for line in ladder.rows}
    last = ladder.history["ann"]["m3"]
    assert (round(last.mu, 6), round(last.sigma, 6)) == (lines["ann"].mu, lines["ann"].sigma)
