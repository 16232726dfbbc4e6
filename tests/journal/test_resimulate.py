import random
from dataclasses import replace
from typing import Any

import pytest

from asara_codec.clocks import Clocks
from asara_codec.encode import action_message
from asara_game.rules import RULE_COMBINATIONS
from asara_server.journal.record_codec import RecordCodec
from asara_server.journal.resimulate import (
    UnsoundError,
    resimulate,
    resimulated,
    resimulated_steps,
)
from asara_server.match.inputs import (
    ExpiryRecord,
    ForfeitRecord,
    LeaveRecord,
    Record,
    RejectionRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.match import Answer
from asara_server.replay.file import parse_replay
from asara_server.replay.signing import SigningKey
from tests.match.playouts import (
    EVERYTHING,
    LIMITS,
    random_match,
    random_replay,
    random_spec,
    replay_bytes,
    rules_for,
)
from tests.referee.harness import Driven, spec
from tests.sizes import others_long


@pytest.mark.parametrize("seed", others_long(range(6), 3))
def test_a_replay_goes_as_the_match_went(seed: int) -> None:
    dice = random.Random(seed)
    rules = rules_for(dice.choice(RULE_COMBINATIONS), dice.choice((2, 3, 4)))
    kept = random_match(random_spec(rules, dice, f"match-{seed}"), dice)
    replay = parse_replay(replay_bytes(kept, SigningKey.new()))
    assert replay == kept
    steps = list(resimulated_steps(replay))
    assert [step.record for step in steps] == [None, *kept.records]


REPLAY = random_replay(EVERYTHING, 3, seed=3)
RECORDS = REPLAY.records
REPLY = next(i for i, r in enumerate(RECORDS) if isinstance(r, ReplyRecord) and i > 20)
REJECTION = next(i for i, r in enumerate(RECORDS) if isinstance(r, RejectionRecord))
FORFEIT = next(i for i, r in enumerate(RECORDS) if isinstance(r, ForfeitRecord))


def fault(index: int, *records: Record) -> str:
    """The fault of the replay with other records in place of this one."""
    changed = (*RECORDS[:index], *records, *RECORDS[index + 1 :])
    with pytest.raises(UnsoundError) as raised:
        list(resimulated_steps(replace(REPLAY, records=changed)))
    return str(raised.value)


def test_a_reply_of_a_seat_that_was_not_asked() -> None:
    reply = RECORDS[REPLY]
    assert isinstance(reply, ReplyRecord)
    other = (reply.seat + 1) % 3
    text = fault(REPLY, reply._replace(seat=other))
    assert f"record {REPLY + 2}: expected one of seat {reply.seat}; found a reply from" in text


def test_costs_and_times_that_do_not_fit() -> None:
    reply = RECORDS[REPLY]
    assert isinstance(reply, ReplyRecord)
    text = fault(REPLY, reply._replace(bot_us=reply.bot_us - 1))
    assert text.endswith(f"bot_us: expected {reply.bot_us}; found {reply.bot_us - 1}")
    text = fault(REPLY, reply._replace(time_us=reply.time_us + 1))
    assert text.endswith(f"bot_us: expected {reply.bot_us + 1}; found {reply.bot_us}")
    assert "or later; found 3 µs" in fault(REPLY, reply._replace(time_us=3))
    assert "or later; found" in fault(REPLY, reply._replace(referee_us=10**9))
    assert "or later; found" in fault(REPLY, reply._replace(time_us=2**62))
    assert "the referee took -1 µs" in fault(REPLY, reply._replace(referee_us=-1))


def test_a_timeout_that_was_overlooked_and_one_that_was_none() -> None:
    reply = RECORDS[REPLY]
    assert isinstance(reply, ReplyRecord)
    late = reply._replace(time_us=reply.time_us + 10**9, bot_us=reply.bot_us + 10**9)
    text = fault(REPLY, late)
    assert f"expected a timeout of seat {reply.seat}; found a reply" in text
    dice = random.Random(1)
    spec = random_spec(rules_for(EVERYTHING, 2), dice, "m")
    records = random_match(spec, dice, quiet=True, replies=5).records
    expiry = ExpiryRecord(records[2].time_us + 99, (0,))
    with pytest.raises(UnsoundError, match="expected no record here; found a timeout"):
        resimulate(spec, LIMITS, (*records[:3], expiry))


def test_a_rejection_of_a_reply_that_was_right() -> None:
    reply, rejection = RECORDS[REPLY], RECORDS[REJECTION]
    assert isinstance(reply, ReplyRecord)
    assert isinstance(rejection, RejectionRecord)
    text = fault(REJECTION, rejection._replace(detail="because"))
    assert "detail: expected 'the reply carries no action" in text
    assert "found 'because'" in text
    assert "actions: " in fault(REPLY, reply._replace(actions=reply.actions * 9))
    assert "expected a rejected reply from seat" in fault(REPLY, reply._replace(actions=()))
    state = list(resimulated_steps(REPLAY))[REJECTION].state
    legal = (action_message(state.legal[0]).SerializeToString(),)
    text = fault(REJECTION, rejection._replace(actions=legal))
    assert f"expected a reply from seat {rejection.seat}" in text
    assert "found a rejected reply" in text


def test_ends_and_digests_that_do_not_follow() -> None:
    first, *others = REPLAY.ends
    ends = (first._replace(prestige=first.prestige + 1), *others)
    digests = (bytes(32), *REPLAY.digests[1:])
    for changes, named in (
        ({"records": RECORDS[:-1]}, r"expected more records, as .*; found the result"),
        ({"ends": ends}, rf"seat 0: prestige: expected {first.prestige}; found"),
        ({"digests": digests}, "seat 0 was sent other bytes: expected the digest"),
    ):
        with pytest.raises(UnsoundError, match=named):
            list(resimulated_steps(replace(REPLAY, **changes)))
    assert list(resimulated(replace(REPLAY, digests=digests), check_digests=False))


def test_records_left_out_and_repeated() -> None:
    assert fault(0).startswith("record 2: expected the start of the match")
    start = RECORDS[0]
    assert isinstance(start, StartRecord)
    fewer = start._replace(present=start.present[1:])
    assert "expected every seat once; found the seats [1, 2]" in fault(0, fewer)
    assert "only one start" in fault(3, RECORDS[0])
    assert fault(REPLY)
    assert fault(REPLY, RECORDS[REPLY], RECORDS[REPLY])
    assert fault(FORFEIT)
    assert "expected no record here" in fault(FORFEIT, RECORDS[FORFEIT], RECORDS[FORFEIT])
    leave = LeaveRecord(RECORDS[-1].time_us, 0)
    reply = next(one for one in reversed(RECORDS) if isinstance(one, ReplyRecord))
    for more in (leave, reply):
        text = fault(len(RECORDS) - 1, RECORDS[-1], more)
        assert "expected the result, as the match was over; found a" in text


# Late replies


def timed_out(seats: int) -> Driven:
    """A match in which seat 0 timed out and then replied."""
    driven = Driven(spec(seats, clocks=Clocks(bank_us=1_000_000, increment_us=0, grace_us=0)))
    driven.expire(after_s=1.000001)
    driven.reply(seat=0, after_s=0, socket_us=driven.now, unread_bytes=12, expected=Answer.LATE)
    return driven


@pytest.mark.parametrize("seats", [2, 3])
def test_a_late_reply_is_repeated_also_after_the_end_of_the_match(seats: int) -> None:
    driven = timed_out(seats)
    assert driven.match.finished == (seats == 2)
    match = resimulate(driven.spec, LIMITS, driven.match.records)
    assert match.records == driven.match.records
    encoded = map(RecordCodec().encode, match.records)
    assert list(map(RecordCodec().decode, encoded)) == match.records


LATE = timed_out(2).match.records


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seat": 1}, "only after a timeout of its seat, and only one"),
        ({"decision_id": 2}, "a late reply to decision 1, .* found one to decision 2"),
        ({"time_us": 5}, "expected a time of 1000001 µs or later; found 5 µs"),
        ({"socket_us": 2_000_000}, "received before its bytes arrived"),
        ({"unread_bytes": -1}, "-1 bytes were unread"),
    ],
)
def test_late_replies_that_cannot_be(change: Any, named: str) -> None:
    check_refused([*LATE[:-1], LATE[-1]._replace(**change)], named)


def test_a_late_reply_that_is_invented_or_repeated() -> None:
    for records in ([LATE[0], LATE[-1]], [*LATE, LATE[-1]]):
        check_refused(records, "only after a timeout of its seat, and only one")


def check_refused(records: list[Record], named: str) -> None:
    with pytest.raises(UnsoundError, match=named):
        resimulate(timed_out(2).spec, LIMITS, records)
