"""Replies after a timeout: recorded for disputes, and without any effect on the match."""

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.match.inputs import ExpiryRecord, LateReplyRecord
from asara_server.match.match import Answer
from tests.referee.harness import Driven, spec

CLOCKS = Clocks(bank_us=10_000_000, increment_us=1_000_000, grace_us=50_000, reconnect_us=3_000_000)
TIME_OUT_S = 11.050001


@pytest.fixture(params=[2, 3])
def timed_out(request) -> Driven:
    """Seat 0 has run out of time; with two seats the match is over by that."""
    driven = Driven(spec(request.param, clocks=CLOCKS))
    driven.expire(after_s=TIME_OUT_S)
    driven.clear()
    return driven


def records(driven: Driven) -> list[type]:
    return [type(record) for record in driven.match.records[1:]]


def test_the_first_late_reply_is_recorded_with_its_times_and_changes_nothing(
    timed_out: Driven,
) -> None:
    match = timed_out.match
    before = match.asked, match.deadline_us, match.results, match.feed.digests, len(match.faults)
    assert timed_out.match.awaits_late_reply(0)
    assert timed_out.match.expired_us(0) == 11_050_001
    timed_out.reply(
        seat=0, after_s=0.3, socket_us=11_200_000, unread_bytes=31, expected=Answer.LATE
    )
    record = timed_out.match.records[-1]
    assert isinstance(record, LateReplyRecord)
    assert (record.seat, record.decision_id) == (0, 1)
    assert (record.socket_us, record.time_us) == (11_200_000, 11_350_001)
    assert record.unread_bytes == 31
    assert len(record.actions) == 1
    assert timed_out.told == [[]] * len(timed_out.told)
    after = match.asked, match.deadline_us, match.results, match.feed.digests, len(match.faults)
    assert after == before


def test_only_the_first_reply_is_late_and_only_to_the_decision_that_was_open(
    timed_out: Driven,
) -> None:
    timed_out.reply(seat=0, decision=2, expected=Answer.IGNORED)
    timed_out.reply(seat=0, expected=Answer.LATE)
    assert not timed_out.match.awaits_late_reply(0)
    timed_out.reply(seat=0, expected=Answer.IGNORED)
    assert records(timed_out).count(LateReplyRecord) == 1


def test_a_reply_that_is_handled_before_the_timer_is_late_as_well() -> None:
    driven = Driven(spec(clocks=CLOCKS))
    driven.reply(after_s=TIME_OUT_S, expected=Answer.LATE)
    assert records(driven) == [ExpiryRecord, LateReplyRecord]
    assert driven.match.finished
    assert driven.match.results[0].end.termination is Termination.TIME_OUT


def test_no_reply_of_a_seat_that_forfeited_otherwise_is_late() -> None:
    driven = Driven(spec(3, clocks=CLOCKS))
    driven.match.forfeit(0, Termination.CRASH, "exited", 5)
    driven.reply(seat=0, expected=Answer.IGNORED)
    assert LateReplyRecord not in records(driven)


def test_a_bot_that_was_away_when_its_time_ran_out_owes_no_late_reply() -> None:
    driven = Driven(spec(3, clocks=CLOCKS))
    driven.pass_time(9)
    driven.match.leave(0, driven.now)
    driven.expire(after_s=TIME_OUT_S)
    assert driven.match.termination(0) is Termination.CRASH
    assert not driven.match.awaits_late_reply(0)
