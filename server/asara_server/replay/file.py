"""Replay files: eight bytes that say what it is, then each record behind its length.

The header comes first, then what happened, the results, and the signature. Every record but the
last is hashed into a chain, and the referee signs the end of it. README.md tells it in full.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from asara_codec.reflection import CodecError
from asara_codec.wire_format import delimited, read_varint
from asara_game.deal import Deal
from asara_server.eventlog.header import Replay, ReplayError, ReplayHeader
from asara_server.eventlog.record_codec import (
    AnyRecord,
    Results,
    Signature,
    record_bytes,
    record_from_bytes,
)
from asara_server.match.inputs import (
    ExpiryRecord,
    HaltRecord,
    Record,
    ReopenRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.replay.signing import SigningKey, fingerprint, signature_holds

VERSION: Final = 2
_MAGIC: Final = b"ASARA\r\n"
_START: Final = len(_MAGIC) + 1
#: No match comes near it; it keeps a wrong file from filling the memory.
_LARGEST: Final = 64 * 2**20


def write_replay(path: Path, replay: Replay, key: SigningKey) -> None:
    """Write the file of a replay, as `write_file` does."""
    write_file(path, replay_bytes(replay, key))


def write_file(path: Path, data: bytes) -> None:
    """Write the file whole or not at all: nobody ever finds half of it. Raises OSError."""
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


def replay_bytes(replay: Replay, key: SigningKey) -> bytes:
    """The content of the replay's file."""
    return signed_bytes(replay_records(replay), key)


def replay_records(replay: Replay) -> tuple[bytes, ...]:
    """Its records, to be signed."""
    results = Results(replay.results, replay.digests)
    return tuple(map(record_bytes, (replay.header, *replay.records, results)))


def signed_bytes(records: Iterable[bytes], key: SigningKey) -> bytes:
    """The content of a file with these records, signed."""
    held = list(records)
    signature = Signature(key.public, key.sign(chain(held)))
    frames = map(delimited, (*held, record_bytes(signature)))
    return _MAGIC + bytes([VERSION]) + b"".join(frames)


def chain(records: Iterable[bytes]) -> bytes:
    """The hash of the first bytes, with each record hashed into it in turn."""
    digest = sha256(_MAGIC + bytes([VERSION])).digest()
    for record in records:
        digest = sha256(digest + record).digest()
    return digest


class Raw(NamedTuple):
    """The bytes of a record, with its number from 1 and the place of its first byte."""

    number: int
    offset: int
    data: bytes

    def error(self, fault: str) -> ReplayError:
        return ReplayError(f"{self.place}: {fault}")

    @property
    def place(self) -> str:
        return f"record {self.number} (byte {self.offset})"


class ReplayFile(NamedTuple):
    """A file that was read: sound as far as one can tell without playing the match again."""

    replay: Replay
    raw: Sequence[Raw]
    """All records: `replay.records` begin with the second."""
    signature: Signature

    @property
    def signed(self) -> bool:
        """Whether the owner of the key in the file signed these records."""
        _, public_key, signature = self.raw[-1], *self.signature
        return signature_holds(public_key, signature, chain(raw.data for raw in self.raw[:-1]))

    def check_signature(self) -> None:
        """Raises ReplayError where the records are not those that were signed."""
        if not self.signed:
            key = fingerprint(self.signature.public_key)
            raise self.raw[-1].error(
                f"expected the signature by key {key} of the records before it; found another: "
                "a record, or the signature, was changed after it was signed"
            )


def read_replay(path: Path) -> Replay:
    """The replay in a file; raises ReplayError naming file, record and the record's first byte."""
    return read_signed(path).replay


def read_signed(path: Path) -> ReplayFile:
    """The same, with its records as they were signed, and by whom."""
    try:
        file = parse_file(read_file(path))
        file.check_signature()
        return file
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from None


def read_file(path: Path) -> bytes:
    """The bytes of a file that may be a replay; raises ReplayError, without the path."""
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
    """The replay that the content of a file holds; raises ReplayError.

    The records are those that were signed, by whichever key the file names; whether they are those
    of a match is seen when it is driven.
    """
    file = parse_file(data)
    file.check_signature()
    return file.replay


def parse_file(data: bytes) -> ReplayFile:
    """What the content of a file holds, its signature unchecked; raises ReplayError."""
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
    return _assemble(list(_split(data)))


def _assemble(raw_records: Sequence[Raw]) -> ReplayFile:
    header: ReplayHeader | None = None
    records: list[Record] = []
    results: Results | None = None
    signature: Signature | None = None
    for raw in raw_records:
        record = _read(raw)
        if signature is not None:
            raise raw.error("stands behind the signature, which is the last record")
        if results is not None:
            if not isinstance(record, Signature):
                raise raw.error("stands behind the results, where the signature has to be")
            signature = record
        elif header is None:
            if not isinstance(record, ReplayHeader):
                raise raw.error("the first record must be the header")
            header = record
            _check_header(raw, header)
        elif isinstance(record, Results):
            _check_results(raw, record, len(header.entries))
            results = record
        elif isinstance(record, ReplayHeader):
            raise raw.error("a second header")
        elif isinstance(record, Signature):
            raise raw.error("the signature before the results")
        else:
            _check_seats(raw, record, len(header.entries))
            records.append(record)
    if header is None or results is None or signature is None:
        last = raw_records[-1] if raw_records else Raw(0, _START, b"")
        missing = "results" if results is None else "signature"
        raise last.error(f"the file ends here without the {missing}: it is cut short")
    replay = Replay(header, tuple(records), results.results, results.digests)
    return ReplayFile(replay, raw_records, signature)


def _split(data: bytes) -> Iterator[Raw]:
    offset = _START
    number = 0
    while offset < len(data):
        number += 1
        start = offset
        try:
            length, offset = read_varint(data, offset)
        except IndexError:
            raise Raw(number, start, b"").error("its length is damaged or cut short") from None
        left = len(data) - offset
        if length > left:
            fault = (
                f"{length} bytes long, but the file ends after {left}: it is damaged or cut short"
            )
            raise Raw(number, start, b"").error(fault)
        yield tuple.__new__(Raw, (number, start, data[offset : offset + length]))
        offset += length


def _read(raw: Raw) -> AnyRecord:
    try:
        return record_from_bytes(raw.data)
    except CodecError as error:
        raise raw.error(f"damaged: {error}") from None


def _check_header(raw: Raw, header: ReplayHeader) -> None:
    if len(header.deal_secret) != 32:
        raise raw.error(f"the secret of the deal has {len(header.deal_secret)} bytes, not 32")
    commitment = Deal(header.deal_secret).commitment()
    if header.deal_commitment != commitment:
        raise raw.error(
            f"the secret does not open the commitment: expected {commitment.hex()}, "
            f"found {header.deal_commitment.hex()}"
        )
    try:
        header.spec()
    except ReplayError as error:
        raise raw.error(str(error)) from None


def _check_seats(raw: Raw, record: Record, seats: int) -> None:
    if isinstance(record, ReplyRecord):  # as nearly all are
        named = [record.seat]
    elif isinstance(record, StartRecord):
        named = [seat for seat, _ in (*record.present, *record.absent)]
    elif isinstance(record, ExpiryRecord):
        named = list(record.seats)
    elif isinstance(record, HaltRecord | ReopenRecord):
        return
    else:
        named = [record.seat]
    for seat in named:
        if not 0 <= seat < seats:
            raise raw.error(f"seat {seat}, but the match has seats 0 to {seats - 1}")


def _check_results(raw: Raw, record: Results, seats: int) -> None:
    if [result.seat for result in record.results] != list(range(seats)):
        raise raw.error(f"not one result for each of the seats 0 to {seats - 1}")
    if len(record.digests) != seats:
        raise raw.error(f"{len(record.digests)} digests for {seats} seats")
