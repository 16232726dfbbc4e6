import os
import random
import sqlite3
import stat
from pathlib import Path

import pytest

from asara_server.eventlog.journal import Ended, Journal, JournalError
from asara_server.eventlog.journal_check import check_journal
from asara_server.eventlog.journal_format import DURABLE, boot_id


def records(journal: Journal) -> dict[str, tuple[bytes, ...]]:
    return {name: match.records for name, match in journal.unfinished.items()}


def abandon(journal: Journal) -> None:
    """Leave the file as a kill does: nothing is committed or closed."""
    journal._database.close()


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
    journal._database.close()
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
    def rows() -> int:
        (count,) = journal._execute("SELECT count(*) FROM log").fetchone()
        return int(count)

    journal = Journal(tmp_path / "j")
    numbers = {}
    for name in ("one", "two", "three"):
        numbers[name] = journal.begin(name, b"h", ("a",))
        journal.add(numbers[name], b"start")
        journal.commit()
    journal.end("two", "done", None)
    assert rows() == 4
    journal.end("one", "done", None)
    assert rows() == 4  # from the row before the first one of "three"
    abandon(journal)
    journal = Journal(tmp_path / "j")
    assert records(journal) == {"three": (b"start",)}
    journal.end("three", "done", None)
    assert rows() == 1
    journal.close()


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
    with pytest.raises(JournalError, match="journal format 99; this program has format 2"):
        Journal(tmp_path / "newer")
    with pytest.raises(JournalError, match="No such file"):
        Journal(tmp_path / "no" / "folder")


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.add(journal.begin("one", b"h", ("a",)), b"start")
        journal.commit()
        journal._execute("UPDATE log SET frames = x'0199'")
    before = contents(tmp_path)
    with pytest.raises(JournalError, match=r"row 1 of its log is damaged .* restore the journal"):
        Journal(tmp_path / "j")
    assert contents(tmp_path) == before


def test_a_full_disk_is_told_and_nothing_is_committed_after_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    number = journal.begin("one", b"h", ("a",))
    journal.commit()
    (pages,) = journal._execute("PRAGMA page_count").fetchone()
    journal._execute(f"PRAGMA max_page_count = {pages}")
    journal.add(number, bytes(100_000))
    with pytest.raises(JournalError, match="the disk is full"):
        journal.commit()
    journal.add(number, b"small")
    with pytest.raises(JournalError, match="the disk is full"):
        journal.commit()
    journal.close()
    with Journal(tmp_path / "j") as again:
        assert records(again) == {"one": ()}


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
def test_how_much_a_commit_survives(tmp_path: Path, durability: str, level: int) -> None:
    with Journal(tmp_path / "j", durability) as journal:  # type: ignore[arg-type]
        assert journal._execute("PRAGMA synchronous").fetchone() == (level,)
        assert journal._execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_flipped_bit_anywhere_in_the_write_ahead_log_is_refused_and_nothing_changes(
    tmp_path: Path,
) -> None:
    over = killed_run(tmp_path)
    log = tmp_path / "j-wal"
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


@pytest.mark.parametrize("lost", ["j-wal", "j", "both", "cut"])
def test_a_journal_that_lost_its_last_commits_is_refused(tmp_path: Path, lost: str) -> None:
    killed_run(tmp_path)
    for name in ("j", "j-wal"):
        if lost in (name, "both"):
            (tmp_path / name).unlink()
    if lost == "cut":
        os.truncate(tmp_path / "j-wal", (tmp_path / "j-wal").stat().st_size - 1)
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
    with pytest.raises(JournalError, match="lacks the last"):
        restart(held, position, boot=DURABLE)
    held, _ = ended[0]
    with pytest.raises(JournalError, match="lacks the last"):
        restart(held, position, boot=bytes(16))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE matches SET result = 'rank 2' WHERE number = 2", "result of match match 1"),
        ("UPDATE matches SET replay = x'00' WHERE number = 2", "replay of match match 1"),
        ("UPDATE matches SET header = x'00' WHERE number = 4", "match match 3 has another"),
        ("DELETE FROM matches WHERE number = 2", "result of match match 2"),
        ("DELETE FROM matches WHERE number = 4", "belongs to a match that is missing"),
        ("DELETE FROM log WHERE id = (SELECT max(id) - 3 FROM log)", "follows a missing one"),
        ("UPDATE log SET id = id + 1000 WHERE id = (SELECT max(id) FROM log)", "missing one"),
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


def test_a_damaged_position_is_named(tmp_path: Path) -> None:
    killed_run(tmp_path)
    (tmp_path / "j.position").write_bytes(b"x" * 20)
    with pytest.raises(JournalError, match=r"j.position: damaged; restore it .* or delete it"):
        Journal(tmp_path / "j")
