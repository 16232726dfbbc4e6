from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from asara_codec.results import Termination
from asara_server.tournament.standings.match_result import (
    MatchResult,
    SeatOutcome,
    by_schedule,
    without_forfeits,
)
from asara_server.tournament.standings.model import Standings, StandingsRow
from asara_server.tournament.standings.standings import block_variance, compute_standings
from tests.tournament.samples import match

OK = Termination.COMPLETED


def result(
    number: int,
    *seats: tuple[str, int, int],
    rules: str = "basic",
    ends: Mapping[str, Termination] | None = None,
    **more: Any,
) -> MatchResult:
    """A match from (entry, rank, prestige) by seat."""
    outcomes = [
        SeatOutcome(
            entry=entry, rank=rank, prestige=points, termination=(ends or {}).get(entry, OK)
        )
        for entry, rank, points in seats
    ]
    return match(f"r1-{rules}-{number:04}", *outcomes, rules=rules, **more)


def line(standings: Standings, entry: str) -> StandingsRow:
    return next(line for line in standings.overall if line.entry == entry)


def compute(*results: MatchResult, scheduled: int | None = None) -> Standings:
    return compute_standings(
        "Cup", ("ann", "bob", "cid"), len(results) if scheduled is None else scheduled, results
    )


def test_score_runs_from_1_down_to_0_by_rank_and_ties_share_the_mean() -> None:
    standings = compute(
        result(1, ("ann", 1, 90), ("bob", 2, 80), ("cid", 3, 70)),
        result(2, ("cid", 1, 90), ("ann", 2, 80), ("bob", 2, 80)),
    )
    assert [(at.entry, at.score) for at in standings.overall] == [
        ("ann", 0.625),
        ("cid", 0.5),
        ("bob", 0.375),
    ]
    assert line(standings, "ann").win_share == 0.5
    assert line(standings, "ann").prestige == 85


def test_the_variance_of_block_scores_is_pooled_over_the_entries() -> None:
    """Ann scores 1 and 0, Bob 0, 1 and 1: squares of 1/2 and 2/3, divided by 1 + 2."""
    first = result(1, ("ann", 1, 9), ("bob", 2, 8), block="b1")
    assert block_variance([first]) is None
    second = result(2, ("ann", 2, 8), ("bob", 1, 9), block="b2")
    third = result(3, ("cid", 2, 8), ("bob", 1, 9), block="b3")
    assert block_variance([first, second, third]) == pytest.approx(7 / 18)


def test_forfeits_are_counted_by_kind_and_are_never_wins() -> None:
    ends = {"ann": Termination.CRASH, "bob": Termination.NEVER_STARTED}
    standings = compute(result(1, ("ann", 1, 9), ("bob", 1, 9), ends=ends))
    assert line(standings, "ann").faults == {"crash": 1}
    assert line(standings, "bob").faults == {"never_started": 1}
    assert line(standings, "ann").win_share == 0
    assert line(standings, "ann").prestige is None
    assert line(standings, "ann").score == 0.5
    assert line(standings, "cid").faults == {}
    later = result(2, ("ann", 1, 40), ("bob", 2, 30))
    both = compute(result(1, ("ann", 1, 9), ("bob", 1, 9), ends=ends), later)
    assert line(both, "ann").prestige == 40


def test_blocks_of_the_open_group_that_were_played_in_part_are_counted() -> None:
    seats = ("ann", 1, 9), ("bob", 1, 9)
    results = (
        result(1, *seats, block="whole"),
        result(2, *seats, block="whole"),
        result(3, *seats, block="begun"),
        result(4, *seats, block="begun", void=True),
        result(5, *seats, block="older"),
    )
    group = {"whole": 2, "begun": 4, "to come": 2}
    standings = compute_standings("Cup", ("ann", "bob"), 9, results, group=group)
    assert standings.unfinished.model_dump() == {"blocks": 1, "matches": 3}
    assert compute(*results).unfinished.model_dump() == {"blocks": 0, "matches": 0}


def test_blocks_with_entries_on_other_machines_at_several_tables_are_counted() -> None:
    tables = (
        ("d1", "ann", "cid"),
        ("d1", "bob", "dot"),
        ("d2", "ann", "bob"),
        ("d2", "cid", "dot"),
    )
    results = [
        replace(result(number, (one, 1, 9), (other, 2, 8), block=deal), duplicate_deal=deal)
        for number, (deal, one, other) in enumerate(tables)
    ]
    names = ("ann", "bob", "cid", "dot")
    for remote, blocks in ((("ann", "bob"), 1), (("ann", "cid", "dot"), 2), (("ann",), 0)):
        standings = compute_standings("Cup", names, 4, results, remote=remote)
        assert standings.remote_blocks == blocks


def test_void_matches_count_for_nothing_and_their_repetition_does() -> None:
    void = result(1, ("ann", 1, 0), ("bob", 1, 0), void=True)
    again = result(1, ("ann", 1, 9), ("bob", 2, 5), attempt=2)
    lost = result(2, ("ann", 1, 0), ("bob", 1, 0), void=True)
    standings = compute(void, again, lost, scheduled=2)
    assert standings.matches.model_dump() == {
        "scheduled": 2,
        "played": 1,
        "void": 1,
        "blocks": 1,
    }
    assert not standings.complete
    assert line(standings, "ann").matches == 1


def test_the_score_is_the_mean_of_the_blocks_however_many_matches_they_have() -> None:
    standings = compute(
        result(1, ("ann", 1, 9), ("bob", 2, 5), block="b1"),
        result(2, ("bob", 1, 9), ("ann", 2, 5), block="b1"),
        result(3, ("ann", 1, 9), ("bob", 2, 5), block="b2"),
        result(4, ("ann", 1, 9), ("bob", 2, 5)),
    )
    ann = line(standings, "ann")
    assert (ann.matches, ann.blocks, standings.matches.blocks) == (4, 3, 3)
    assert ann.score == pytest.approx((0.5 + 1 + 1) / 3, abs=1e-6)
    assert ann.win_share == 0.75


def test_a_block_goes_as_a_whole_where_somebody_forfeited() -> None:
    results = (
        result(1, ("ann", 1, 9), ("bob", 2, 5), block="b1", ends={"bob": Termination.CRASH}),
        result(2, ("bob", 1, 9), ("ann", 2, 5), block="b1"),
        result(3, ("bob", 1, 9), ("ann", 2, 5), block="b2"),
    )
    assert without_forfeits(results) == [results[2]]
    standings = compute(*results)
    assert [(at.entry, at.matches) for at in standings.overall][:2] == [("bob", 3), ("ann", 3)]
    assert [(at.entry, at.score, at.matches, at.faults) for at in standings.without_forfeits] == [
        ("bob", 1.0, 1, {}),
        ("ann", 0.0, 1, {}),
        ("cid", 0.0, 0, {}),
    ]
    assert line(standings, "bob").faults == {"crash": 1}


def test_where_nothing_can_be_said_nothing_is_said() -> None:
    standings = compute(*(result(number, ("ann", 1, 9), ("bob", 2, 5)) for number in range(9)))
    assert line(standings, "cid").interval_95 is None
    assert line(standings, "cid").first_chance is None
    assert line(standings, "cid").ranks == (1, 3)
    low, high = line(standings, "ann").interval_95 or (0, 0)
    assert (round(low, 3), high) == (0.664, 1)
    assert compute().overall[0].interval_95 is None


def unlucky() -> list[MatchResult]:
    """In every deal, dan loses from the better seat, so the comparison puts him below 0."""
    results = []
    for block in range(24):
        others = ["ann", "bob", "cid"] * 2
        first, *rest = others[block % 3 : block % 3 + 3]
        for table, (better, other) in enumerate((("dan", first), rest)):
            seats = [(better, 1 + (better == "dan"), 5), (other, 2 - (better == "dan"), 5)]
            played = result(2 * block + table, *seats[:: 1 if block % 2 else -1], block=f"b{block}")
            results.append(replace(played, duplicate_deal=f"b{block}"))
    return results


A, B, C, D = ("ann", 1, 9), ("bob", 2, 5), ("cid", 2, 5), ("dan", 1, 9)
CRASHED = {"cid": Termination.CRASH}


@pytest.mark.parametrize(
    "results",
    [
        pytest.param([], id="none"),
        pytest.param([result(n, A, B, block="b") for n in range(2)], id="one block"),
        pytest.param([result(n, A, ("bob", 1, 9)) for n in range(20)], id="all ties"),
        pytest.param(
            [result(n, A, (B, C)[n % 2], ends=CRASHED) for n in range(24)], id="one never finished"
        ),
        pytest.param(
            [result(n, ("ann", 1, 0), ("cid", 1, 0), ends=CRASHED | {"ann": Termination.TIME_OUT})
             for n in range(12)],
            id="nobody finished",
        ),
        pytest.param(
            [result(n, *((A, B), (D, C))[n % 2]) for n in range(24)], id="some never met"
        ),
        pytest.param(unlucky(), id="below 0"),
    ],
)  # fmt: skip
def test_nothing_in_the_standings_contradicts_anything_else(results: list[MatchResult]) -> None:
    names = ("ann", "bob", "cid", "dan", "eve")
    standings = compute_standings("Cup", names, len(results), results)
    assert Standings.model_validate_json(standings.model_dump_json()) == standings
    played = [row for row in standings.overall if row.matches]
    assert played == list(standings.overall[: len(played)])
    assert {row.place for row in standings.overall[len(played) :]} == {len(played) + 1}
    for row in standings.overall:
        best, worst = row.ranks or (0, 0)
        assert 1 <= best <= row.place <= worst <= len(names) or not row.matches
        low, high = row.interval_95 or (row.score, row.score)
        assert low <= row.score <= high
        assert (row.first_chance is None) == bool(standings.unconnected or not row.matches)
    if not standings.unconnected:
        assert sum(row.first_chance or 0 for row in played) == pytest.approx(1 if played else 0)
    ratings = [row.rating for row in standings.ladder if row.rating]
    assert ratings == sorted(ratings, reverse=True)
    assert len(ratings) + len(standings.unconnected) == len(played)


def test_the_cross_table_has_each_pair_that_met_once() -> None:
    standings = compute(
        result(1, ("ann", 1, 90), ("bob", 2, 80), ("cid", 2, 80), block="b1"),
        result(2, ("bob", 1, 90), ("cid", 2, 80), ("ann", 3, 70), block="b1"),
        result(3, ("ann", 1, 90), ("bob", 2, 80), block="b2"),
    )
    assert [at.entry for at in standings.overall] == ["ann", "cid", "bob"]
    found = [
        (pair.entry, pair.opponent, pair.matches, pair.blocks, pair.score)
        for pair in standings.cross_table
    ]
    assert found == [
        ("ann", "cid", 2, 1, 0.5),
        ("ann", "bob", 3, 2, 0.75),
        ("cid", "bob", 2, 1, 0.25),
    ]
    for pair in standings.cross_table:
        low, high = pair.interval_95
        assert 0 <= low < pair.score < high <= 1


def test_matches_are_sorted_by_the_numbers_in_their_names() -> None:
    wins = [result(number, ("ann", 1, 9), ("bob", 2, 5)) for number in (2, 10, 1)]
    names = [found.match_id for found in by_schedule(wins)]
    assert names == ["r1-basic-0001", "r1-basic-0002", "r1-basic-0010"]
    tenth = replace(wins[0], match_id="r10-basic-0001-1")
    second = replace(wins[0], match_id="r2-basic-0001-10")
    first = replace(wins[0], match_id="r2-basic-0001-2")
    assert by_schedule([tenth, second, first]) == [first, second, tenth]


def test_seats_and_rules_are_told_apart() -> None:
    standings = compute(
        result(1, ("ann", 1, 9), ("bob", 2, 5)),
        result(2, ("bob", 1, 9), ("ann", 2, 5), rules="pro"),
        result(3, ("cid", 1, 9), ("ann", 2, 5), ("bob", 3, 1)),
    )
    assert [(s.seats, s.seat, s.matches, s.score) for s in line(standings, "ann").by_seat] == [
        (2, 0, 1, 1.0),
        (2, 1, 1, 0.0),
        (3, 1, 1, 0.5),
    ]
    assert [(s.seats, s.seat, s.matches) for s in standings.seat_effect] == [
        (2, 0, 2),
        (2, 1, 2),
        (3, 0, 1),
        (3, 1, 1),
        (3, 2, 1),
    ]
    assert [at.entry for at in standings.by_rule_sets["pro"]] == ["bob", "ann", "cid"]
    assert standings.by_rule_sets["pro"][2].matches == 0


@pytest.mark.parametrize("ranks", [(2, 3), (1, 3), (1, 1, 2), (0, 1), (-1, 1), (1,), (), (1,) * 5])
def test_ranks_that_no_match_ends_with_are_refused(ranks: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError, match=r"the ranks|2 to 4"):
        result(1, *((f"bot{seat}", rank, 0) for seat, rank in enumerate(ranks)))
