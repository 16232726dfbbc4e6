"""Recovery of the matches that an earlier referee left unfinished in its journal."""

from typing import NamedTuple

from asara_codec.reflection import CodecError
from asara_server.journal.journal import Journal, JournalError
from asara_server.journal.record_codec import RecordCodec, Results, Signature
from asara_server.journal.replay import ReplayHeader
from asara_server.journal.resimulate import resimulate
from asara_server.match.inputs import Record
from asara_server.match.match import Match
from asara_server.match.spec import MatchSpec


class RecoveredMatch(NamedTuple):
    """An unfinished match as it stands in the journal."""

    spec: MatchSpec
    header: ReplayHeader
    inputs: list[Record]
    records: tuple[bytes, ...]
    """The header and the inputs, serialized."""
    codec: RecordCodec
    """The codec that read these records; it also writes the records that follow."""

    def resimulate(self) -> Match:
        """Return the match as it was after its last record; raises UnsoundError."""
        return resimulate(self.spec, self.header.limits, self.inputs)


def recover(journal: Journal, spec: MatchSpec) -> RecoveredMatch | None:
    """Take an unfinished match out of the journal; return None if the journal does not have it.

    Raises JournalError if the journal cannot be read, or contains another match of this name.
    """
    records = journal.unfinished.pop(spec.match_id, None)
    if records is None:
        return None
    place = f"{journal.path}: match {spec.match_id}"
    codec = RecordCodec()
    header: ReplayHeader | None = None
    inputs: list[Record] = []
    try:
        for record in map(codec.decode, records):
            if isinstance(record, ReplayHeader) and header is None:
                header = record
            elif isinstance(record, ReplayHeader | Results | Signature) or header is None:
                raise CodecError("no record of this kind has its place here")
            else:
                inputs.append(record)
        if header is None:
            raise CodecError("the header is missing")
    except CodecError as error:
        number = len(inputs) + (1 if header is None else 2)
        raise JournalError(f"{place}: record {number}: {error}") from None
    recorded = header.entries, header.deal_secret, header.shared_deal
    if recorded != (spec.entries, spec.secret, spec.shared_deal):
        raise JournalError(f"{place} has other entries or another deal")
    return RecoveredMatch(header.spec(), header, inputs, records, codec)
