"""Which entry is suspended, and after which match, in whatever order the matches end."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from asara_codec.results import Termination
from asara_game.rules import parse_rule_sets
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.run.progress import FailedStarts, Suspensions
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult
from tests.tournament.samples import match, seat

LIMITS = Limits(suspend_share=0.5, suspend_after=4)
BASIC = parse_rule_sets("basic")


def schedule(number: int) -> list[ScheduledMatch]:
    return [ScheduledMatch(f"m{i}", 1, BASIC, ("ann", "bob")) for i in range(number)]


def result(
    name: str, *, forfeit: bool, void: bool = False, how: Termination = Termination.CRASH
) -> MatchResult:
    """A result in which Ann may forfeit and Bob never does."""
    seats = (seat("ann", 2, "why" if forfeit else "", how), seat("bob", 1))
    return match(name, *(() if void else seats), void=void)


def suspended(forfeits: list[bool], limits: Limits = LIMITS) -> dict[str, str]:
    found = Suspensions(schedule(len(forfeits)), limits)
    for index, forfeit in enumerate(forfeits):
        found.record_result(result(f"m{index}", forfeit=forfeit))
    return found.suspended


def test_more_than_the_share_suspends_once_there_are_enough_matches() -> None:
    found = Suspensions(schedule(9), LIMITS)
    told = [found.record_result(result(f"m{index}", forfeit=True)) for index in range(9)]
    assert [bool(one) for one in told] == [False] * 3 + [True] + [False] * 5
    assert suspended([True] * 3) == {}
    assert suspended([True, False, True, False]) == {}
    assert suspended([True, False, True, True]) == {
        "ann": "suspended after it forfeited 3 of its first 4 matches"
    }
    assert suspended([False] * 6 + [True] * 7) == {
        "ann": "suspended after it forfeited 7 of its first 13 matches"
    }


def test_matches_that_a_distant_bot_missed_do_not_count() -> None:
    found = Suspensions(schedule(12), LIMITS)
    for index in range(8):
        found.record_result(result(f"m{index}", forfeit=True, how=Termination.MISSED))
    assert found.suspended == {}
    for index in range(8, 12):
        found.record_result(result(f"m{index}", forfeit=True))
    assert found.suspended == {
        "ann": "suspended after it forfeited 4 of its first 4 matches, besides 8 that it missed"
    }


def test_a_share_of_one_suspends_nobody_and_of_none_at_the_first_fault() -> None:
    assert suspended([True] * 50, Limits(suspend_share=1)) == {}
    first = Limits(suspend_share=0, suspend_after=1)
    assert suspended([False, True], first) == {
        "ann": "suspended after it forfeited 1 of its first 2 matches"
    }


def test_void_matches_and_who_is_out_do_not_count() -> None:
    found = Suspensions(schedule(9), LIMITS)
    for index in range(4):
        assert found.record_result(result(f"m{index}", forfeit=True, void=True)) == {}
        assert found.record_result(result(f"m{index}", forfeit=True), excluded=["ann"]) == {}
    assert found.suspended == {}


@settings(max_examples=30)
@given(st.lists(st.booleans(), max_size=20), st.randoms(use_true_random=False))
def test_it_does_not_depend_on_the_order_in_which_matches_end(
    forfeits: list[bool], dice: random.Random
) -> None:
    order = list(range(len(forfeits)))
    dice.shuffle(order)
    found = Suspensions(schedule(len(forfeits)), LIMITS)
    for index in order:
        found.record_result(result(f"m{index}", forfeit=forfeits[index]))
    assert found.suspended == suspended(forfeits)


def test_only_failed_starts_in_a_row_put_an_entry_out() -> None:
    starts = FailedStarts(2)
    kinds = [Termination.NEVER_STARTED, Termination.CRASH, *[Termination.NEVER_STARTED] * 2]
    told = [
        starts.record_result(result(f"m{index}", forfeit=True, how=how))
        for index, how in enumerate(kinds)
    ]
    assert told == [{}, {}, {}, {"ann": "not started again after 2 failures in a row: why"}]
    ignored = starts.record_result(result("m4", forfeit=True, how=kinds[0]), ignored={"ann"})
    assert ignored == {}
