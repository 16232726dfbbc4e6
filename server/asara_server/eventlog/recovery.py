"""Recovery of the matches that an earlier referee left unfinished in its journal."""

from dataclasses import replace
from typing import NamedTuple

from asara_codec.reflection import CodecError
from asara_server.eventlog.journal import Journal, JournalError, OpenMatch
from asara_server.eventlog.record_codec import RecordCodec, Results, Signature
from asara_server.eventlog.replay import ReplayHeader
from asara_server.eventlog.resimulate import resimulate
from asara_server.match.inputs import Record, ReplyRecord
from asara_server.match.match import Match
from asara_server.match.spec import MatchLimits, MatchSpec


class RecoveredMatch(NamedTuple):
    """An unfinished match as it stands in the journal."""

    number: int
    """Its number in the journal."""
    spec: MatchSpec
    limits: MatchLimits
    started_unix_ms: int
    records: tuple[Record, ...]
    encoded: tuple[bytes, ...]
    """The header and the records as they stand in the journal."""
    codec: RecordCodec
    """The codec that has read them, to write the records that follow."""

    def resimulate(self) -> Match:
        """Return the match as it was after its last record; raises UnsoundError."""
        return resimulate(self.spec, self.limits, self.records)


def recover(journal: Journal, spec: MatchSpec) -> RecoveredMatch | None:
    """Take an unfinished match out of the journal; return None if the journal does not have it.

    Its bots use the tokens of `spec`. Raises JournalError if the journal cannot be read, or
    contains another match of this name.
    """
    opened = journal.unfinished.pop(spec.match_id, None)
    if opened is None:
        return None
    codec = RecordCodec()
    header, records = _read(journal, opened, codec)
    recorded = header.entries, header.deal_secret, header.shared_deal
    if recorded != (spec.entries, spec.secret, spec.shared_deal):
        raise JournalError(
            f"{journal.path}: match {spec.match_id} has other entries or another deal"
        )
    return RecoveredMatch(
        journal.number(spec.match_id),
        replace(header.spec(), players=spec.players),
        header.limits(),
        header.started_unix_ms,
        records,
        opened.records,
        codec,
    )


def last_us(match: Match) -> int:
    """Return the time at the end of a match's last record, in microseconds since it began."""
    if not match.records:
        return 0
    last = match.records[-1]
    return last.time_us + (last.referee_us if isinstance(last, ReplyRecord) else 0)


def _read(
    journal: Journal, opened: OpenMatch, codec: RecordCodec
) -> tuple[ReplayHeader, tuple[Record, ...]]:
    records: list[Record] = []
    header: ReplayHeader | None = None
    try:
        for record in map(codec.decode, opened.records):
            if isinstance(record, ReplayHeader) and header is None:
                header = record
            elif isinstance(record, ReplayHeader | Results | Signature) or header is None:
                raise CodecError("no record of this kind has its place here")
            else:
                records.append(record)
    except CodecError as error:
        fault = f"record {len(records) + 2}: {error}" if header else f"header: {error}"
        raise JournalError(f"{journal.path}: match {opened.match_id}: {fault}") from None
    if header is None:
        raise JournalError(f"{journal.path}: match {opened.match_id}: it has no header")
    return header, tuple(records)
