from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import LadderRow
from asara_server.tournament.standings.plackett_luce import (
    ANCHOR,
    ANCHOR_RATING,
    Choices,
    Fit,
    choices,
    fit,
)
from asara_server.tournament.standings.standings import compute_standings
from tests.tournament.samples import match, seat


def result(name: str, *ranks: tuple[str, int], **more: Any) -> MatchResult:
    return match(name, *(seat(*rank) for rank in ranks), **more)


def ladder(entries: Sequence[str], results: Sequence[MatchResult]) -> tuple[LadderRow, ...]:
    return compute_standings("", entries, len(results), results).ladder


def ratings(*results: MatchResult, entries: Sequence[str] = ()) -> dict[str, LadderRow]:
    rows = ladder(entries, results)
    assert [row.rating or -np.inf for row in rows] == sorted(
        (row.rating or -np.inf for row in rows), reverse=True
    )
    return {row.entry: row for row in rows}


def choices_of(rankings: Sequence[Sequence[int]]) -> list[Choices]:
    """From rankings, one rank an entry, 0 if it did not take part."""
    seats = [(m, e, rank) for m, ranks in enumerate(rankings) for e, rank in enumerate(ranks)]
    match, entry, rank = np.array([seat for seat in seats if seat[2]]).T
    return choices(entry, match, -rank.astype(np.float64), match)


def fitted(rankings: Sequence[Sequence[int]], prior: float) -> Fit:
    return fit(choices_of(rankings), len(rankings[0]), len(rankings), prior)


def errors(found: Fit) -> NDArray[np.float64]:
    """Standard errors of all parameters but the first, which is the reference."""
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(found.hessian[1:, 1:]))))


NETFLIX = {
    "2143": 68, "1243": 53, "2134": 49, "1234": 44, "2413": 39, "3214": 37, "2314": 37, "2341": 36,
    "3241": 31, "2431": 29, "1324": 22, "3124": 19, "3421": 17, "4231": 17, "4213": 16, "1423": 14,
    "1342": 10, "4123": 10, "4312": 9, "3412": 8, "1432": 8, "3142": 7, "4321": 7, "4132": 1,
}  # fmt: skip
"""How many viewers put four films in which order; the example of R's PlackettLuce."""


def test_strengths_are_those_of_the_example_of_plackettluce() -> None:
    rankings = [
        [order.index(str(film)) + 1 for film in range(1, 5)]
        for order, viewers in NETFLIX.items()
        for _ in range(viewers)
    ]
    assert len(rankings) == 588
    found = fitted(rankings, 0.5)
    worth = np.exp(found.strengths)
    assert worth / worth.sum() == pytest.approx(
        [0.2306285, 0.4510655, 0.1684719, 0.1498342], abs=1e-6
    )
    assert found.strengths - found.strengths[0] == pytest.approx(
        [0, 0.67080, -0.31404, -0.43128], abs=1e-5
    )
    assert errors(fitted(rankings, 0)) == pytest.approx([0.07472, 0.07593, 0.07489], abs=1e-4)


def test_ties_are_those_of_the_example_of_plackettluce() -> None:
    """Apple, banana and orange; the rankings and results of the package's own tests."""
    rankings = [[1, 2, 0], [3, 1, 2], [2, 1, 1], [1, 2, 3], [2, 1, 1], [1, 0, 2]]
    found = fitted(rankings, 0.5)
    assert found.strengths - found.strengths[0] == pytest.approx([0, 0.2868, -0.4637], abs=1e-4)
    assert found.ties == pytest.approx([-1.0701], abs=1e-4)


def test_the_better_rank_in_a_match_of_four_is_rated_higher_however_they_sit() -> None:
    places = [("ann", 1), ("bob", 2), ("cid", 3), ("dan", 4)]
    for seats in permutations(places):
        found = ratings(result("m1", *seats))
        assert list(found) == ["ann", "bob", "cid", "dan"]
        assert found["ann"].interval_95 is None  # one block


def test_who_always_wins_has_a_rating_and_an_interval() -> None:
    found = ratings(*(result(f"m{n}", ("ann", 1), ("bob", 2)) for n in range(20)))
    low, high = found["ann"].interval_95 or (0, 0)
    assert 1_500 < low < (found["ann"].rating or 0) < high < 2_500
    # With a share of wins of 0.86, one run of twenty matches in twenty has no loss.
    assert low < ANCHOR_RATING + 200 * np.log10(0.86 / 0.14)


def test_the_bundled_greedy_bot_is_the_anchor() -> None:
    found = ratings(
        result("m1", ("ann", 1), (ANCHOR, 2)),
        result("m2", (ANCHOR, 1), ("bob", 2)),
        result("m3", ("ann", 1), ("bob", 2)),
        result("m4", ("ann", 1), (ANCHOR, 2)),
    )
    assert found[ANCHOR].rating == pytest.approx(ANCHOR_RATING)
    assert list(found) == ["ann", ANCHOR, "bob"]
    for row in found.values():
        assert row.rating
        assert row.interval_95
        assert sum(row.interval_95) / 2 == pytest.approx(row.rating, abs=0.2)
    low, high = found[ANCHOR].interval_95 or (0, 0)
    assert low < ANCHOR_RATING < high


def test_a_void_match_counts_nothing_and_who_has_not_played_has_no_rating() -> None:
    found = ratings(
        result("m1", ("ann", 1), ("bob", 2), void=True),
        result("m2", ("ann", 1), ("bob", 1)),
        entries=["ann", "bob", "cid"],
    )
    assert found["ann"].rating == found["bob"].rating == ANCHOR_RATING
    assert (found["cid"].rating, found["cid"].interval_95, found["cid"].matches) == (None, None, 0)
    assert {row.rating for row in ladder(["ann", "bob"], [])} == {None}
    assert ladder([], []) == ()
