"""Replay files: eight bytes that identify the format, then each record preceded by its length.

The header comes first, then the inputs of the match, the results, and the signature. All records
before the signature are hashed into a chain, and the referee signs the chain's last hash. README.md
is the specification.
"""

import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from asara_codec.reflection import CodecError
from asara_codec.wire_format import delimited, read_varint
from asara_server.atomic_file import replace_file
from asara_server.journal.record_codec import RecordCodec, Results, Signature
from asara_server.journal.replay import Replay, ReplayError, ReplayHeader
from asara_server.match.deal_secrets import BYTES
from asara_server.match.inputs import (
    ExpiryRecord,
    HaltRecord,
    Record,
    RejectionRecord,
    ReopenRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.replay.signing import SigningKey, fingerprint, signature_holds

SUFFIX: Final = ".asara"
VERSION: Final = 4
_MAGIC: Final = b"ASARA\r\n"
_START: Final = len(_MAGIC) + 1
LARGEST_FILE: Final = 4 * 2**20
"""Maximum bytes of a file. An ordinary replay has 7 KiB. The largest that a referee can write has
2 MiB. Nearly all of that would be rejected replies, at most four of 64 KiB for every seat."""
_LARGEST_RECORD: Final = 72 * 1024
"""Maximum bytes of a record: a rejected reply in a request of 64 KiB."""
MOST_RECORDS: Final = 8_192
"""Maximum number of records. The longest replay has about 300 replies. For each of four bots, it
has 4 rejections, and 500 records each of leaving and returning. Every restart of the referee adds
up to five records."""


def write_replay(path: Path, records: Iterable[bytes], key: SigningKey) -> None:
    """Write these records and their signature to a file, atomically. Raises OSError."""
    replace_file(path, file_content(signed_records(records, key)))


def signed_records(records: Iterable[bytes], key: SigningKey) -> tuple[bytes, ...]:
    """Return these records followed by their signature."""
    held = tuple(records)
    return *held, RecordCodec().encode(Signature(key.public, key.sign(chain(held))))


def file_content(records: Iterable[bytes]) -> bytes:
    """Return the content of a file with these records."""
    return _MAGIC + bytes([VERSION]) + b"".join(map(delimited, records))


def chain(records: Iterable[bytes]) -> bytes:
    """Return the hash of the first bytes, with each record hashed into it in turn."""
    digest = sha256(_MAGIC + bytes([VERSION])).digest()
    for record in records:
        digest = sha256(b"%b%b" % (digest, record)).digest()
    return digest


class FormatError(ReplayError):
    """The file has another version of the format, so it cannot be read here, right or wrong."""


class ReplayFile(NamedTuple):
    """A file that has been read. Its records have not been re-simulated."""

    replay: Replay
    records: Sequence[bytes]
    """All records, serialized, starting with the header; `replay.records` starts with the second
    one."""
    signature: Signature

    def place(self, index: int) -> str:
        """Return the number of a record, counted from 1, and its position in the file."""
        before = self.records[:index]
        return _place(len(before) + 1, _START + sum(len(delimited(record)) for record in before))

    def signature_fault(self) -> str | None:
        """Return a fault unless the owner of the key in the file signed these records."""
        if signature_holds(*self.signature, chain(self.records[:-1])):
            return None
        return (
            f"the signature by key {fingerprint(self.signature.public_key)} does not fit the "
            "records: the file was changed after the signing, but a signature cannot show where"
        )

    def check_signature(self) -> None:
        """Raise ReplayError if the signature does not match the records."""
        if fault := self.signature_fault():
            raise ReplayError(fault)


def read_replay(path: Path) -> Replay:
    """Return the replay in a file; raises ReplayError with file, record and position."""
    return read_signed(path).replay


def read_signed(path: Path) -> ReplayFile:
    """Return the replay in a file with its raw records and its signature; raises ReplayError."""
    try:
        file = parse_file(read_file(path))
        file.check_signature()
        return file
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from None


def read_file(path: Path) -> bytes:
    """Return the bytes of a file that may be a replay; raises ReplayError without the path."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ReplayError("not a file; choose a file in the folder replays")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise ReplayError(
                f"larger than {LARGEST_FILE // 2**20} MiB, and so than any replay: "
                "it is a file of another kind"
            )
        return data
    except ReplayError:
        raise
    except FileNotFoundError:
        raise ReplayError("no such file") from None
    except OSError as error:
        raise ReplayError(error.strerror or str(error)) from None
    except ValueError:  # the system rejects such a path
        raise ReplayError("not a path: it contains a zero byte") from None


def is_other_file(path: Path) -> bool:
    """Return True if this is a file of another kind, and so not even a damaged replay."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return not _begins_like_replay(file.read(len(_MAGIC)))
    except OSError:
        return False


def parse_replay(data: bytes) -> Replay:
    """Return the replay in the content of a file; raises ReplayError.

    The signature is checked against the key in the file, which may be anybody's key. Only
    re-simulation shows whether the records are those of a real match.
    """
    file = parse_file(data)
    file.check_signature()
    return file.replay


def parse_file(data: bytes) -> ReplayFile:
    """Read the content of a file, without checking its signature; raises ReplayError."""
    if not data:
        raise ReplayError("the file is empty; copy it again from its source")
    if not _begins_like_replay(data):
        raise ReplayError("not an ASARA replay")
    if len(data) < _START:
        raise ReplayError("cut short in its first bytes; copy it again from its source")
    if data[len(_MAGIC)] != VERSION:
        raise FormatError(
            f"replay format {data[len(_MAGIC)]}; this program reads format {VERSION}: "
            "use the version of the program that wrote it"
        )
    return _assemble(data)


def _begins_like_replay(data: bytes) -> bool:
    """Return True also if the first bytes are cut short."""
    return data[: len(_MAGIC)] == _MAGIC[: len(data)]


def _assemble(data: bytes) -> ReplayFile:
    """Read records one by one, and stop at the first wrong one, so that no later one is kept."""
    codec = RecordCodec()
    parts: list[bytes] = []
    rejections: Counter[int] = Counter()
    header: ReplayHeader | None = None
    records: list[Record] = []
    results: Results | None = None
    signature: Signature | None = None
    seats = 0  # while replies may follow
    place = offset = _START
    try:
        while offset < len(data):
            place = offset
            start, offset = _frame(data, place)
            if len(parts) == MOST_RECORDS:
                raise ReplayError(f"more than {MOST_RECORDS:,} records, and so than any replay has")
            part = data[start:offset]
            record = codec.decode(part)
            if type(record) is ReplyRecord and 0 <= record[1] < seats:  # nearly all are
                records.append(record)
            elif header is None:
                if not isinstance(record, ReplayHeader):
                    raise ReplayError("the first record must be the header")
                _check_header(record)
                header = record
                seats = len(header.entries)
            elif isinstance(record, Signature) and results is not None and signature is None:
                signature = record
            elif isinstance(record, ReplayHeader | Signature) or results is not None:
                raise ReplayError("no record of this kind has its place here")
            elif isinstance(record, Results):
                _check_results(record, seats)
                results = record
                seats = 0
            else:
                _check_seats(record, seats)
                if isinstance(record, RejectionRecord):
                    rejections[record.seat] += 1
                    _check_rejections(rejections[record.seat], header.limits.rejections_forgiven)
                records.append(record)
            parts.append(part)
    except CodecError as error:
        raise ReplayError(f"{_place(len(parts) + 1, place)}: damaged: {error}") from None
    except ReplayError as error:
        raise ReplayError(f"{_place(len(parts) + 1, place)}: {error}") from None
    if header is None or results is None or signature is None:
        missing = "results" if results is None else "signature"
        raise ReplayError(
            f"{_place(len(parts), place)}: the file ends here without the {missing}: "
            "it is cut short"
        )
    replay = Replay(header, tuple(records), results.ends, results.digests)
    return ReplayFile(replay, parts, signature)


def _place(number: int, offset: int) -> str:
    return f"record {number} (byte {offset})"


def _frame(data: bytes, offset: int) -> tuple[int, int]:
    """Return the start and the end of the record whose length begins at this position."""
    try:
        length, start = read_varint(data, offset)
    except IndexError:
        raise ReplayError("its length is damaged or cut short") from None
    if length > _LARGEST_RECORD:
        raise ReplayError(
            f"{length} bytes long, and so longer than any record: its length is damaged"
        )
    left = len(data) - start
    if length > left:
        raise ReplayError(
            f"{length} bytes long, but the file ends after {left}: it is damaged or cut short"
        )
    return start, start + length


def _check_header(header: ReplayHeader) -> None:
    if len(header.deal_secret) != BYTES:
        raise ReplayError(
            f"the secret of the deal has {len(header.deal_secret)} bytes, not {BYTES}"
        )
    header.spec()


def _check_seats(record: Record, seats: int) -> None:
    if isinstance(record, HaltRecord | ReopenRecord):
        return
    if isinstance(record, StartRecord):
        named = [seat for seat, _ in (*record.present, *record.absent)]
    elif isinstance(record, ExpiryRecord):
        named = list(record.seats)
    else:
        named = [record.seat]
    for seat in named:
        if not 0 <= seat < seats:
            raise ReplayError(f"seat {seat}, but the match has seats 0 to {seats - 1}")


def _check_rejections(number: int, forgiven: int) -> None:
    if number > forgiven + 1:
        raise ReplayError(
            f"rejection {number} of its seat, which forfeited with rejection {forgiven + 1}"
        )


def _check_results(record: Results, seats: int) -> None:
    if len(record.ends) != seats:
        raise ReplayError(f"{len(record.ends)} results for {seats} seats")
    if len(record.digests) != seats:
        raise ReplayError(f"{len(record.digests)} digests for {seats} seats")
