import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from asara_server.eventlog.journal import Ended, Journal, JournalError
from asara_server.eventlog.journal_check import check_journal
from asara_server.eventlog.journal_format import boot_id, log_checksum


def records(journal: Journal) -> dict[str, tuple[bytes, ...]]:
    return {name: match.records for name, match in journal.unfinished.items()}


def abandon(journal: Journal) -> None:
    """Leave the files as a kill does: nothing is committed."""
    journal._database.close()
    journal._log.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def killed_run(folder: Path, *, matches: int = 4) -> list[str]:
    """Leave the journal of a run that was killed after many commits; return who was over."""
    journal = Journal(folder / "j")
    over = []
    for index in range(matches):
        name = f"match {index}"
        number = journal.begin(name, b"header", ("a", "b"))
        for move in range(20):
            journal.add(number, b"move %d" % move)
            journal.commit()
        if index + 1 < matches:
            journal.end(name, f"result {index}", b"replay %d" % index)
            over.append(name)
    abandon_unclosed(journal)
    return over


def abandon_unclosed(journal: Journal) -> None:
    """Leave the files as a kill does, write-ahead log included, which a closing would remove."""
    folder = journal.path.parent
    held = {file: file.read_bytes() for file in folder.iterdir()}
    abandon(journal)
    for file, data in held.items():
        file.write_bytes(data)


def test_what_was_committed_is_there_again_by_match_and_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    one = journal.begin("one", b"header 1", ("a", "b"))
    journal.add(one, b"start 1")
    two = journal.begin("two", b"header 2", ("c", "d"))
    journal.add(two, b"")
    journal.commit()
    journal.add(two, bytes(300))
    journal.add(one, b"move 1")
    journal.commit()
    journal.add(one, b"never committed")
    journal.begin("three", b"neither", ("e",))
    abandon(journal)

    again = Journal(tmp_path / "j")
    assert records(again) == {"one": (b"start 1", b"move 1"), "two": (b"", bytes(300))}
    assert again.unfinished["one"].header == b"header 1"
    assert again.unfinished["two"].tokens == ("c", "d")
    again.add(again.number("one"), b"move 2")
    three = again.begin("three", b"h", ("e",))
    again.add(three, b"start 3")
    again.close()
    with Journal(tmp_path / "j") as last:
        assert records(last)["one"] == (b"start 1", b"move 1", b"move 2")
        assert records(last)["three"] == (b"start 3",)


def test_a_match_that_begins_after_a_restart_takes_the_number_of_no_other(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.begin("one", b"h", ("a",))
        journal.add(journal.begin("two", b"h", ("a",)), b"start 2")
        journal.commit()
        journal.end("one", "result", None)
    with Journal(tmp_path / "j") as again:
        again.add(again.begin("three", b"h", ("a",)), b"start 3")
    with Journal(tmp_path / "j") as last:
        assert records(last) == {"two": (b"start 2",), "three": (b"start 3",)}


def test_a_match_of_another_journal_is_adopted_from_where_this_one_stopped(tmp_path: Path) -> None:
    with Journal(tmp_path / "worker") as worker:
        number = worker.begin("one", b"header", ("a",))
        for record in (b"start", b"move 1", b"move 2"):
            worker.add(number, record)
    with Journal(tmp_path / "worker") as worker:
        opened = worker.unfinished["one"]
    with Journal(tmp_path / "j") as journal:
        journal.add(journal.begin("one", b"header", ("a",)), b"start")
    with Journal(tmp_path / "j") as journal:
        assert journal.adopt(opened)
        assert not journal.adopt(opened._replace(records=(b"start", b"another move")))
        assert not journal.adopt(opened._replace(header=b"another header"))
        assert journal.adopt(opened._replace(match_id="two"))
    with Journal(tmp_path / "j") as journal:
        assert records(journal) == dict.fromkeys(("one", "two"), opened.records)


def test_a_match_is_over_when_its_result_is_there(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    for name in ("one", "two"):
        journal.add(journal.begin(name, b"h", ("a",)), b"start")
    journal.end("two", '{"rank": 1}', b"replay 2")
    journal.end("never-began", "void", None)
    abandon(journal)
    again = Journal(tmp_path / "j")
    assert list(again.unfinished) == ["one"]
    over = [Ended("two", '{"rank": 1}', b"replay 2"), Ended("never-began", "void", None)]
    assert list(again.ended()) == over
    again.written("two")
    again.end("one", "done", b"replay 1")
    abandon(again)
    with Journal(tmp_path / "j") as last:
        assert not last.unfinished
        assert [match.replay for match in last.ended()] == [None, None, b"replay 1"]


def test_the_log_keeps_only_what_matches_that_run_may_need(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    kept = journal.begin("kept", b"header", ("a",))
    journal.add(kept, b"start")
    for index in range(30):
        number = journal.begin(f"match {index}", b"h", ("a",))
        for _ in range(4):
            journal.add(number, bytes(100_000))
            journal.commit()
        journal.end(f"match {index}", "done", None)
        assert (tmp_path / "j.running").stat().st_size < 5_000_000
    journal.add(kept, b"move")
    journal.commit()
    abandon(journal)
    with Journal(tmp_path / "j") as again:
        assert records(again) == {"kept": (b"start", b"move")}
        assert (tmp_path / "j.running").stat().st_size < 200
        again.end("kept", "done", None)
    with Journal(tmp_path / "j") as last:
        assert not last.unfinished
        assert (tmp_path / "j.running").stat().st_size == 48


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "j"
    old = os.umask(0)
    try:
        with Journal(path) as journal:
            journal.begin("one", b"h", ("token",))
            journal.commit()
            assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(old)


def test_two_programs_cannot_have_it_open(tmp_path: Path) -> None:
    with Journal(tmp_path / "j"), pytest.raises(JournalError, match="another program has it open"):
        Journal(tmp_path / "j")


def test_files_that_are_no_journal(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, and long enough to see it" * 100)
    with pytest.raises(JournalError, match="damaged"):
        Journal(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(JournalError, match="not a journal"):
        Journal(tmp_path / "other")
    with Journal(tmp_path / "newer") as journal:
        journal._execute("PRAGMA user_version = 99")
    with pytest.raises(JournalError, match="journal format 99; this program has format 3"):
        Journal(tmp_path / "newer")
    with pytest.raises(JournalError, match="No such file"):
        Journal(tmp_path / "no" / "folder")


@pytest.mark.parametrize(
    ("frames", "fault"),
    [
        (b"\x01\x05", "a frame is cut short"),
        (b"\x09\x00", "it lacks the beginning of match 9"),
        (b"\x00\x01\x00", "Expecting value"),
    ],
)
def test_a_log_whose_rows_mean_nothing_is_refused(
    tmp_path: Path, frames: bytes, fault: str
) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.add(journal.begin("one", b"h", ("a",)), b"start")
        journal.commit()
        journal._log._append(frames)
        journal._store_position()
    before = contents(tmp_path)
    with pytest.raises(JournalError, match=rf"j.running: damaged: {fault}.*; restore the journal"):
        Journal(tmp_path / "j")
    assert contents(tmp_path) == before


def test_a_full_disk_is_told_and_nothing_is_committed_after_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    number = journal.begin("one", b"h", ("a",))
    journal.commit()
    os.dup2(os.open("/dev/full", os.O_WRONLY), journal._log._file.fileno())
    journal.add(number, b"move")
    with pytest.raises(JournalError, match=r"j.running: the disk is full"):
        journal.commit()
    journal.add(number, b"small")
    with pytest.raises(JournalError, match="the disk is full"):
        journal.commit()
    with pytest.raises(JournalError, match="the disk is full"):
        journal.end("one", "result", None)
    journal.close()
    with Journal(tmp_path / "j") as again:
        assert records(again) == {"one": ()}


def test_a_full_disk_at_the_end_of_a_match_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.begin("one", b"h", ("a",))
    journal.commit()
    (pages,) = journal._execute("PRAGMA page_count").fetchone()
    journal._execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(JournalError, match="the disk is full"):
        journal.end("one", "result", bytes(100_000))
    journal.close()
    with Journal(tmp_path / "j") as again:
        assert records(again) == {"one": ()}


def test_a_commit_that_a_kill_cut_short_is_dropped_and_the_others_stay(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    number = journal.begin("one", b"h", ("a",))
    journal.add(number, b"start")
    journal.commit()
    position = (tmp_path / "j.position").read_bytes()
    size = (tmp_path / "j.running").stat().st_size
    journal.add(number, b"move")
    journal.commit()
    abandon(journal)
    (tmp_path / "j.position").write_bytes(position)
    held = contents(tmp_path)
    assert size < len(held["j.running"])
    for end in range(size, len(held["j.running"])):
        for name, data in held.items():
            (tmp_path / name).write_bytes(data)
        os.truncate(tmp_path / "j.running", end)
        again = Journal(tmp_path / "j")
        assert records(again) == {"one": (b"start",)}
        again.add(again.number("one"), b"other move")
        again.commit()
        abandon(again)
        with Journal(tmp_path / "j") as last:
            assert records(last) == {"one": (b"start", b"other move")}


def test_what_lies_behind_a_commit_that_was_not_made_is_dropped(tmp_path: Path) -> None:
    """After a loss of power, the end of a file may have any content."""
    journal = Journal(tmp_path / "j")
    journal.add(journal.begin("one", b"h", ("a",)), b"start")
    journal.commit()
    abandon(journal)
    for rest in (b"\x00" * 4096, b"\x80" * 20, b"\xff\xff\xff\xff\x0f" + bytes(100)):
        with (tmp_path / "j.running").open("ab") as file:
            file.write(rest)
        with Journal(tmp_path / "j") as again:
            assert records(again) == {"one": (b"start",)}


def test_a_kill_between_the_new_log_and_its_position_loses_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.add(journal.begin("one", b"h", ("a",)), b"start")
    journal.add(journal.begin("two", b"h", ("a",)), b"start")
    journal.end("one", "result", None)
    position = (tmp_path / "j.position").read_bytes()
    journal._log._rewrite()
    abandon(journal)
    (tmp_path / "j.position").write_bytes(position)
    with Journal(tmp_path / "j") as again:
        assert records(again) == {"two": (b"start",)}
        assert [match.match_id for match in again.ended()] == ["one"]


def test_a_commit_survives_the_process(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        assert journal._execute("PRAGMA synchronous").fetchone() == (1,)
        assert journal._execute("PRAGMA journal_mode").fetchone() == ("wal",)


WRITER = """
import sys
from pathlib import Path
from asara_server.eventlog.journal import Journal

journal = Journal(Path(sys.argv[1]))
for match in range(1000):
    number = journal.begin(f"match {match}", b"header", ("a",))
    for move in range(100):
        journal.add(number, bytes(2000))
        journal.commit()
        print(match, move, flush=True)
    if match % 3:
        journal.end(f"match {match}", "result", bytes(5000))
"""


def test_what_was_committed_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    """The log is written anew several times meanwhile."""
    for number, wait_s in enumerate((0.05, 0.2, 0.8)):
        path = tmp_path / f"j{number}"
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout
        first = writer.stdout.readline()
        drained = threading.Timer(wait_s, writer.kill)
        drained.start()
        told, _ = writer.communicate()
        match, move = map(int, (first + told).rpartition("\n")[0].splitlines()[-1].split())
        with Journal(path) as journal:
            over = {one.match_id for one in journal.ended()}
            for index in range(match):
                name = f"match {index}"
                assert (name in over) == bool(index % 3)
                assert name in over or len(records(journal)[name]) == 100
            last = f"match {match}"
            assert last in over or len(records(journal)[last]) in (move + 1, move + 2)


@pytest.mark.parametrize("file", ["j-wal", "j.running"])
def test_a_flipped_bit_anywhere_in_what_was_written_last_is_refused_and_nothing_changes(
    tmp_path: Path, file: str
) -> None:
    over = killed_run(tmp_path)
    log = tmp_path / file
    whole = log.read_bytes()
    dice = random.Random(1)
    for at in (0, 16, 24, 40, len(whole) // 2, *dice.sample(range(32, len(whole)), 60)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << dice.randrange(8)
        log.write_bytes(damaged)
        before = contents(tmp_path)
        try:
            check = check_journal(tmp_path / "j")
        except JournalError:
            pass
        else:
            assert check.missing_commits
        with pytest.raises(JournalError, match=r"log was damaged or removed|: damaged"):
            Journal(tmp_path / "j")
        assert contents(tmp_path) == before
    log.write_bytes(whole)
    with Journal(tmp_path / "j") as journal:
        assert [match.match_id for match in journal.ended()] == over
        assert len(records(journal)["match 3"]) == 20


@pytest.mark.parametrize("lost", ["j-wal", "j", "both", "j.running", "cut", "cut log"])
def test_a_journal_that_lost_its_last_commits_is_refused(tmp_path: Path, lost: str) -> None:
    killed_run(tmp_path)
    for name in ("j", "j-wal", "j.running"):
        if lost == name or (lost == "both" and name != "j.running"):
            (tmp_path / name).unlink()
    if lost.startswith("cut"):
        log = tmp_path / ("j-wal" if lost == "cut" else "j.running")
        os.truncate(log, log.stat().st_size - 1)
    before = contents(tmp_path)
    with pytest.raises(JournalError, match=r"lacks the last \d*"):
        Journal(tmp_path / "j")
    assert contents(tmp_path) == before
    (tmp_path / "j.position").unlink()  # the remedy for who wants to go on nevertheless
    if lost != "j":  # a log without its database is nothing to go on with
        Journal(tmp_path / "j").close()


def test_a_kill_before_the_position_is_stored_loses_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    number = journal.begin("one", b"h", ("a",))
    journal.commit()
    position = (tmp_path / "j.position").read_bytes()
    journal.add(number, b"move")
    journal.commit()
    abandon_unclosed(journal)
    (tmp_path / "j.position").write_bytes(position)
    with Journal(tmp_path / "j") as again:
        assert records(again) == {"one": (b"move",)}


def test_a_loss_of_power_may_cost_decisions_but_no_result(tmp_path: Path) -> None:
    """After another boot, commits may be missing that no end of a match forced to disk."""
    journal = Journal(tmp_path / "j")
    journal.begin("one", b"h", ("a",))
    number = journal.begin("two", b"h", ("a",))
    ended = []
    for over in (False, True):
        if over:
            journal.end("one", "result", None)
        else:
            journal.commit()
        held = contents(tmp_path)
        journal.add(number, b"lost")
        journal.commit()
        ended.append((held, (tmp_path / "j.position").read_bytes()))
    abandon(journal)

    def restart(held: dict[str, bytes], position: bytes, boot: bytes) -> None:
        for file in tmp_path.iterdir():
            file.unlink()
        for name, data in held.items():
            (tmp_path / name).write_bytes(data)
        (tmp_path / "j.position").write_bytes(position[:8] + boot + position[24:])
        Journal(tmp_path / "j").close()

    held, position = ended[1]
    restart(held, position, boot=bytes(16))
    with pytest.raises(JournalError, match="lacks the last"):
        restart(held, position, boot=boot_id())
    held, _ = ended[0]
    with pytest.raises(JournalError, match="lacks the last"):
        restart(held, position, boot=bytes(16))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE matches SET result = 'rank 2' WHERE ended = 2", "result of match match 1"),
        ("UPDATE matches SET replay = x'00' WHERE ended = 2", "replay of match match 1"),
        ("DELETE FROM matches WHERE ended = 2", "result of match match 2"),
    ],
)
def test_what_is_changed_in_the_database_is_found(tmp_path: Path, change: str, fault: str) -> None:
    killed_run(tmp_path)
    Journal(tmp_path / "j").close()
    database = sqlite3.connect(tmp_path / "j")
    database.execute(change)
    database.commit()
    database.close()
    with pytest.raises(JournalError, match=fault):
        Journal(tmp_path / "j")


@pytest.mark.parametrize("change", ["removed", "exchanged", "repeated", "forged"])
def test_rows_of_the_log_that_are_changed_are_found(tmp_path: Path, change: str) -> None:
    journal = Journal(tmp_path / "j")
    number = journal.begin("one", b"h", ("a",))
    journal.commit()
    start = (tmp_path / "j.running").stat().st_size
    for move in range(4):
        journal.add(number, b"move %d" % move)
        journal.commit()
    abandon(journal)
    log = (tmp_path / "j.running").read_bytes()
    rows = [log[start:][at : at + 25] for at in range(0, 100, 25)]
    if change == "removed":
        del rows[1]
    elif change == "exchanged":
        rows[1], rows[2] = rows[2], rows[1]
    elif change == "repeated":
        rows[2] = rows[1]
    else:  # a last row with the right checksum
        frames = rows[3][1:9].replace(b"3", b"4")
        rows[3] = rows[3][:1] + frames + log_checksum(rows[2][9:], frames)
    (tmp_path / "j.running").write_bytes(log[:start] + b"".join(rows))
    with pytest.raises(JournalError, match=r"lacks the last|commit 5 is not the one"):
        Journal(tmp_path / "j")


def test_a_damaged_position_is_named(tmp_path: Path) -> None:
    killed_run(tmp_path)
    (tmp_path / "j.position").write_bytes(b"x" * 20)
    with pytest.raises(JournalError, match=r"j.position: damaged; restore it .* or delete it"):
        Journal(tmp_path / "j")
