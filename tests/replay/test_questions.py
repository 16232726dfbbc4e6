from dataclasses import replace

import pytest

from asara.v1.play_pb2 import PlayResponse
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.encode import action_message, serialize
from asara_codec.wire_format import delimited
from asara_game.actions import BuildCount
from asara_server.journal.replay import Replay, ReplayError
from asara_server.journal.resimulate import resimulate
from asara_server.match.inputs import Presence, RejectionRecord, ReplyRecord
from asara_server.replay.questions import question, questions
from tests.match.playouts import EVERYTHING, finished_replay, random_replay

REPLAY = random_replay(EVERYTHING, 3, seed=8)
"""The bot of seat 2 is rejected twice, loses its stream, and forfeits."""


def sent(replay: Replay, seat: int) -> list[bytes]:
    """Return all messages to a seat."""
    match = resimulate(replay.header.spec(), replay.header.limits, replay.records)
    return [message for receiver, message in match.outbox if receiver == seat]


@pytest.mark.parametrize("seat", range(3))
def test_a_question_is_what_its_seat_was_sent_byte_for_byte_with_its_recorded_reply(
    seat: int,
) -> None:
    messages = sent(REPLAY, seat)
    asked = list(questions(REPLAY, seat))
    received = [message for one in asked for message in one.messages]
    assert received == messages[: len(received)]
    numbers = [one.decision.decision_id for one in asked]
    assert numbers == list(range(1, len(numbers) + 1)) != []
    assert {m for m in messages if PlayResponse.FromString(m).HasField("decision")} >= {
        one.messages[-1] for one in asked
    }
    for one in asked:
        assert PlayResponse.FromString(one.messages[-1]).decision == one.decision
    replies = [r for r in REPLAY.records if isinstance(r, ReplyRecord) and r.seat == seat]
    assert [one.recorded for one in asked] == replies
    for one, reply in zip(asked, replies, strict=True):
        first = reply.actions[0]
        assert not one.differs([first])
        assert not one.differs([action_message(first)])
        assert one.differs([])


def test_a_decision_that_was_never_answered_has_no_recorded_reply() -> None:
    replay = random_replay(EVERYTHING, 2, seed=8)
    match = resimulate(replay.header.spec(), replay.header.limits, replay.records[:20])
    seat = match.asked
    assert seat is not None
    match.expire(match.deadline_us)
    recorded = [one.recorded for one in questions(finished_replay(match), seat)]
    assert recorded[-1] is None
    assert None not in recorded[:-1]


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("seat", range(3))
def test_another_bot_is_asked_as_if_it_had_played_without_a_break(seat: int, live: bool) -> None:
    asked = list(questions(REPLAY, seat, Presence(live_updates=live, omit_public_view=live)))
    messages = [PlayResponse.FromString(m) for one in asked for m in one.messages]
    kinds = [message.WhichOneof("response") for message in messages]
    assert kinds.count("match_started") == 1
    assert kinds[0] == "match_started"
    assert "update" in kinds or not live
    assert set(kinds) <= {"match_started", "update", "decision"}
    first = known = messages[0].match_started.sequence
    events = []
    for message in messages[1:]:
        part = getattr(message, str(message.WhichOneof("response")))
        known += len(part.events)
        events += part.events
        assert part.sequence == known
    match = resimulate(REPLAY.header.spec(), REPLAY.header.limits, REPLAY.records)
    received = b"".join(delimited(serialize(event)) for event in events)
    assert received == b"".join(match.feed.event_parts[first:known])
    assert [one.decision for one in asked] == [m.decision for m in messages if m.decision.kind]
    assert all(one.decision.view.HasField("public_view") != live for one in asked)
    assert [one.recorded for one in asked] == [one.recorded for one in questions(REPLAY, seat)]


def test_a_reply_is_judged_as_in_the_match() -> None:
    for one in questions(REPLAY, 0):
        assert one.recorded is not None
        number = one.decision.decision_id
        judged = question(REPLAY, 0, number).judge(one.recorded.actions)
        assert isinstance(judged, ReplyRecord)
        assert judged.actions == one.recorded.actions
        if number == 9:
            break
    illegal = question(REPLAY, 0, 5).judge([BuildCount(4)])
    assert isinstance(illegal, RejectionRecord)
    assert illegal.detail == "'build 4' is not among the legal actions of decision 5"
    nothing = question(REPLAY, 0, 5).judge([ActionMessage()])
    assert isinstance(nothing, RejectionRecord)
    assert nothing.reason.name == "UNKNOWN_ACTION"


def test_what_there_is_not() -> None:
    with pytest.raises(ReplayError, match="there is no seat 3; this match has seats 0 to 2"):
        question(REPLAY, 3, 1)
    last = max(one.decision.decision_id for one in questions(REPLAY, 1))
    with pytest.raises(ReplayError, match=rf"seat 1 \(bot 1\) had {last} decisions; there"):
        question(REPLAY, 1, last + 1)
    changed = replace(REPLAY, records=(*REPLAY.records[:9], *REPLAY.records[10:]))
    with pytest.raises(ReplayError, match="record "):
        question(changed, 0, 50)
