import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara.v1.replay_pb2 import ReplayRecord
from asara_server.replay import (
    MoveRecord,
    Replay,
    ReplayError,
    parse_replay,
    read_replay,
    replay_bytes,
    replay_match,
    write_replay,
)
from asara_server.replay.file import record_bytes
from asara_server.translate.wire import delimited
from tests.server.playouts import EVERYTHING, random_replay

REPLAY = random_replay(EVERYTHING, 3, seed=3)
DATA = replay_bytes(REPLAY)
START = 8
HEADER = delimited(record_bytes(REPLAY.header))
MOVE = delimited(record_bytes(REPLAY.records[0]))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "match.asara"
    write_replay(path, REPLAY)
    assert read_replay(path) == REPLAY
    assert path.read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [path]


def test_records_are_those_that_protobuf_writes() -> None:
    for record in REPLAY.records:
        data = record_bytes(record)
        assert ReplayRecord.FromString(data).SerializeToString(deterministic=True) == data


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.asara"
    path.write_bytes(b"before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_replay(path, REPLAY)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"before"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        pytest.param(data, fault, id=name)
        for name, data, fault in [
            ("empty", b"", "the file is empty"),
            ("other file", b"%PDF-1.7 and so on", "no replay of an ASARA match"),
            ("first bytes", DATA[:5], "cut short in its first bytes"),
            (
                "no records",
                DATA[:8],
                r"record 0 \(byte 8\): the file ends here without the results",
            ),
            ("newer", DATA[:7] + b"\x02" + DATA[8:], "replay format 2, and this program reads"),
            ("no results", DATA[:8] + HEADER, r"record 1 \(byte 8\): the file ends here"),
            ("no header", DATA[:8] + MOVE, r"record 1 \(byte 8\): the first record must be"),
            ("two headers", DATA[:8] + HEADER + HEADER, rf"record 2 \(byte {8 + len(HEADER)}\): a"),
            ("more behind", DATA + MOVE, "stands behind the results"),
            ("cut short", DATA[:-1], "the file ends after .*: it is damaged or cut short"),
            ("cut in a length", DATA + b"\x80", "its length is damaged or cut short"),
            ("endless length", DATA + b"\xff" * 9, "its length is damaged or cut short"),
            ("no record", DATA[:8] + b"\x00", "damaged: of no known kind"),
            ("junk", DATA[:8] + b"\x03\xff\xff\xff", "damaged: not a record"),
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
        (replace(REPLAY, header=replace(REPLAY.header, edition=b"]")), "not TOML"),
        (replace(REPLAY, header=replace(REPLAY.header, rule_sets=frozenset())), "basic rules"),
        (replace(REPLAY, header=replace(REPLAY.header, entries=("a",))), "2, 3 or 4 seats, not 1"),
        (replace(REPLAY, header=replace(REPLAY.header, deal_secret=b"")), "has 0 bytes, not 32"),
        (
            replace(REPLAY, results=REPLAY.results[:2]),
            "not one result for each of the seats 0 to 2",
        ),
        (
            replace(REPLAY, records=(REPLAY.records[0]._replace(seat=3),)),
            "record 2 .*: seat 3, but the match has seats 0 to 2",
        ),
    ],
)
def test_a_replay_that_cannot_be_is_refused(replay: Replay, fault: str) -> None:
    with pytest.raises(ReplayError, match=fault):
        parse_replay(replay_bytes(replay))


def test_no_file_and_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match=r"none\.asara: No such file"):
        read_replay(tmp_path / "none.asara")
    with pytest.raises(ReplayError, match="not a file"):
        read_replay(tmp_path)
    with pytest.raises(ReplayError, match="no path"):
        read_replay(Path("a\0b"))


def read_or_refuse(data: bytes) -> None:
    """Read, and play again: only ReplayError may come of it."""
    try:
        replay = parse_replay(data)
        for _ in replay_match(replay):
            pass
    except ReplayError:
        return
    assert replay_bytes(replay) == data


@settings(deadline=None)  # the machine may be busy
@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_makes_another_replay(at: int, flip: int) -> None:
    read_or_refuse(DATA[:at] + bytes([DATA[at] ^ flip]) + DATA[at + 1 :])


@settings(deadline=None)  # the machine may be busy
@given(st.integers(0, len(DATA)), st.integers(0, len(DATA)), st.binary(max_size=40))
def test_a_changed_stretch_is_refused_or_makes_another_replay(a: int, b: int, new: bytes) -> None:
    read_or_refuse(DATA[: min(a, b)] + new + DATA[max(a, b) :])


@settings(deadline=None)  # the machine may be busy
@given(st.binary(max_size=200))
def test_garbage_behind_the_first_bytes_is_refused(data: bytes) -> None:
    with pytest.raises(ReplayError):
        parse_replay(DATA[:START] + data)


def test_an_action_that_was_not_legal_is_named() -> None:
    moves = list(REPLAY.records)
    index = next(i for i, record in enumerate(moves) if isinstance(record, MoveRecord) and i > 20)
    first = REPLAY.records[0]
    assert isinstance(first, MoveRecord)
    stranger = moves[index]
    assert isinstance(stranger, MoveRecord)
    wrong = REPLAY.records[index - 1]
    assert isinstance(wrong, MoveRecord)
    moves[index] = stranger._replace(seat=(stranger.seat + 1) % 3)
    with pytest.raises(ReplayError, match=rf"record {index + 2}: a move of seat"):
        list(replay_match(replace(REPLAY, records=tuple(moves))))


def test_a_match_that_stops_in_the_middle_is_refused() -> None:
    with pytest.raises(ReplayError, match="was still to decide"):
        list(replay_match(replace(REPLAY, records=REPLAY.records[:10])))


def test_results_that_the_moves_do_not_give_are_refused() -> None:
    results = (REPLAY.results[0]._replace(prestige=999), *REPLAY.results[1:])
    with pytest.raises(ReplayError, match="the results give seat 0 999 prestige"):
        list(replay_match(replace(REPLAY, results=results)))
