"""The processes that are started for matches to come, and those that are spared."""

from collections.abc import Hashable, Sequence

from asara_server.tournament.bots.start_plan import SeatNeed, StartPlan, plan_starts, surplus

ANN, BOB, CID = ("ann", 0), ("bob", 0), ("cid", 0)


def plan(
    *matches: tuple[Hashable, ...],
    idle: Sequence[Hashable] = (),
    busy: Sequence[Hashable] = (),
    imminent: int = 1,
    at_once: int = 2,
    most_idle: int = 64,
) -> StartPlan:
    """Plan for these matches, each the keys of its seats, of which the first ones are imminent."""
    needs = [
        (key, SeatNeed(str(key), 0, f"m{index}", seat, index < imminent))
        for index, keys in enumerate(matches)
        for seat, key in enumerate(keys)
    ]
    counts = {key: busy.count(key) for key in busy}
    return plan_starts(needs, idle, counts, most_alike=at_once, most_idle=most_idle)


def missing(planned: StartPlan) -> list[tuple[str, int]]:
    return [(need.match_id, need.seat) for need in planned.missing]


def test_what_no_process_serves_is_missing_the_next_match_first() -> None:
    planned = plan((ANN, BOB), (ANN, CID), idle=[BOB])
    assert missing(planned) == [("m0", 0), ("m1", 0), ("m1", 1)]
    assert planned.needed == [ANN, BOB, ANN, CID]


def test_a_process_that_lives_for_a_match_serves_no_other() -> None:
    seats = [("ann", "m0", 0), ("bob", "m0", 1), ("ann", "m1", 0), ("bob", "m1", 1)]
    planned = plan(tuple(seats[:2]), tuple(seats[2:]), idle=seats[:1], busy=seats[:1])
    assert missing(planned) == [("m0", 1), ("m1", 0), ("m1", 1)]


def test_a_process_that_plays_serves_a_later_match() -> None:
    assert not plan((CID, BOB), (ANN, BOB), idle=[CID, BOB], busy=[ANN, BOB]).missing


def test_the_next_match_does_not_wait_for_a_process_that_plays() -> None:
    assert missing(plan((ANN, BOB), busy=[ANN, BOB])) == [("m0", 0), ("m0", 1)]


def test_with_one_match_at_a_time_its_processes_serve_the_next() -> None:
    planned = plan((ANN, BOB), (ANN, CID), busy=[ANN, BOB], at_once=1)
    assert missing(planned) == [("m1", 1)]


def test_there_are_no_more_processes_that_can_replace_each_other_than_matches_at_once() -> None:
    planned = plan(*[(ANN, BOB)] * 6, busy=[ANN], imminent=6, at_once=3)
    assert missing(planned).count(("m0", 0)) == 1
    assert [need.seat for need in planned.missing].count(0) == 2
    assert [need.seat for need in planned.missing].count(1) == 3


def test_no_more_is_planned_than_may_be_idle() -> None:
    assert missing(plan((ANN, BOB), (CID, BOB), most_idle=3)) == [("m0", 0), ("m0", 1), ("m1", 0)]
    assert missing(plan((ANN, BOB), most_idle=1, idle=[ANN])) == []
    # A process that plays will be idle as well, and is needed sooner.
    assert missing(plan((ANN, CID), busy=[ANN], at_once=1, most_idle=1)) == []


def test_a_process_that_is_not_needed_is_spared_first_then_the_one_needed_last() -> None:
    assert surplus([ANN, BOB, CID], [CID, ANN]) == 1
    assert surplus([ANN, BOB, ANN], [ANN, BOB]) == 2
    assert surplus([ANN, BOB, CID], [CID, BOB, ANN]) == 0
    assert surplus([ANN, BOB], []) == 0
