import itertools
import os
import random
import stat
import threading
from pathlib import Path

import pytest

from asara_server import atomic_file
from asara_server.journal.journal import Ended, Fact, Journal, JournalError
from asara_server.journal.rows import MAGIC, RowFollower, row_bytes, row_checksum
from tests.events import EVENT_S, wait_until


def abandon(journal: Journal) -> None:
    """Leave the file as a kill does: nothing more is committed."""
    journal._added.clear()
    journal.close()


def killed_run(path: Path, *, matches: int = 3) -> list[int]:
    """Leave the journal of a run that was killed; return where its rows end."""
    journal = Journal(path)
    ends = [len(MAGIC)]

    def note() -> None:
        ends.append(path.stat().st_size)

    for index in range(matches):
        journal.begin(f"match {index}", b"header")
        for move in range(5):
            journal.add(f"match {index}", b"move %d" % move)
            journal.commit()
            note()
        if index + 1 < matches:
            journal.end(f"match {index}", f"result {index}")
            note()
    abandon(journal)
    return ends


def test_what_was_committed_is_there_again_by_match_and_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.begin("one", b"header 1")
    journal.add("one", b"start 1")
    journal.begin("two", b"header 2")
    journal.add("two", b"")
    journal.commit()
    journal.add("two", bytes(300))
    journal.add("one", b"move 1")
    journal.commit()
    journal.add("one", b"never committed")
    journal.begin("three", b"neither")
    abandon(journal)

    again = Journal(tmp_path / "j")
    assert again.unfinished == {
        "one": (b"header 1", b"start 1", b"move 1"),
        "two": (b"header 2", b"", bytes(300)),
    }
    again.add("one", b"move 2")
    again.begin("three", b"h")
    again.add("three", b"start 3")
    again.close()
    with Journal(tmp_path / "j") as last:
        assert last.unfinished["one"] == (b"header 1", b"start 1", b"move 1", b"move 2")
        assert last.unfinished["three"] == (b"h", b"start 3")


def test_facts_about_the_run_are_there_again_in_order(tmp_path: Path) -> None:
    facts = [Fact("run", {"state": "running"}), Fact("alone", {"matches": []})]
    with Journal(tmp_path / "j") as journal:
        journal.note(*facts)
    with Journal(tmp_path / "j") as again:
        assert again.facts == facts


def test_a_match_that_begins_after_a_restart_takes_the_number_of_no_other(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.begin("one", b"h")
        journal.begin("two", b"h")
        journal.add("two", b"start 2")
        journal.commit()
        journal.end("one", "result")
    with Journal(tmp_path / "j") as again:
        again.begin("three", b"h")
        again.add("three", b"start 3")
    with Journal(tmp_path / "j") as last:
        assert last.unfinished == {"two": (b"h", b"start 2"), "three": (b"h", b"start 3")}


def test_a_match_of_another_journal_is_adopted_from_where_this_one_stopped(tmp_path: Path) -> None:
    with Journal(tmp_path / "worker") as worker:
        worker.begin("one", b"header")
        for record in (b"start", b"move 1", b"move 2"):
            worker.add("one", record)
    with Journal(tmp_path / "worker") as worker:
        opened = worker.unfinished["one"]
    with Journal(tmp_path / "j") as journal:
        journal.begin("one", b"header")
        journal.add("one", b"start")
    journal = Journal(tmp_path / "j")
    journal.adopt("one", opened)
    for other in ((b"header", b"start", b"another move"), (b"another header",)):
        journal.adopt("one", other)
    journal.adopt("two", opened)
    abandon(journal)  # adopted matches are committed, because the worker's journal is deleted next
    with Journal(tmp_path / "j") as journal:
        assert journal.unfinished == dict.fromkeys(("one", "two"), opened)


def test_a_match_that_is_over_has_its_result_and_all_records_of_its_replay(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        for name in ("one", "two"):
            journal.begin(name, b"h")
            journal.add(name, b"start")
        journal.end("two", '{"rank": 1}', (b"h", b"start", b"move", b"results"))
        journal.end("never-began", "void")
        journal.end("elsewhere", "rank 2", (b"h", b"results"))
    over = [
        Ended('{"rank": 1}', (b"h", b"start", b"move", b"results")),
        Ended("void", ()),
        Ended("rank 2", (b"h", b"results")),
    ]
    with Journal(tmp_path / "j") as again:
        assert list(again.unfinished) == ["one"]
        assert again.ended == over
    with Journal(tmp_path / "j", wanted=lambda name: name == "elsewhere") as again:
        assert again.ended == [over[0]._replace(records=()), *over[1:]]


def test_a_match_that_was_played_again_from_its_start_has_those_records(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.begin("one", b"h")
        journal.add("one", b"start")
        journal.begin("two", b"h")
    again = (b"h", b"another start", b"results")
    with Journal(tmp_path / "j") as journal:
        journal.end("one", "rank 1", again)
        journal.end("two", "void")
    with Journal(tmp_path / "j") as journal:
        assert journal.ended == [Ended("rank 1", again), Ended("void", (b"h",))]
        assert not journal.unfinished


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with Journal(tmp_path / "j") as journal:
            journal.begin("one", b"h")
            journal.commit()
            assert stat.S_IMODE((tmp_path / "j").stat().st_mode) == 0o600
    finally:
        os.umask(old)


def test_files_that_are_no_journal(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no log, and longer than the first bytes of one")
    (tmp_path / "older").write_bytes(MAGIC.replace(b"3", b"2"))
    for name in ("text", "older"):
        with pytest.raises(JournalError, match="damaged at byte 0: it does not begin as a log"):
            Journal(tmp_path / name)
    with pytest.raises(JournalError, match="No such file"):
        Journal(tmp_path / "no" / "folder")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JournalError, match="pipe: is a device or a pipe"):
        Journal(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "newer")
    with pytest.raises(JournalError, match="symbolic links"):
        Journal(tmp_path / "link")


@pytest.mark.parametrize(
    ("frames", "fault"),
    [
        (b"\x01\x05", "a frame is cut short"),
        (b"\x01\x85", "the length of a frame is damaged"),
        (b"\x09\x00", "it lacks the beginning of match 9"),
        (b"\x00\x05tea 1", "a line about the run that this version cannot read"),
    ],
)
def test_rows_that_mean_nothing_are_refused(tmp_path: Path, frames: bytes, fault: str) -> None:
    data = MAGIC + row_bytes(frames, row_checksum(MAGIC, frames))
    (tmp_path / "j").write_bytes(data)
    with pytest.raises(JournalError, match=rf"j: damaged at byte 16: {fault}.*; restore it"):
        Journal(tmp_path / "j")
    assert (tmp_path / "j").read_bytes() == data


def test_a_last_row_that_was_cut_short_is_dropped_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "j"
    *_, before, end = killed_run(path)
    whole = path.read_bytes()
    rests = [whole[before:cut] for cut in range(before, end)]
    for rest in (*rests, bytes(4096)):  # after a loss of power, zeros
        path.write_bytes(whole[:before] + rest)
        again = Journal(path)
        assert len(again.unfinished["match 2"]) == 5
        assert path.read_bytes() == whole[:before] + rest
        again.add("match 2", b"other move")
        again.close()
        with Journal(path) as last:
            assert last.unfinished["match 2"][4:] == (b"move 3", b"other move")


def test_a_file_whose_first_bytes_were_cut_short_is_empty(tmp_path: Path) -> None:
    for length in range(len(MAGIC)):
        (tmp_path / "j").write_bytes(MAGIC[:length])
        with Journal(tmp_path / "j") as journal:
            journal.begin("one", b"h")
        with Journal(tmp_path / "j") as journal:
            assert journal.unfinished == {"one": (b"h",)}


def test_a_flipped_bit_anywhere_is_refused_with_its_place_and_nothing_changes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "j"
    ends = killed_run(path, matches=2)
    whole = path.read_bytes()
    dice = random.Random(1)
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        place = max((end for end in ends if end <= at), default=0)
        with pytest.raises(JournalError, match=rf"j: damaged at byte {place:,}: "):
            Journal(path)
        assert path.read_bytes() == damaged
    path.write_bytes(whole)
    Journal(path).close()


def test_a_damaged_length_does_not_drop_the_long_rest_of_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.begin("one", b"header")
        for _ in range(12):
            journal.commit()
            journal.add("one", bytes(100_000))
    data = bytearray(path.read_bytes())
    data[len(MAGIC) + 3] ^= 1  # the first row seems to be 16 MiB longer
    path.write_bytes(data)
    with pytest.raises(JournalError, match="damaged at byte 16: a row has another checksum"):
        Journal(path)


@pytest.mark.parametrize("change", ["removed", "exchanged", "repeated"])
def test_rows_that_are_changed_are_found(tmp_path: Path, change: str) -> None:
    path = tmp_path / "j"
    ends = killed_run(path)
    whole = path.read_bytes()
    rows = [whole[start:end] for start, end in itertools.pairwise(ends)]
    if change == "removed":
        del rows[3]
    elif change == "exchanged":
        rows[3], rows[4] = rows[4], rows[3]
    else:
        rows[3] = rows[2]
    path.write_bytes(MAGIC + b"".join(rows))
    with pytest.raises(JournalError, match=rf"damaged at byte {ends[3]}: a row has another"):
        Journal(path)


def test_what_is_added_to_a_log_can_be_followed(tmp_path: Path) -> None:
    path = tmp_path / "j"
    follower = RowFollower(path)
    with pytest.raises(FileNotFoundError):
        follower.news()
    with Journal(path) as journal:
        assert follower.news() == []
        journal.begin("one", b"header")
        assert follower.news() == []
        journal.commit()
        assert follower.news() == [(0, b"match 1 one"), (1, b"header")]
        assert follower.news() == []
        journal.add("one", b"move")
        journal.commit()
        journal.end("one", "rank 1")
        assert follower.news() == [(1, b"move"), (0, b"result 1 rank 1")]
    whole = path.read_bytes()
    for cut in range(1, 20):
        path.write_bytes(whole[:-cut])  # as it is while it is written
        follower = RowFollower(path)
        assert follower.news()[2:] == [(1, b"move")]
        path.write_bytes(whole)
        assert follower.news() == [(0, b"result 1 rank 1")]
    path.write_bytes(MAGIC)
    with Journal(path) as journal:
        journal.begin("a much longer name of another run", bytes(200))
    with pytest.raises(JournalError, match="damaged at byte"):
        follower.news()


def test_a_long_log_is_followed_in_parts(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.begin("one", b"header")
        for _ in range(40):
            journal.add("one", bytes(100_000))
            journal.commit()
        follower = RowFollower(tmp_path / "j")
        parts = [follower.news() for _ in range(5)]
    assert sum(map(len, parts)) == 42
    assert all(len(part) < 15 for part in parts)


def test_the_end_of_a_match_is_forced_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.set())
    monkeypatch.setattr(atomic_file, "SYNC_S", 0.05)
    with Journal(tmp_path / "j") as journal:
        journal.end("m1", "result")
        assert synced.wait(EVENT_S)


def test_a_disk_that_fails_fails_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(atomic_file, "SYNC_S", 0.01)
    journal = Journal(tmp_path / "j")
    monkeypatch.setattr(os, "fsync", failing)
    journal.end("m1", "result")
    wait_until("the disk fails", lambda: journal._file.sync_error)
    with pytest.raises(JournalError, match="Input/output error"):
        journal.end("m2", "result")
    journal.close()
