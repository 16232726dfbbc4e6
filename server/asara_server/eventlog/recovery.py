"""Matches of an earlier referee, brought back to where its journal leaves them."""

from dataclasses import replace
from typing import NamedTuple

from asara_codec.limits import Limits
from asara_codec.reflection import CodecError
from asara_server.eventlog.header import ReplayHeader
from asara_server.eventlog.journal import Journal, JournalError, OpenMatch
from asara_server.eventlog.record_codec import AnyRecord, Results, Signature, record_from_bytes
from asara_server.eventlog.resimulate import resimulate
from asara_server.match.inputs import Record, ReplyRecord
from asara_server.match.match import Match
from asara_server.match.spec import MatchSpec


class RecoveredMatch(NamedTuple):
    """A match that the journal holds."""

    number: int
    """In the journal."""
    spec: MatchSpec
    limits: Limits
    started_unix_ms: int
    records: tuple[Record, ...]

    def resimulate(self) -> Match:
        """The match at its last record; raises UnsoundError."""
        return resimulate(self.spec, self.limits, self.records)

    @property
    def time_us(self) -> int:
        """How far its time has come."""
        return _end_us(self.records[-1]) if self.records else 0


def recover(journal: Journal, spec: MatchSpec, limits: Limits) -> RecoveredMatch | None:
    """What the journal holds of a match that began and is not over; its bots are those of `spec`.

    Raises JournalError where it is another match, or cannot be read.
    """
    opened = journal.unfinished.pop(spec.match_id, None)
    if opened is None:
        return None
    header, records = _read(journal, opened)
    begun = header.entries, header.deal_secret, header.mirrored_block
    if begun != (spec.entries, spec.secret, spec.mirrored_block):
        raise JournalError(f"{journal.path}: match {spec.match_id} has other entries or deals")
    return RecoveredMatch(
        journal.number(spec.match_id),
        replace(header.spec(), players=spec.players),
        limits._replace(
            actions_per_reply=header.actions_per_reply,
            rejections_forgiven=header.rejections_forgiven,
        ),
        header.started_unix_ms,
        records,
    )


def last_us(match: Match) -> int:
    """How far the time of a match has come."""
    return _end_us(match.records[-1]) if match.records else 0


def _end_us(record: Record) -> int:
    return record.time_us + (record.referee_us if isinstance(record, ReplyRecord) else 0)


def _read(journal: Journal, opened: OpenMatch) -> tuple[ReplayHeader, tuple[Record, ...]]:
    records: list[Record] = []
    header: ReplayHeader | None = None
    try:
        header_record = record_from_bytes(opened.header)
        if isinstance(header_record, ReplayHeader):
            header = header_record
        for data in opened.records:
            record: AnyRecord = record_from_bytes(data)
            if isinstance(record, ReplayHeader | Results | Signature):
                raise CodecError("of a kind that does not belong there")
            records.append(record)
    except CodecError as error:
        fault = f"record {len(records) + 2}: {error}" if header else f"header: {error}"
        raise JournalError(f"{journal.path}: match {opened.match_id}: {fault}") from None
    if header is None:
        raise JournalError(f"{journal.path}: match {opened.match_id}: it has no header")
    return header, tuple(records)
