"""Replay files: eight bytes that say what it is, then each record behind its length.

A record is one serialized ReplayRecord (proto/asara/v1/replay.proto): the header first, the
results last. `record_bytes` makes exactly the bytes that are written, and reading refuses a record
that this version would have written otherwise: two files that differ are two different replays.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from google.protobuf.message import DecodeError

from asara.v1 import replay_pb2
from asara.v1.replay_pb2 import ReplayMove, ReplayRecord
from asara_game.vocabulary import RuleSet
from asara_server.replay.records import (
    ForfeitRecord,
    MoveRecord,
    Record,
    RejectionRecord,
    Replay,
    ReplayError,
    ReplayHeader,
)
from asara_server.results import RejectionReason, SeatResult, Termination
from asara_server.translate.decode import action_from_proto, clocks_from_proto, result_from_proto
from asara_server.translate.encode import (
    action_bytes,
    clocks_message,
    enum_value,
    result_message,
    serialize,
)
from asara_server.translate.mirror import TranslationError, enum_member
from asara_server.translate.wire import delimited, integer, nested, tag

VERSION: Final = 1
_MAGIC: Final = b"ASARA\r\n"
_START: Final = len(_MAGIC) + 1
#: No match comes near it; it keeps a wrong file from filling the memory.
_LARGEST: Final = 64 * 2**20

_Results = tuple[SeatResult, ...]
_AnyRecord = ReplayHeader | Record | _Results


def write_replay(path: Path, replay: Replay) -> None:
    """Write the file whole or not at all: nobody ever finds half of it. Raises OSError."""
    data = replay_bytes(replay)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # mkstemp makes it private
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replay_bytes(replay: Replay) -> bytes:
    """The content of the replay's file."""
    records: list[_AnyRecord] = [replay.header, *replay.records, replay.results]
    return _MAGIC + bytes([VERSION]) + b"".join(delimited(record_bytes(r)) for r in records)


def record_bytes(record: _AnyRecord) -> bytes:
    """One record as it is written; a match's results are its last record."""
    if isinstance(record, MoveRecord):
        return _move_bytes(record)
    return serialize(_record_message(record))


_move = nested(ReplayRecord, "move")
_seat = integer(ReplayMove, "seat")
_ACTION = tag(ReplayMove, "action")
_bot_us = integer(ReplayMove, "bot_us")
_referee_us = integer(ReplayMove, "referee_us")
_steward = integer(ReplayMove, "steward")


def _move_bytes(record: MoveRecord) -> bytes:
    return _move(
        _seat(record.seat)
        + _ACTION
        + action_bytes(record.action)
        + _bot_us(record.bot_us)
        + _referee_us(record.referee_us)
        + _steward(record.steward)
    )


def _record_message(
    record: ReplayHeader | RejectionRecord | ForfeitRecord | _Results,
) -> ReplayRecord:
    if isinstance(record, RejectionRecord):
        rejection = replay_pb2.ReplayRejection(
            seat=record.seat, reason=enum_value(record.reason), detail=record.detail
        )
        return ReplayRecord(rejection=rejection)
    if isinstance(record, ForfeitRecord):
        forfeit = replay_pb2.ReplayForfeit(
            seat=record.seat, termination=enum_value(record.termination), detail=record.detail
        )
        return ReplayRecord(forfeit=forfeit)
    if isinstance(record, ReplayHeader):
        return ReplayRecord(header=_header_message(record))
    return ReplayRecord(result=replay_pb2.ReplayResult(results=map(result_message, record)))


def _header_message(header: ReplayHeader) -> replay_pb2.ReplayHeader:
    return replay_pb2.ReplayHeader(
        match_id=header.match_id,
        rules_version=header.rules_version,
        edition=header.edition,
        rule_sets=map(enum_value, sorted(header.rule_sets)),
        entries=header.entries,
        clocks=clocks_message(header.clocks),
        deal_secret=header.deal_secret,
        started_unix_ms=header.started_unix_ms,
    )


class _Raw(NamedTuple):
    """The bytes of a record, with its number from 1 and the place of its first byte."""

    number: int
    offset: int
    data: bytes

    def error(self, fault: str) -> ReplayError:
        return ReplayError(f"record {self.number} (byte {self.offset}): {fault}")


def read_replay(path: Path) -> Replay:
    """The replay in a file; raises ReplayError naming file, record and the record's first byte."""
    try:
        return parse_replay(_read_file(path))
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from None


def _read_file(path: Path) -> bytes:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise ReplayError("not a file; name one file of the folder replays")
        if about.st_size > _LARGEST:
            raise ReplayError("larger than any replay; it is another kind of file")
        return path.read_bytes()
    except ReplayError:
        raise
    except OSError as error:
        raise ReplayError(error.strerror or str(error)) from None
    except ValueError:  # what the system cannot even look for
        raise ReplayError("no path: it holds a zero byte") from None


def parse_replay(data: bytes) -> Replay:
    """The replay that the content of a file holds; raises ReplayError."""
    if not data:
        raise ReplayError("the file is empty; copy it again from where it was written")
    if data[: len(_MAGIC)] != _MAGIC[: len(data)]:
        raise ReplayError("no replay of an ASARA match: its first bytes are others")
    if len(data) < _START:
        raise ReplayError("cut short in its first bytes; copy it again from where it was written")
    if data[len(_MAGIC)] != VERSION:
        raise ReplayError(
            f"replay format {data[len(_MAGIC)]}, and this program reads format {VERSION}: "
            "use the version of this program that wrote it"
        )
    return _assemble(_split(data))


def _assemble(raw_records: Iterator[_Raw]) -> Replay:
    header: ReplayHeader | None = None
    records: list[Record] = []
    results: _Results | None = None
    raw = _Raw(0, _START, b"")
    for raw in raw_records:
        record = _read(raw)
        if results is not None:
            raise raw.error("stands behind the results, which are the last record")
        if header is None:
            if not isinstance(record, ReplayHeader):
                raise raw.error("the first record must be the header")
            header = record
            _check_header(raw, header)
        elif isinstance(record, ReplayHeader):
            raise raw.error("a second header")
        elif isinstance(record, MoveRecord | RejectionRecord | ForfeitRecord):
            _check_seat(raw, record, len(header.entries))
            records.append(record)
        else:
            _check_results(raw, record, len(header.entries))
            results = record
    if header is None or results is None:
        raise raw.error("the file ends here without the results: it is cut short")
    return Replay(header, tuple(records), results)


def _split(data: bytes) -> Iterator[_Raw]:
    offset = _START
    number = 0
    while offset < len(data):
        number += 1
        start = offset
        length = shift = 0
        while True:
            if offset == len(data) or shift > 28:
                raise _Raw(number, start, b"").error("its length is damaged or cut short")
            byte = data[offset]
            offset += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        left = len(data) - offset
        if length > left:
            fault = (
                f"{length} bytes long, but the file ends after {left}: it is damaged or cut short"
            )
            raise _Raw(number, start, b"").error(fault)
        yield _Raw(number, start, data[offset : offset + length])
        offset += length


def _read(raw: _Raw) -> _AnyRecord:
    try:
        message = ReplayRecord.FromString(raw.data)
        record = _record(message)
    except DecodeError:
        raise raw.error("damaged: not a record") from None
    except TranslationError as error:
        raise raw.error(f"damaged: {error}") from None
    if record_bytes(record) != raw.data:
        raise raw.error("damaged, or written by another program: holds what no record has")
    return record


def _record(message: ReplayRecord) -> _AnyRecord:
    match message.WhichOneof("record"):
        case "header":
            return _header(message.header)
        case "move":
            move = message.move
            action = action_from_proto(move.action)
            return MoveRecord(move.seat, action, move.bot_us, move.referee_us, move.steward)
        case "rejection":
            rejection = message.rejection
            reason = enum_member(RejectionReason, rejection.reason, "reason")
            return RejectionRecord(rejection.seat, reason, rejection.detail)
        case "forfeit":
            forfeit = message.forfeit
            termination = enum_member(Termination, forfeit.termination, "termination")
            if not termination.forfeit:
                raise TranslationError(f"termination {termination.name} is no forfeit")
            return ForfeitRecord(forfeit.seat, termination, forfeit.detail)
        case "result":
            return tuple(map(result_from_proto, message.result.results))
        case _:
            raise TranslationError("of no known kind")


def _header(message: replay_pb2.ReplayHeader) -> ReplayHeader:
    return ReplayHeader(
        match_id=message.match_id,
        rules_version=message.rules_version,
        edition=message.edition,
        rule_sets=frozenset(enum_member(RuleSet, r, "rule_sets") for r in message.rule_sets),
        entries=tuple(message.entries),
        clocks=clocks_from_proto(message.clocks),
        deal_secret=message.deal_secret,
        started_unix_ms=message.started_unix_ms,
    )


def _check_header(raw: _Raw, header: ReplayHeader) -> None:
    try:
        header.rules()
    except ReplayError as error:
        raise raw.error(str(error)) from None
    if len(header.deal_secret) != 32:
        raise raw.error(f"the secret of the deal has {len(header.deal_secret)} bytes, not 32")


def _check_seat(raw: _Raw, record: Record, seats: int) -> None:
    if not 0 <= record.seat < seats:
        raise raw.error(f"seat {record.seat}, but the match has seats 0 to {seats - 1}")


def _check_results(raw: _Raw, results: _Results, seats: int) -> None:
    if [result.seat for result in results] != list(range(seats)):
        raise raw.error(f"not one result for each of the seats 0 to {seats - 1}")
