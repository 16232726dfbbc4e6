"""What counts in a duel, from results made by hand."""

from collections.abc import Iterable
from itertools import islice

import numpy as np
import pytest

from asara_codec.results import Termination
from asara_game.rules import parse_rule_sets
from asara_server.outcome import rank_seats
from asara_server.tournament.schedule.schedule import ScheduledMatch, rotated
from asara_server.tournament.standings.duel import Duel
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.sprt import SequentialTest, Verdict
from tests.tournament.samples import match, seat

BASIC = parse_rule_sets("basic")
TEST = SequentialTest(margin=0.2)
"""Tells after 6 even blocks, or 11 that one wins."""


def schedule(blocks: int) -> list[ScheduledMatch]:
    return list(rotated(("ann", "bob"), BASIC, 2 * blocks, mirrored=True))


def result(
    scheduled: ScheduledMatch,
    winner: str | None = None,
    *,
    forfeit: str | None = None,
    termination: Termination = Termination.CRASH,
    void: bool = False,
) -> MatchResult:
    """Without a winner a tie."""
    ranks = rank_seats([entry == winner for entry in scheduled.entries])
    seats = [
        seat(entry, rank, "no more memory" if entry == forfeit else "", termination)
        for entry, rank in zip(scheduled.entries, ranks, strict=True)
    ]
    return match(scheduled.match_id, *([] if void else seats), block=scheduled.block, void=void)


def judge(matches: list[ScheduledMatch], results: Iterable[MatchResult]) -> Duel:
    duel = Duel(matches, TEST)
    for one in results:
        duel.add(one)
    return duel


def test_a_block_scores_the_mean_of_its_matches_in_both_seats() -> None:
    matches = schedule(5)
    winners = ["bob", "bob", "bob", None, "ann", "bob", "ann", None, "ann", "ann"]
    report = judge(matches, map(result, matches, winners)).report()
    assert report.counts == (1, 1, 1, 1, 1)
    assert report.score == 0.5
    assert report.entries == ("ann", "bob")
    assert report.verdict is Verdict.OPEN
    assert report.better is None


@pytest.mark.parametrize(
    ("winner", "blocks", "verdict"),
    [
        ("ann", 11, Verdict.A_BETTER),
        ("bob", 11, Verdict.B_BETTER),
        (None, 6, Verdict.NO_DIFFERENCE),
    ],
)
def test_it_is_over_as_soon_as_it_can_be_told(
    winner: str | None, blocks: int, verdict: Verdict
) -> None:
    matches = schedule(20)
    duel = Duel(matches, TEST)
    for number, one in enumerate(matches, 1):
        assert duel.over == (number > 2 * blocks)
        duel.add(result(one, winner))
    report = duel.report()
    assert (report.verdict, report.blocks, report.better) == (verdict, blocks, winner)
    assert duel.blocks_left == 0


def test_half_a_block_does_not_count() -> None:
    matches = schedule(2)
    report = judge(matches, [result(one, "ann") for one in matches[:3]]).report()
    assert report.blocks == 1
    empty = judge(matches, [result(matches[0], "ann")]).report()
    assert (empty.blocks, empty.score, empty.interval_95) == (0, None, None)


def test_the_order_in_which_matches_end_changes_nothing() -> None:
    """Up to 16 matches at once, of which those end first that seat 0 wins."""
    dice = np.random.default_rng(7)
    for _ in range(3):
        matches = schedule(100)
        winners = [["ann", "bob"][int(dice.integers(2))] for _ in matches]
        results = list(map(result, matches, winners))
        expected = judge(matches, results).report()
        waiting = iter(results)
        at_once = list(islice(waiting, 16))
        duel = Duel(matches, TEST)
        while at_once and not duel.over:
            ended = min(at_once, key=lambda one: one.seats[0].rank != 1)
            at_once.remove(ended)
            at_once += islice(waiting, 1)
            duel.add(ended)
        assert duel.report() == expected


def test_a_block_in_which_the_referee_failed_is_left_out() -> None:
    matches = schedule(3)
    results = [result(one, "ann") for one in matches]
    results[2] = result(matches[2], void=True)
    report = judge(matches, results).report()
    assert (report.blocks, report.void_blocks, report.counts) == (2, 1, (0, 0, 0, 0, 2))


def test_one_that_started_before_goes_on_and_loses_that_match() -> None:
    matches = schedule(20)
    never = Termination.NEVER_STARTED
    duel = judge(
        matches,
        [
            result(matches[0], "bob"),
            result(matches[1], "ann", forfeit="bob", termination=never),
        ],
    )
    assert not duel.over
    assert duel.report().failed_start is None
    assert duel.report().forfeits == ({}, {"never_started": 1})
