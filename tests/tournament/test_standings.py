from pathlib import Path
from random import Random

import pytest

from asara_server.results import Termination
from asara_server.tournament.results import MatchResult, ResultsError, SeatLine, read_results
from asara_server.tournament.standings import Line, Standings, compute_standings, interval_95

OK = Termination.COMPLETED


def result(
    number: int,
    *seats: tuple[str, int, int],
    rules: str = "basic",
    void: bool = False,
    attempt: int = 1,
    ends: dict[str, Termination] | None = None,
) -> MatchResult:
    """A match from (entry, rank, prestige) by seat."""
    return MatchResult(
        match_id=f"r1-{rules}-{number:04}",
        attempt=attempt,
        round=1,
        rule_sets=rules,
        seats=tuple(
            SeatLine(
                entry=entry, rank=rank, prestige=points, termination=(ends or {}).get(entry, OK)
            )
            for entry, rank, points in seats
        ),
        void=void,
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
    )


def line(standings: Standings, entry: str) -> Line:
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


def test_a_shared_win_is_a_shared_win() -> None:
    standings = compute(result(1, ("ann", 1, 90), ("bob", 1, 90), ("cid", 3, 0)))
    assert line(standings, "ann").win_share == 0.5
    assert [at.place for at in standings.overall] == [1, 1, 3]


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


def test_void_matches_count_for_nothing_and_their_repetition_does() -> None:
    void = result(1, ("ann", 1, 0), ("bob", 1, 0), void=True)
    again = result(1, ("ann", 1, 9), ("bob", 2, 5), attempt=2)
    lost = result(2, ("ann", 1, 0), ("bob", 1, 0), void=True)
    standings = compute(void, again, lost, scheduled=2)
    assert standings.matches.model_dump() == {"scheduled": 2, "played": 1, "void": 1}
    assert not standings.complete
    assert line(standings, "ann").matches == 1


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


def test_the_file_does_not_depend_on_the_order_in_which_matches_ended() -> None:
    dice = Random(1)
    results = []
    for number in range(200):
        names = dice.sample(("ann", "bob", "cid"), 3)
        results.append(
            result(number, *((name, rank, 100 // rank) for rank, name in enumerate(names, 1)))
        )
    before = compute(*results).model_dump_json(indent=2)
    dice.shuffle(results)
    assert compute(*results).model_dump_json(indent=2) == before
    assert Standings.model_validate_json(before).model_dump_json(indent=2) == before


def test_intervals_are_within_0_and_1_and_never_of_no_width() -> None:
    assert interval_95(0.5, 0) == (0.0, 1.0)
    low, high = interval_95(1.0, 20)
    assert 0.8 < low < 0.9
    assert high == 1.0
    low, high = interval_95(0.5, 100)
    assert (round(low, 3), round(high, 3)) == (0.404, 0.596)


@pytest.mark.parametrize(("strength", "seats"), [(0.5, 2), (0.9, 2), (0.6, 4)])
def test_intervals_cover_at_least_95_percent_of_the_time(strength: float, seats: int) -> None:
    """Scores in even steps, better ones with growing probability; 60 matches, 1,500 times."""
    dice = Random(seats)
    scores = [step / (seats - 1) for step in range(seats)]
    weights = [(1 - strength) ** (1 - s) * strength**s for s in scores]
    truth = sum(s * w for s, w in zip(scores, weights, strict=True)) / sum(weights)
    covered = 0
    for _ in range(1500):
        mean = sum(dice.choices(scores, weights, k=60)) / 60
        low, high = interval_95(mean, 60)
        covered += low <= truth <= high
    assert covered / 1500 > 0.935


def test_results_come_back_from_their_file_without_a_line_cut_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    played = result(1, ("ann", 1, 9), ("bob", 2, 5), ends={"bob": Termination.TIME_OUT})
    text = played.model_dump_json() + "\n"
    assert '"termination":"time_out"' in text
    path.write_text(text + text[:40])
    assert list(read_results(path)) == [played]
    path.write_text(text + '{"match_id": 3}\n')
    with pytest.raises(ResultsError, match=r"results\.jsonl: line 2: "):
        list(read_results(path))
