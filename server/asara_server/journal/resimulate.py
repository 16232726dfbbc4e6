"""Re-simulation: applies the records of a match to a new match, using the code that plays matches.

The new match makes its own records. Each one must equal the original record, field by field.
Otherwise the original cannot be a record of that match.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.results import SeatForfeited, SeatResult
from asara_game.events import Event
from asara_game.state import State
from asara_server.journal.describe import describe, describe_difference
from asara_server.journal.replay import Replay, ReplayError
from asara_server.match.inputs import (
    EnterRecord,
    ExpiryRecord,
    ForfeitRecord,
    HaltRecord,
    LateReplyRecord,
    LeaveRecord,
    PauseRecord,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.match import Answer, Match
from asara_server.match.spec import MatchLimits, MatchSpec

_LATEST_US: Final = 2**53
"""Latest time of a record: 285 years. Sums of later times could exceed 64 bits."""


class UnsoundError(ReplayError):
    """Raised for a record that the match does not make after the records before it.

    `index` is the record's position in `Replay.records`, or the number of records if the end of the
    match is wrong.
    """

    def __init__(self, index: int, fault: str) -> None:
        super().__init__(f"record {index + 2}: {fault}")
        self.index = index
        self.fault = fault


class Step(NamedTuple):
    """One record and its effect."""

    record: Record | None
    """None for the first step, the set-up of the match."""
    events: tuple[Event | SeatForfeited, ...]
    state: State
    """A copy of the state after the record."""
    decision_id: int
    """Number of the decision that the record answers, counted per seat; 0 if none."""
    results: tuple[SeatResult, ...]
    """The results by seat, once the match is over; otherwise empty."""


def resimulate(spec: MatchSpec, limits: MatchLimits, records: Iterable[Record]) -> Match:
    """Return the match after all these records, with all its messages in the outbox.

    Raises UnsoundError at the first record that the match does not make.
    """
    match = Match(spec, limits)
    for record in records:
        apply_record(match, record)
    return match


def resimulated(
    replay: Replay, *, check_digests: bool = True, at_rest: Callable[[], None] | None = None
) -> Iterator[tuple[Match, Record | None]]:
    """Yield the match of a replay after its set-up, with None, and then after every record.

    The match is the same object each time; its outbox contains the messages caused by the last
    record. Raises ReplayError at the first record that the match does not make, and at the end if
    the results differ from the replay. With `check_digests`, it also raises ReplayError if the
    bytes sent to any seat differ from the replay. `at_rest` is called whenever no turn is running,
    see `Match`.
    """
    match = Match(replay.header.spec(), replay.header.limits, at_rest)
    yield match, None
    for record in replay.records:
        apply_record(match, record)
        yield match, record
        match.outbox.clear()
    _check_end(match, replay)
    if check_digests:
        _check_digests(match, replay)


def resimulated_steps(replay: Replay) -> Iterator[Step]:
    """Yield every step of the match; raises ReplayError as `resimulated` does."""
    before = 0
    open_decision = 0
    for match, record in resimulated(replay):
        events = match.feed.events
        answered = open_decision if type(record) is ReplyRecord else 0
        news = tuple(events[before:])
        yield Step(record, news, match.state.copy(), answered, match.results)
        before = len(events)
        if match.asked is not None:
            open_decision = match.decision_id(match.asked)


def apply_record(match: Match, record: Record) -> None:
    """Apply the next record to a match, which has to make the same record.

    Raises UnsoundError if the match makes a different record.
    """
    made = match.records
    index = len(made)
    if type(record) is ReplyRecord and index:  # nearly all are
        _check_reply(match, index, record)
        _apply_reply(match, record)
    else:
        _check_position(match, index, record)
        _APPLY[type(record)](match, record)
    if (
        len(made) != index + 1
        or made[index] != record
        or type(made[index]) is not type(record)  # records of two types can be equal tuples
    ):
        _raise_difference(match, index, record)


def _check_position(match: Match, index: int, record: Record) -> None:
    """Raise UnsoundError if a match's driver could not have caused the record at this point."""
    if index == 0:
        if type(record) is not StartRecord:
            raise UnsoundError(index, f"expected the start of the match; found {describe(record)}")
        seats = sorted(seat for seat, _ in (*record.present, *record.absent))
        if seats != list(range(len(match.spec.players))):
            raise UnsoundError(index, f"expected every seat once; found the seats {seats}")
        return
    over = match.finished and type(record) is not LateReplyRecord  # it may follow a timeout
    if over or type(record) is StartRecord:
        expected = "the result, as the match was over" if over else "only one start"
        raise UnsoundError(index, f"expected {expected}; found {describe(record)}")
    _check_time(match, index, record.time_us)
    if type(record) is LateReplyRecord:
        _check_late_reply(match, index, record)


def _check_time(match: Match, index: int, time_us: int) -> None:
    earliest = match.last_us
    if not earliest <= time_us <= _LATEST_US:
        raise UnsoundError(index, f"expected a time of {earliest} µs or later; found {time_us} µs")


def _check_reply(match: Match, index: int, record: ReplyRecord) -> None:
    """Raise UnsoundError if no reply could have come at this point, after the match has begun."""
    time_us, seat, _, _, referee_us = record
    if match.finished:
        raise UnsoundError(
            index, f"expected the result, as the match was over; found {describe(record)}"
        )
    _check_time(match, index, time_us)
    asked = match.asked
    if seat != asked:
        expected = "no reply, as no seat was asked" if asked is None else f"one of seat {asked}"
        raise UnsoundError(index, f"expected {expected}; found {describe(record)}")
    if referee_us < 0:
        raise UnsoundError(index, f"the referee took {referee_us} µs")


def _check_late_reply(match: Match, index: int, record: LateReplyRecord) -> None:
    """Raise UnsoundError unless a late reply could have come at this point."""
    if not match.awaits_late_reply(record.seat):
        raise UnsoundError(
            index,
            f"expected a late reply only after a timeout of its seat, and only one; "
            f"found {describe(record)}",
        )
    asked = match.decision_id(record.seat)
    if record.decision_id != asked:
        raise UnsoundError(
            index,
            f"expected a late reply to decision {asked}, for which the time had run out; "
            f"found one to decision {record.decision_id}",
        )
    if record.socket_us is not None and record.socket_us > record.time_us:
        raise UnsoundError(index, "the reply was received before its bytes arrived")
    if record.unread_bytes is not None and record.unread_bytes < 0:
        raise UnsoundError(index, f"{record.unread_bytes} bytes were unread")


def _raise_difference(match: Match, index: int, record: Record) -> None:
    made = match.records[index:]
    if not made:
        raise UnsoundError(index, f"expected no record here; found {describe(record)}")
    if made[0] == record:
        raise UnsoundError(index + 1, f"expected {describe(made[1])} first")
    raise UnsoundError(index, describe_difference(made[0], record))


def _apply_start(match: Match, record: StartRecord) -> None:
    match.start(dict(record.present), dict(record.absent))


def _apply_reply(match: Match, record: ReplyRecord) -> None:
    time_us, seat, actions, _, referee_us = record
    if match.reply(seat, match.decision_id(seat), actions, time_us) is Answer.ACCEPTED:
        match.record_reply(referee_us)


def _apply_rejection(match: Match, record: RejectionRecord) -> None:
    actions = list(map(ActionMessage.FromString, record.actions))
    answer = match.reply(record.seat, record.decision_id, actions, record.time_us)
    if answer is Answer.ACCEPTED:
        match.record_reply(referee_us=0)


def _apply_late_reply(match: Match, record: LateReplyRecord) -> None:
    actions = list(map(ActionMessage.FromString, record.actions))
    answer = match.reply(record.seat, record.decision_id, actions, record.time_us)
    if answer is Answer.LATE:
        match.record_late_reply(record.socket_us, record.unread_bytes)


def _apply_forfeit(match: Match, record: ForfeitRecord) -> None:
    match.forfeit(record.seat, record.termination, record.detail, record.time_us)


_APPLY: Final[dict[type, Callable[[Match, Any], None]]] = {
    StartRecord: _apply_start,
    ReplyRecord: _apply_reply,
    RejectionRecord: _apply_rejection,
    ForfeitRecord: _apply_forfeit,
    ExpiryRecord: lambda match, record: match.expire_seats(record.time_us),
    LateReplyRecord: _apply_late_reply,
    PauseRecord: lambda match, record: match.expire(record.time_us),
    LeaveRecord: lambda match, record: match.leave(record.seat, record.time_us),
    EnterRecord: lambda match, record: match.enter(record.seat, record.presence, record.time_us),
    HaltRecord: lambda match, record: match.halt(record.time_us),
    ReopenRecord: lambda match, record: match.reopen(record.time_us),
}


def _check_end(match: Match, replay: Replay) -> None:
    """Raise UnsoundError if the match is not over, or ended differently from the replay."""
    end = len(replay.records)
    if not match.finished:
        reason = "the match ran" if match.asked is None else f"seat {match.asked} was asked"
        raise UnsoundError(end, f"expected more records, as {reason}; found the result")
    for result, found in zip(match.results, replay.ends, strict=True):
        if result.end != found:
            why = describe_difference(result.end, found)
            raise UnsoundError(end, f"seat {result.seat}: {why}")


def _check_digests(match: Match, replay: Replay) -> None:
    """Raise UnsoundError if the bytes sent to a seat do not match the replay's digest."""
    end = len(replay.records)
    for seat, (made, found) in enumerate(zip(match.feed.digests, replay.digests, strict=True)):
        if made != found:
            raise UnsoundError(
                end,
                f"seat {seat} was sent other bytes: expected the digest {made.hex()}, "
                f"found {found.hex()}",
            )
