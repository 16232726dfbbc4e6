"""One line per fact."""

import io
import logging
import re
import time
from pathlib import Path

import pytest

from asara_server import logs


def lines(level="info"):
    """What is written when facts of several kinds are logged."""
    stream = io.StringIO()
    logs.configure(level, stream)
    log = logs.logger("referee", match="m1")
    log.debug("asked", seat=1)
    log.info("seat forfeited", seat=2, detail="a\x1b[2Jb\nc")
    logging.getLogger("grpc").warning("port %s", 7)
    return stream.getvalue().splitlines()


def test_a_fact_is_one_line_from_its_level_on():
    fact, warning = lines()
    for words in ("[info", "seat forfeited", "part=referee", "match=m1", "seat=2"):
        assert words in fact
    assert "\x1b" not in fact, "no colours but on a terminal, and none of the bot's"
    assert "port 7" in warning
    assert [len(lines(level)) for level in ("debug", "warning", "error")] == [3, 1, 0]
    with pytest.raises(ValueError, match="log level 'loud': use one of debug"):
        logs.configure("loud")


def test_a_fact_is_one_plain_line_whoever_wrote_its_words():
    stream = io.StringIO()
    nasty = "x\x1b[2J\x9b\n2026 [info] forged\u202e\U000e0041"
    logs.configure("info", stream)
    logs.logger("referee").info("bot ended", how=nasty, printed=[nasty], by={nasty: nasty})
    logging.getLogger("grpc").warning("peer %s", nasty)
    assert len(stream.getvalue().splitlines()) == 2
    try:
        raise ValueError(nasty)
    except ValueError as error:
        logs.logger("referee").error("match void", exc_info=error)
    hidden = {char for char in stream.getvalue() if not char.isprintable()}
    assert hidden == {"\n"}


def test_a_fact_goes_to_a_file_and_to_standard_error(monkeypatch):
    file, before, while_a_bar_is_drawn = io.StringIO(), io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", before)
    logs.configure("info", file, to_stderr=True)
    log = logs.logger("referee")
    log.info("match started")
    monkeypatch.setattr("sys.stderr", while_a_bar_is_drawn)
    log.info("match over")
    first, second = file.getvalue().splitlines()
    assert "match started" in first
    assert "match over" in second
    assert before.getvalue() + while_a_bar_is_drawn.getvalue() == file.getvalue()
    assert "match over" in while_a_bar_is_drawn.getvalue()


def test_tracebacks_do_not_show_values():
    stream = io.StringIO()
    logs.configure("info", stream)
    hand = "four purple"
    try:
        raise RuntimeError("broke")
    except RuntimeError as error:
        logs.logger("referee").error("match void", exc_info=error)
    assert "RuntimeError" in stream.getvalue()
    assert hand not in stream.getvalue()


def test_a_bot_that_connects_all_the_time_does_not_fill_the_log(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    with path.open("a", buffering=1) as file:
        logs.configure("info", stream=file)
        log = logs.logger("referee")
        for _ in range(10_000):
            log.info("bot connected", entry="loop")
        log.info("bot connected", entry="other")
        for number in range(500):
            log.info("match started", match=f"m{number}")
        logs.log_left_out()
        logs.log_left_out()
    lines = path.read_text().splitlines()
    looping = [line for line in lines if "entry=loop" in line]
    assert logs.REPEATS <= len(looping) <= logs.REPEATS + 20
    left_out = sum(int(n) for line in looping for n in re.findall(r"left_out=(\d+)", line))
    assert left_out == 10_000 - (len(looping) - 1)
    assert "similar lines left out" in looping[-1]
    assert sum("entry=other" in line for line in lines) == 1
    assert sum("match started" in line for line in lines) == 500


def test_lines_that_are_left_out_for_a_while_are_counted_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.log"
    with path.open("a", buffering=1) as file:
        logs.configure("info", stream=file)
        log = logs.logger("referee")
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now)
        for _ in range(logs.REPEATS + 100):
            log.info("bot lost", entry="x")
        monkeypatch.setattr(time, "monotonic", lambda: now + 60)
        log.info("bot lost", entry="x")
        log.info("bot lost", entry="x")
    *_, before, last = path.read_text().splitlines()
    assert int(before.partition("left_out=")[2].split()[0]) == 100
    assert "left_out" not in last
