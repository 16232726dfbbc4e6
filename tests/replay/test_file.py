from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asara.v1 import replay_pb2
from asara.v1.replay_pb2 import ReplayRecord
from asara_codec.clocks import Clocks
from asara_codec.encode import action_bytes, action_message
from asara_codec.reflection import CodecError
from asara_codec.results import RejectionReason, Termination
from asara_codec.wire_format import delimited, delimited_tag, integer_tag, varint
from asara_game.actions import Decline
from asara_server.journal.record_codec import RecordCodec
from asara_server.journal.replay import Replay, ReplayError
from asara_server.match.inputs import (
    Absence,
    ExpiryRecord,
    LateReplyRecord,
    LeaveRecord,
    Record,
    RejectionRecord,
    ReplyRecord,
    StartRecord,
)
from asara_server.match.spec import MatchLimits
from asara_server.replay import file
from asara_server.replay.file import parse_file, parse_replay, read_file, read_replay
from asara_server.replay.signing import SigningKey
from tests.match.playouts import EVERYTHING, random_replay, record_bytes, replay_bytes, signed_bytes

REPLAY = random_replay(EVERYTHING, 3, seed=3)
KEY = SigningKey.new()
DATA = replay_bytes(REPLAY, KEY)
START = 8
HEADER = delimited(record_bytes(REPLAY.header))
MOVE = delimited(record_bytes(REPLAY.records[0]))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "match.asara"
    path.write_bytes(replay_bytes(REPLAY, KEY))
    assert read_replay(path) == REPLAY
    assert path.read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [path]


def test_records_are_those_that_protobuf_writes() -> None:
    for data in map(RecordCodec().encode, REPLAY.records):
        assert ReplayRecord.FromString(data).SerializeToString(deterministic=True) == data


@pytest.mark.parametrize(
    "changes",
    [
        {"shared_deal": "block-1", "hide_forced": True, "processes": ("run", "match", None)},
        {"nonces": (bytes(32),) * 3, "started_unix_ms": 5, "limits": MatchLimits(7, 9)},
    ],
)
def test_every_field_of_a_header_is_read_as_it_was_written(changes: dict[str, Any]) -> None:
    header = replace(REPLAY.header, clocks=Clocks(*range(1, 1 + len(Clocks._fields))), **changes)
    assert RecordCodec().decode(record_bytes(header)) == header


def test_a_late_reply_is_read_as_it_was_written() -> None:
    late = LateReplyRecord(5, 1, 2, (action_message(Decline()).SerializeToString(),), 3, 4)
    for record in (late, late._replace(socket_us=None, unread_bytes=None)):
        assert RecordCodec().decode(record_bytes(record)) == record


def reply_bytes(*fields: tuple[str, int]) -> bytes:
    """A reply of one action and these fields before and after it, as they are given."""
    parts = [integer_tag(replay_pb2.ReplayReply, name) + varint(value) for name, value in fields]
    action = delimited_tag(replay_pb2.ReplayReply, "actions") + action_bytes(Decline())
    seat = [parts.pop(0)] if fields and fields[0][0] == "seat" else []
    return delimited_tag(ReplayRecord, "reply") + delimited(b"".join([*seat, action, *parts]))


def test_a_reply_has_one_encoding() -> None:
    codec = RecordCodec()
    every = reply_bytes(("seat", 1), ("after_us", 5), ("bot_us", 0), ("referee_us", 4))
    for time_us in (5, 10):  # the second time, the action is known
        assert codec.decode(every) == ReplyRecord(time_us, 1, (Decline(),), 0, 4)
    unknown = b"\x78\x04"  # a field that no reply has, as if it were the last
    plain = reply_bytes()
    for data in (
        reply_bytes(("seat", 0)),
        reply_bytes(("after_us", 0)),
        reply_bytes(("referee_us", 0)),
        reply_bytes(("after_us", 5), ("bot_us", 5)),
        reply_bytes(("referee_us", 4), ("after_us", 5)),
        plain[:1] + delimited(plain[2:] + unknown),
    ):
        with pytest.raises(CodecError, match="not in the form in which records are written"):
            codec.decode(data)


@pytest.mark.sources_only
def test_the_short_way_reads_plain_replies_and_only_what_would_be_written() -> None:
    for fields in (
        [],
        [("after_us", 5)],
        [("seat", 1), ("after_us", 300), ("bot_us", 0), ("referee_us", 4)],
    ):
        data = reply_bytes(*fields)
        record = RecordCodec().decode(data)  # its action is known from now on
        assert RecordCodec()._plain_reply(data) == record
        for at, value in product(range(len(data)), range(256)):
            changed = data[:at] + bytes([value]) + data[at + 1 :]
            read = RecordCodec()._plain_reply(changed)
            assert read is None or RecordCodec().encode(read) == changed
    for field, bits in (("seat", 31), ("after_us", 63), ("bot_us", 63), ("referee_us", 63)):
        assert RecordCodec()._plain_reply(reply_bytes((field, (1 << bits) - 1))) is not None
        assert RecordCodec()._plain_reply(reply_bytes((field, 1 << bits))) is None


def header_message(**fields: Any) -> ReplayRecord:
    message = ReplayRecord.FromString(record_bytes(REPLAY.header))
    message.header.MergeFrom(replay_pb2.ReplayHeader(**fields))
    return message


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (header_message(processes=[1]), "processes for other seats"),
        (header_message(processes=[1, 2, 9]), "an unknown lifetime"),
        (header_message(nonces=[b""] * 5), "5 nonces, and 4 are the most"),
        (ReplayRecord(result={"digests": [b""] * 5}), "5 digests, and 4 are the most"),
        (ReplayRecord(signature={"public_key": bytes(31), "signature": bytes(64)}), "its key"),
        (
            ReplayRecord(signature={"public_key": bytes(32), "signature": bytes(65)}),
            "signature is not",
        ),
        (
            ReplayRecord(reply={"actions": [{"decline": {}}], "after_us": 9, "bot_us": 9}),
            "not in the form in which records are written",
        ),
        (ReplayRecord(reply={"actions": [{"decline": {}}] * 65}), "65 actions, and 64"),
    ],
)
def test_a_record_that_nobody_writes_is_refused(message: ReplayRecord, fault: str) -> None:
    with pytest.raises(CodecError, match=fault):
        RecordCodec().decode(message.SerializeToString(deterministic=True))


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        pytest.param(data, fault, id=name)
        for name, data, fault in [
            ("empty", b"", "the file is empty"),
            ("other file", b"%PDF-1.7 and so on", "not an ASARA replay"),
            ("first bytes", DATA[:5], "cut short in its first bytes"),
            (
                "no records",
                DATA[:8],
                r"record 0 \(byte 8\): the file ends here without the results",
            ),
            ("older", DATA[:7] + b"\x01" + DATA[8:], "replay format 1; this program reads"),
            ("no results", DATA[:8] + HEADER, r"record 1 \(byte 8\): the file ends here"),
            ("no header", DATA[:8] + MOVE, r"record 1 \(byte 8\): the first record must be"),
            (
                "two headers",
                DATA[:8] + HEADER + HEADER,
                rf"record 2 \(byte {8 + len(HEADER)}\): no record of this kind has its place here",
            ),
            ("more behind", DATA + MOVE, "no record of this kind has its place here"),
            ("cut short", DATA[:-1], "the file ends after .*: it is damaged or cut short"),
            ("cut in a length", DATA + b"\x80", "its length is damaged or cut short"),
            ("endless length", DATA + b"\xff" * 9, "its length is damaged or cut short"),
            ("longest record", DATA[:8] + delimited(bytes(72 * 1024)), r"\): damaged: "),
            ("longer record", DATA[:8] + delimited(bytes(72 * 1024 + 1)), "longer than any record"),
            ("no record", DATA[:8] + b"\x00", "damaged: of an unknown kind"),
            ("junk", DATA[:8] + b"\x03\xff\xff\xff", "damaged: not a serialized ReplayRecord"),
        ]
    ],
)
def test_every_fault_is_named_with_its_place(tmp_path: Path, data: bytes, fault: str) -> None:
    path = tmp_path / "match.asara"
    path.write_bytes(data)
    with pytest.raises(ReplayError, match=fault) as raised:
        read_replay(path)
    assert str(raised.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("replay", "fault"),
    [
        (replace(REPLAY, header=replace(REPLAY.header, rules_version=9)), "version 9 of the rules"),
        (
            replace(REPLAY, header=replace(REPLAY.header, rules_version=1)),
            "played by version 1 of the rules; this program has version 2",
        ),
        (replace(REPLAY, header=replace(REPLAY.header, edition=b"]")), "not valid TOML"),
        (replace(REPLAY, header=replace(REPLAY.header, rule_sets=frozenset())), "basic rules"),
        (replace(REPLAY, header=replace(REPLAY.header, entries=("a",))), "2, 3 or 4 seats, not 1"),
        (replace(REPLAY, header=replace(REPLAY.header, deal_secret=b"")), "has 0 bytes, not 32"),
        (replace(REPLAY, ends=REPLAY.ends[:2]), "2 results for 3 seats"),
    ],
)
def test_a_replay_that_cannot_be_is_refused(replay: Replay, fault: str) -> None:
    with pytest.raises(ReplayError, match=fault):
        parse_replay(replay_bytes(replay, KEY))


@pytest.mark.parametrize(
    "record",
    [
        StartRecord((), ((3, Absence(Termination.CRASH, "")),)),
        ReplyRecord(1, 3, (Decline(),), 1),
        ExpiryRecord(1, (0, 3)),
        LeaveRecord(1, 3),
    ],
)
def test_a_record_of_a_seat_that_the_match_does_not_have_is_refused(record: Record) -> None:
    with pytest.raises(ReplayError, match=r"record 2 .*: seat 3, but the match has seats 0 to 2"):
        parse_replay(replay_bytes(replace(REPLAY, records=(record,)), KEY))


def test_no_seat_has_more_rejections_than_the_one_that_forfeits() -> None:
    most = REPLAY.header.limits.rejections_forgiven + 1
    rejections = [RejectionRecord(1, 0, 1, (), RejectionReason.EMPTY, "no action")] * (most + 1)
    parse_replay(replay_bytes(replace(REPLAY, records=tuple(rejections[:most])), KEY))
    with pytest.raises(ReplayError, match=f"rejection {most + 1} of its seat"):
        parse_replay(replay_bytes(replace(REPLAY, records=tuple(rejections)), KEY))


def test_a_record_is_named_with_the_place_where_it_begins() -> None:
    found = parse_file(DATA)
    assert len(found.records) == len(REPLAY.records) + 3
    offset = START
    for index, record in enumerate(found.records):
        assert found.place(index) == f"record {index + 1} (byte {offset})"
        assert DATA[offset:].startswith(delimited(record))
        offset += len(delimited(record))
    assert offset == len(DATA)


def test_no_reply_is_before_the_header_or_behind_the_results() -> None:
    held = parse_file(DATA).records[:-1]
    reply = next(record_bytes(one) for one in REPLAY.records if isinstance(one, ReplyRecord))
    with pytest.raises(ReplayError, match=r"record 1 \(byte 8\): the first record must be"):
        parse_replay(signed_bytes([reply, *held], KEY))
    with pytest.raises(ReplayError, match="no record of this kind has its place here"):
        parse_replay(signed_bytes([*held, reply], KEY))
    with pytest.raises(ReplayError, match="no record of this kind has its place here"):
        parse_replay(signed_bytes(held[:-1], KEY))


def test_a_file_is_read_up_to_the_largest_size_and_number_of_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.asara"
    path.write_bytes(DATA)
    monkeypatch.setattr(file, "LARGEST_FILE", len(DATA))
    assert read_file(path) == DATA
    path.write_bytes(DATA + b"\0")
    with pytest.raises(ReplayError, match=r"^larger than 0 MiB, and so than any replay"):
        read_file(path)
    most = len(REPLAY.records) + 3
    monkeypatch.setattr(file, "MOST_RECORDS", most)
    assert parse_replay(DATA) == REPLAY
    monkeypatch.setattr(file, "MOST_RECORDS", most - 1)
    with pytest.raises(ReplayError, match=rf"record {most} .*: more than {most - 1} records"):
        parse_replay(DATA)


def test_no_file_and_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match=r"none\.asara: no such file"):
        read_replay(tmp_path / "none.asara")
    with pytest.raises(ReplayError, match="not a file"):
        read_replay(tmp_path)
    with pytest.raises(ReplayError, match="not a path"):
        read_replay(Path("a\0b"))
    with pytest.raises(ReplayError, match="File name too long"):
        read_replay(tmp_path / ("x" * 300))


@given(st.integers(0, len(DATA)), st.integers(0, len(DATA)), st.binary(max_size=40))
def test_a_changed_stretch_is_refused(a: int, b: int, new: bytes) -> None:
    data = DATA[: min(a, b)] + new + DATA[max(a, b) :]
    if data != DATA:
        with pytest.raises(ReplayError):
            parse_replay(data)
