"""The decisions of a finished match, as its bots received them, so that they can be asked again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from asara.v1.play_pb2 import Decision, PlayResponse, Update
from asara_codec.encode import serialize
from asara_server.journal.replay import Replay, ReplayError
from asara_server.journal.resimulate import resimulated
from asara_server.match.inputs import (
    EnterRecord,
    Presence,
    Record,
    RejectionRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.match import Answer, Match, ReceivedAction, serialized


class Question(NamedTuple):
    """A decision of one seat, numbered as in `Decision.decision_id`."""

    messages: tuple[bytes, ...]
    """Messages sent to the seat since its last reply, serialized; the decision comes last."""
    decision: Decision
    recorded: ReplyRecord | None
    """The reply in the replay; None if the seat never answered."""
    match: Match
    """The match in which the decision is open, until the next question is taken."""

    def differs(self, actions: Sequence[ReceivedAction]) -> bool:
        """Return True if a reply with these actions does not begin as the recorded reply does."""
        if self.recorded is None or not actions:
            return True
        return serialized(actions[0]) != serialized(self.recorded.actions[0])

    def judge(self, actions: Sequence[ReceivedAction]) -> ReplyRecord | RejectionRecord:
        """Return the record that this reply would make; the match cannot be used afterwards."""
        match = self.match
        seat = match.state.seat
        time_us = match.records[-1].time_us
        if match.reply(seat, self.decision.decision_id, actions, time_us) is Answer.ACCEPTED:
            match.record_reply(0)
        record = match.records[-1]
        assert isinstance(record, ReplyRecord | RejectionRecord)
        return record


def questions(replay: Replay, seat: int, presence: Presence | None = None) -> Iterator[Question]:
    """Yield the decisions of a seat in order, each as it was sent first.

    By default, the messages are the original ones. With `presence`, they are the messages for
    another bot, which connects with these options and never loses its stream. Raises ReplayError if
    there is no such seat, and at the first record that does not hold.
    """
    seats = len(replay.header.entries)
    if not 0 <= seat < seats:
        raise ReplayError(f"there is no seat {seat}; this match has seats 0 to {seats - 1}")
    if presence is not None:
        records = tuple(_with_presence(record, seat, presence) for record in replay.records)
        replay = replace(replay, records=records)
    stream = _UnbrokenStream() if presence is not None else None
    replies = (r for r in replay.records if isinstance(r, ReplyRecord) and r.seat == seat)
    waiting: list[bytes] = []
    asked = 0
    for match, _ in resimulated(replay, check_digests=presence is None):
        for receiver, message in match.outbox:
            if receiver != seat:
                continue
            response = PlayResponse.FromString(message)
            if stream is not None and not stream.accept(response):
                continue
            waiting.append(message if stream is None else serialize(response))
            number = response.decision.decision_id
            if number > asked:
                # The seat may have answered decisions that were never sent to it.
                recorded = [next(replies, None) for _ in range(number - asked)][-1]
                asked = number
                yield Question(tuple(waiting), response.decision, recorded, match)
                waiting.clear()


def question(replay: Replay, seat: int, number: int) -> Question:
    """Return one decision of a seat as it was sent; raises ReplayError if there is none."""
    last = 0
    for one in questions(replay, seat):
        last = one.decision.decision_id
        if last == number:
            return one
    name = f"seat {seat} ({replay.header.entries[seat]})"
    if not last:
        raise ReplayError(f"{name} had no decisions")
    raise ReplayError(f"{name} had {last} decisions; there is no decision {number}")


def _with_presence(record: Record, seat: int, presence: Presence) -> Record:
    """Return the record as it would be if the seat's bot had connected with these options."""
    if isinstance(record, StartRecord):
        present = tuple((s, presence if s == seat else other) for s, other in record.present)
        return record._replace(present=present)
    if isinstance(record, EnterRecord) and record.seat == seat:  # it is sent every event again
        return record._replace(presence=presence._replace(last_sequence=0))
    return record


class _UnbrokenStream:
    """Selects the messages for a bot that never lost its stream and was never rejected."""

    def __init__(self) -> None:
        self._started = False
        self._sequence = 0
        self._decision_id = 0

    def accept(self, response: PlayResponse) -> bool:
        """Return True if the bot would receive the message; remove events that it already knows."""
        match response.WhichOneof("response"):
            case "match_started":
                again, self._started = self._started, True
                self._sequence = max(self._sequence, response.match_started.sequence)
                return not again
            case "update":
                return self._has_new_events(response.update)
            case "decision":
                again = response.decision.decision_id == self._decision_id
                self._decision_id = response.decision.decision_id
                self._has_new_events(response.decision)
                return not again
            case _:
                return False

    def _has_new_events(self, message: Update | Decision) -> bool:
        new = min(max(message.sequence - self._sequence, 0), len(message.events))
        del message.events[: len(message.events) - new]
        self._sequence = max(self._sequence, message.sequence)
        return new > 0
