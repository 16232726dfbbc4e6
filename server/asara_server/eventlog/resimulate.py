"""Drive a match again by its records, through the very code that played it.

Every record is told to a `Match`, which makes records of its own: where it makes another one than
it was told, the records cannot be those of a match.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.limits import Limits
from asara_codec.results import SeatForfeited
from asara_game.events import Event
from asara_game.state import State
from asara_server.eventlog.describe import describe, describe_difference
from asara_server.eventlog.header import Replay, ReplayError
from asara_server.match.inputs import (
    EnterRecord,
    ExpiryRecord,
    ForfeitRecord,
    HaltRecord,
    LeaveRecord,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.match import Answer, Match
from asara_server.match.spec import MatchSpec

#: No match lasts two hundred years; later times could not be reckoned with.
_LATEST_US: Final = 2**53


class UnsoundError(ReplayError):
    """A record does not hold: it is not what the match makes of those before it."""

    def __init__(self, index: int, fault: str) -> None:
        super().__init__(f"record {index + 2}: {fault}")
        #: Of the record in `Replay.records`; their number for the results behind them.
        self.index = index
        self.fault = fault


class Step(NamedTuple):
    """One record and what came of it."""

    record: Record | None
    """None for the first step, in which the match was set up."""
    events: tuple[Event | SeatForfeited, ...]
    state: State
    """The state after the record; the one before it is that of the step before."""


def resimulate(spec: MatchSpec, limits: Limits, records: Iterable[Record]) -> Match:
    """The match after all these records, with everything it says still in its outbox.

    Raises UnsoundError at the first record that does not hold.
    """
    match = Match(spec, limits)
    for index, record in enumerate(records):
        resimulate_record(match, index, record)
    return match


def resimulate_record(match: Match, index: int, record: Record) -> None:
    """Tell a match its next record, and see that it makes the same of it; raises UnsoundError."""
    made = match.records
    _precede(match, index, record)
    try:
        _TELL[type(record)](match, record)
    except DecodeError:
        raise UnsoundError(index, "it carries an action that is none") from None
    if len(made) == index + 1 and made[index] == record and type(made[index]) is type(record):
        return
    _explain(match, index, record)


def _precede(match: Match, index: int, record: Record) -> None:
    """See that a record may stand here; the match itself trusts its driver so far."""
    if index == 0:
        if type(record) is not StartRecord:
            raise UnsoundError(index, f"expected the start of the match; found {describe(record)}")
        seats = sorted(seat for seat, _ in (*record.present, *record.absent))
        if seats != list(range(len(match.spec.players))):
            raise UnsoundError(index, f"expected every seat once; found the seats {seats}")
        return
    if match.finished or type(record) is StartRecord:
        expected = "the result, for the match was over" if match.finished else "it only once"
        raise UnsoundError(index, f"expected {expected}; found {describe(record)}")
    before = match.records[-1]
    earliest = before.time_us
    if type(before) is ReplyRecord:
        earliest += before.referee_us
    if not earliest <= record.time_us <= _LATEST_US:
        raise UnsoundError(
            index, f"expected a time of {earliest} µs or later; found {record.time_us} µs"
        )
    if type(record) is ReplyRecord:
        if record.seat != match.asked:
            asked = match.asked
            expected = "no reply to be open" if asked is None else f"a reply of seat {asked}"
            raise UnsoundError(index, f"expected {expected}; found {describe(record)}")
        if record.referee_us < 0:
            raise UnsoundError(index, f"the referee took {record.referee_us} µs")


def _explain(match: Match, index: int, record: Record) -> None:
    made = match.records[index:]
    if not made:
        raise UnsoundError(index, f"expected that nothing happens; found {describe(record)}")
    if made[0] == record:
        raise UnsoundError(index + 1, f"expected {describe(made[1])} first")
    raise UnsoundError(index, describe_difference(made[0], record))


def _reply(match: Match, record: ReplyRecord) -> None:
    seat = record.seat
    answer = match.reply(seat, match.decision_id(seat), record.actions, record.time_us)
    if answer is Answer.ACCEPTED:
        match.record_reply(record.referee_us)


def _rejection(match: Match, record: RejectionRecord) -> None:
    messages = list(map(ActionMessage.FromString, record.actions))
    answer = match.reply(record.seat, record.decision_id, messages, record.time_us)
    if answer is Answer.ACCEPTED:
        match.record_reply(referee_us=0)


def _start(match: Match, record: StartRecord) -> None:
    match.start(dict(record.present), dict(record.absent))


def _forfeit(match: Match, record: ForfeitRecord) -> None:
    match.forfeit(record.seat, record.termination, record.detail, record.time_us)


_TELL: Final[dict[type, Callable[[Match, Any], None]]] = {
    StartRecord: _start,
    ReplyRecord: _reply,
    RejectionRecord: _rejection,
    ForfeitRecord: _forfeit,
    ExpiryRecord: lambda match, record: match.expire(record.time_us),
    LeaveRecord: lambda match, record: match.leave(record.seat, record.time_us),
    EnterRecord: lambda match, record: match.enter(record.seat, record.presence, record.time_us),
    HaltRecord: lambda match, record: match.halt(record.time_us),
    ReopenRecord: lambda match, record: match.reopen(record.time_us),
}


def resimulated_steps(replay: Replay) -> Iterator[Step]:
    """Every step of the match; raises ReplayError at the first record that does not hold."""
    match = Match(replay.header.spec(), replay.header.limits())
    told = match.feed.events
    yield Step(None, tuple(told), match.state.copy())
    for index, record in enumerate(replay.records):
        before = len(told)
        resimulate_record(match, index, record)
        match.outbox.clear()
        yield Step(record, tuple(told[before:]), match.state.copy())
    check_end(match, replay)


def check_end(match: Match, replay: Replay) -> None:
    """See that the match is over, and ended as the replay says; raises UnsoundError."""
    end = len(replay.records)
    if not match.finished:
        asked = "the match ran" if match.asked is None else f"seat {match.asked} was to decide"
        raise UnsoundError(end, f"expected more, for {asked}; found the result")
    _same_each(end, match.results, replay.results)
    for seat, (made, told) in enumerate(zip(match.feed.digests, replay.digests, strict=True)):
        if made != told:
            raise UnsoundError(
                end,
                f"seat {seat} was sent other bytes: expected the digest {made.hex()}, "
                f"found {told.hex()}",
            )


def _same_each(index: int, made: Sequence[Any], told: Sequence[Any]) -> None:
    for seat, (expected, found) in enumerate(zip(made, told, strict=True)):
        if expected != found:
            raise UnsoundError(index, f"seat {seat}: {describe_difference(expected, found)}")
