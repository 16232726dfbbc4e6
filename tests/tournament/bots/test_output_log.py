"""What a log keeps of a bot's output: in its file, in its index and in memory."""

import re
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from asara_server.tournament.bots.output import OutputLog, last_printed

FULL = Path("/dev/full")
KIB_64 = 1 << 16


def test_a_file_has_output_and_notes_up_to_its_limit_and_the_tap_output_alone(
    tmp_path: Path,
) -> None:
    tapped: list[tuple[bytes, bool]] = []

    def tap(data: bytes, *, last: bool = False) -> None:
        tapped.append((data, last))

    path = tmp_path / "m1" / "0-bot.log"
    log = OutputLog(path, 30, tap)
    log.note("started")
    log.write(b"12345")
    assert re.fullmatch(rb"# \d\d:\d\d:\d\d started\n12345", path.read_bytes()), "unbuffered"
    log.write(b"67890")
    assert not log.full
    log.write(b"1")
    kept = path.read_bytes()
    assert log.full
    assert (log.cut, len(kept)) == ("", 30)
    log.write(b"over\n")
    assert log.cut == "(its output was cut at 30 bytes)"
    log.write(b"more")
    log.note("ended")
    assert log.last_lines() == ["12345678901over", "more"]
    log.close()
    mark = b"\n# cut: only 30 bytes are kept\n"
    assert path.read_bytes() == kept + mark
    assert tapped == [(b, False) for b in (b"12345", b"67890", b"1", b"", mark)] + [(b"", True)]

    further = OutputLog(path, 61, tap)
    further.write(b"abcd")
    further.close()
    further.write(b"late")
    further.note("late")
    further_mark = b"\n# cut: only 61 bytes are kept\n"
    assert path.read_bytes() == kept + mark + further_mark
    assert tapped[6:] == [(b"", False), (further_mark, False), (b"", True)]


def test_the_last_lines_are_of_this_match_or_else_of_an_earlier_one(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "1.log", 1_000)
    log.write(b"one\n")
    for number in (2, 3):
        log.switch_to(tmp_path / f"{number}.log")
        assert log.last_lines() == ["one"]
    log.write(b"asara: two\n")
    assert log.last_lines() == log.kit_message() == ["asara: two"]
    log.close()
    assert log.last_lines() == ["asara: two"]


def test_the_end_of_a_long_output_stays_in_memory(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "bot.log", 0)
    log.write(b"  two  \n\xff" + b"x" * (2 * KIB_64 - 9))
    assert log.last_text() == "  two  \n\ufffd" + "x" * (2 * KIB_64 - 9)
    log.write(b"\n \n  end \n")
    assert len(log.last_text()) == KIB_64
    assert log.lines()[-1:] == ["  end"]
    assert log.last_lines()[-1].strip() == "end"
    log.close()


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_reported_once_and_its_end_stays_known(
    tmp_path: Path,
) -> None:
    full, none = tmp_path / "0-bot.log", tmp_path / "none" / "m1" / "0-bot.log"
    full.symlink_to(FULL)
    with capture_logs() as logs:
        log = OutputLog(full, 1_000)
        log.write(b"one\n")
        log.write(b"two\n")
        assert (log.last_lines(), log.full, log.cut) == (["one", "two"], True, "")
        log.switch_to(none)
        log.write(b"three\n")
        assert (log.last_lines(), log.full, log.cut) == (["three"], True, "")
        log.close()
    assert [(each["event"], each["file"], each["why"]) for each in logs] == [
        ("output of a bot is lost", str(full), "No space left on device"),
        ("output of a bot is lost", str(none), "No such file or directory"),
    ]


def test_what_a_file_ends_with_is_read_without_notes(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    path.write_bytes(b"one")
    assert last_printed(path) == ["one"]
    path.write_bytes(b"one\n# 12:00:00 exited with status 1\n#5\n")
    assert last_printed(path) == ["one", "#5"]
    assert last_printed(tmp_path / "none") == []


def test_the_last_128_kib_of_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    path.write_bytes(b"first\n" + b" " * (2 * KIB_64 - 6) + b"\n")
    assert last_printed(path) == ["irst"]
