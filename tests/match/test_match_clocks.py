"""Bank, increment, grace, and the time for reconnecting."""

import random

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.match.inputs import (
    EnterRecord,
    ExpiryRecord,
    HaltRecord,
    LeaveRecord,
    Presence,
    ReopenRecord,
    ReplyRecord,
)
from asara_server.match.match import NEVER, Answer
from tests.referee.harness import Driven, spec

CLOCKS = Clocks(bank_us=10_000_000, increment_us=1_000_000, grace_us=50_000, reconnect_us=3_000_000)
HERE = Presence()


@pytest.fixture
def driven():
    return Driven(spec(3, clocks=CLOCKS))


def last_decision(driven, seat):
    """The decision that a seat was sent last."""
    return [r.decision for r in driven.told[seat] if r.HasField("decision")][-1]


@pytest.mark.parametrize(("after_s", "charged_us"), [(2.0, 1_950_000), (0.050001, 1), (0.05, 0)])
def test_the_time_less_the_grace_is_charged_and_the_increment_earned(driven, after_s, charged_us):
    driven.reply(after_s=after_s)
    decision = last_decision(driven, 0)
    assert decision.charged_us == charged_us
    assert decision.clock_us == 11_000_000 - charged_us + 1_000_000


def test_further_actions_of_a_reply_cost_nothing_and_earn_nothing():
    one = Driven(spec(clocks=CLOCKS))
    legal = one.match.state.legal
    space = next(a for a in legal if str(a) == "dispatch base-market 1")
    one.reply(space, after_s=1)
    buyer = one.match.state.legal[0]
    both = Driven(spec(clocks=CLOCKS))
    both.reply(space, buyer, after_s=1)
    assert last_decision(both, 0).decision_id == 2
    reply = both.match.records[-1]
    assert isinstance(reply, ReplyRecord)
    assert reply.actions == (space, buyer)
    assert last_decision(both, 0).clock_us == last_decision(one, 0).clock_us


def test_every_reply_is_charged_to_the_seat_that_gave_it_and_to_no_other():
    clocks = Clocks(bank_us=1_000_000_000, increment_us=1_000_000, grace_us=50_000)
    driven = Driven(spec(3, clocks=clocks))
    banks = [1_000_000_000] * 3
    charged = [0] * 3
    dice = random.Random(1)
    while not driven.match.finished:
        seat = driven.asked
        decision = last_decision(driven, seat)
        assert (decision.clock_us, decision.charged_us) == (banks[seat] + 1_000_000, charged[seat])
        thought_ms = dice.randrange(51, 3_000)
        driven.reply(dice.choice(driven.match.state.legal), after_s=thought_ms / 1_000)
        charged[seat] = (thought_ms - 50) * 1_000
        banks[seat] += 1_000_000 - charged[seat]
    for seat in range(3):
        assert last_decision(driven, seat).decision_id > 20


def test_the_last_moment_is_in_time_and_the_next_is_not():
    driven = Driven(spec(3, clocks=CLOCKS))
    assert driven.match.deadline_us == driven.now + 11_050_001
    driven.reply(after_s=11.05)
    driven = Driven(spec(3, clocks=CLOCKS))
    driven.reply(after_s=11.050001, expected=Answer.LATE)
    assert driven.match.termination(0) is Termination.TIME_OUT
    assert driven.match.results == ()
    assert driven.asked == 1, "the steward played the turn"


def test_time_out_without_a_reply(driven):
    driven.expire(after_s=11.05)
    assert driven.asked == 0
    driven.clear()
    driven.expire(after_s=0.000001)
    assert driven.match.termination(0) is Termination.TIME_OUT
    [fault] = driven.match.faults
    assert fault.detail == "did not reply to decision 1 within the 11 s it had"
    assert driven.kinds(0) == ["update"]
    assert driven.kinds(1) == ["decision"]


def test_a_rejection_does_not_stop_the_clock(driven):
    driven.reply(after_s=0)
    driven.reply(after_s=1.05)
    driven.pass_time(5)
    asked, before_us = driven.asked, last_decision(driven, driven.asked).clock_us
    driven.match.reply(asked, driven.decision_id(asked), [], driven.now)
    driven.take()
    assert driven.told[asked][-1].rejection.clock_us == before_us - 4_950_000
    driven = Driven(spec(3, clocks=CLOCKS))
    driven.pass_time(5)
    driven.match.reply(0, 1, [], driven.now)
    driven.take()
    assert driven.told[0][-1].rejection.clock_us == 6_050_000
    driven.reply(after_s=1)
    assert last_decision(driven, 0).charged_us == 5_950_000


@pytest.mark.parametrize(("after_s", "left_us"), [(0.05, 11_000_000), (11.05, 0)])
def test_the_clock_is_whole_to_the_end_of_the_grace_and_empty_at_the_last_moment(
    driven, after_s, left_us
):
    driven.pass_time(after_s)
    assert driven.match.reply(0, 1, [], driven.now) is Answer.REJECTED
    driven.take()
    assert driven.told[0][-1].rejection.clock_us == left_us


def test_a_late_bad_reply_is_a_time_out(driven):
    driven.pass_time(12)
    assert driven.match.reply(0, 1, [], driven.now) is Answer.LATE
    assert driven.match.termination(0) is Termination.TIME_OUT


def test_a_bot_that_is_away_may_come_back_in_time(driven):
    driven.match.leave(1, driven.now)
    assert driven.match.deadline_us == driven.now + 3_000_001
    driven.pass_time(2.9)
    driven.match.enter(1, HERE, driven.now)
    driven.expire(after_s=1)
    assert driven.match.termination(1) is Termination.UNSPECIFIED


def test_a_bot_that_stays_away_has_crashed(driven):
    driven.match.leave(1, driven.now)
    driven.expire(after_s=2)
    driven.match.leave(1, driven.now)  # it is away already
    driven.expire(after_s=1)
    assert driven.match.termination(1) is Termination.UNSPECIFIED
    assert driven.match.deadline_us == driven.now + 1
    driven.expire(after_s=0.000001)
    assert driven.match.termination(1) is Termination.CRASH
    assert driven.match.deadline_us == 11_050_001
    [fault] = driven.match.faults
    assert fault.detail == "did not come back within 3 s after its stream broke"
    assert driven.asked == 0


def test_a_bot_that_must_decide_and_is_away_has_crashed_when_its_clock_ran_out():
    driven = Driven(
        spec(3, clocks=Clocks(bank_us=1_000_000, increment_us=0, reconnect_us=60_000_000))
    )
    driven.match.leave(0, driven.now)
    driven.expire(after_s=1.050001)
    assert driven.match.termination(0) is Termination.CRASH
    [fault] = driven.match.faults
    assert fault.detail == "was away when its time for decision 1 ran out"


def test_the_clock_runs_while_a_bot_is_away(driven):
    driven.match.leave(0, driven.now)
    driven.pass_time(2)
    driven.clear()
    driven.match.enter(0, HERE, driven.now)
    driven.take()
    assert driven.kinds(0) == ["match_started", "decision"]
    started, decision = driven.told[0][0].match_started, driven.told[0][1].decision
    assert started.resumed
    assert decision.decision_id == 1
    assert decision.clock_us == 11_000_000 - 1_950_000
    driven.reply(decision=1, after_s=0)
    assert last_decision(driven, 0).charged_us == 1_950_000


def test_a_decision_is_asked_and_timed_while_the_bot_is_away():
    driven = Driven(
        spec(2, clocks=Clocks(bank_us=5_000_000, increment_us=0, reconnect_us=60_000_000))
    )
    driven.match.leave(1, driven.now)
    while driven.asked == 0:
        driven.reply(after_s=0)
    driven.clear()
    driven.pass_time(1)
    driven.match.enter(1, HERE, driven.now)
    driven.take()
    assert driven.told[1][1].decision.clock_us == 4_050_000
    assert not driven.told[1][1].decision.events, "the view holds them"


def test_a_bot_that_comes_back_leaves_the_time_of_another_as_it_was(driven):
    driven.match.leave(1, driven.now)
    driven.match.leave(2, driven.now)
    driven.pass_time(1)
    driven.match.enter(2, HERE, driven.now)
    assert driven.match.deadline_us == 3_000_001


@pytest.mark.parametrize(("later_us", "ranks"), [(0, [1, 1]), (1, [1, 2])])
def test_the_bot_that_went_first_crashes_first_and_both_if_at_the_same_moment(later_us, ranks):
    driven = Driven(spec(2, clocks=CLOCKS))
    driven.match.leave(1, driven.now)
    driven.match.leave(0, driven.now + later_us)
    driven.expire(after_s=5)
    assert [r.end.rank for r in driven.match.results] == ranks


def test_a_forfeited_seat_has_no_deadline(driven):
    driven.match.leave(1, driven.now)
    driven.match.forfeit(1, Termination.CRASH, "", driven.now)
    assert driven.match.deadline_us == driven.now + 11_050_001
    records = len(driven.match.records)
    driven.clear()
    driven.match.enter(1, HERE, driven.now)
    driven.take()
    assert (len(driven.match.records), driven.told[1]) == (records, [])
    driven.expire(after_s=5)
    assert driven.match.termination(1) is Termination.CRASH


def test_a_new_stream_replaces_the_old_one_and_ends_its_time_for_reconnecting(driven):
    driven.pass_time(1)
    before_us = driven.match.deadline_us
    driven.match.enter(1, HERE, driven.now)
    assert [type(each) for each in driven.match.records[1:]] == [LeaveRecord, EnterRecord]
    assert driven.match.deadline_us == before_us
    driven.match.leave(1, driven.now)
    assert driven.match.deadline_us == driven.now + 3_000_001
    driven.match.enter(1, HERE, driven.now)
    assert driven.match.deadline_us == before_us


def test_whoever_leaves_after_somebodys_time_was_over_leaves_after_the_forfeit(driven):
    driven.now = driven.match.deadline_us
    driven.match.leave(1, driven.now)
    assert [type(each) for each in driven.match.records[1:]] == [ExpiryRecord, LeaveRecord]
    assert driven.match.termination(0) is Termination.TIME_OUT


def test_a_match_that_was_halted_asks_again_when_it_is_reopened(driven):
    driven.match.leave(2, driven.now)
    driven.match.enter(2, HERE, driven.now)
    driven.match.halt(driven.now)
    assert driven.asked == 0, "the open decision may still be answered"
    driven.clear()
    driven.reply()
    assert driven.match.asked is None
    assert driven.match.deadline_us == NEVER
    assert driven.told == [[], [], []]
    driven.expire(after_s=1000)
    assert not driven.match.finished
    driven.match.reopen(driven.now)
    assert driven.match.asked is not None
    assert [type(each) for each in driven.match.records[-3:]] == [
        HaltRecord, ReplyRecord, ReopenRecord,
    ]  # fmt: skip
    assert driven.match.deadline_us == driven.now + 3_000_001, "all streams were lost"
