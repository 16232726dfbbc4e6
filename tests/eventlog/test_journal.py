import os
import sqlite3
import stat
from pathlib import Path

import pytest

from asara_server.eventlog.journal import Ended, Journal, JournalError


def records(journal: Journal) -> dict[str, tuple[bytes, ...]]:
    return {name: match.records for name, match in journal.unfinished.items()}


def abandon(journal: Journal) -> None:
    """Leave the file as a kill does: nothing is committed or closed."""
    journal._database.close()


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
    assert rows() == 3
    journal.end("one", "done", None)
    assert rows() == 1
    abandon(journal)
    journal = Journal(tmp_path / "j")
    assert records(journal) == {"three": (b"start",)}
    journal.end("three", "done", None)
    assert rows() == 0
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
    with pytest.raises(JournalError, match="journal format 99; this program has format 1"):
        Journal(tmp_path / "newer")
    with pytest.raises(JournalError, match="No such file"):
        Journal(tmp_path / "no" / "folder")


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.add(journal.begin("one", b"h", ("a",)), b"start")
        journal.commit()
        journal._execute("UPDATE log SET frames = x'0199'")
    with pytest.raises(JournalError, match="row 1 of its log is damaged"):
        Journal(tmp_path / "j")


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
