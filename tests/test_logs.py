"""One line per fact, for people or for programs."""

import io
import json
import logging

import pytest

from asara_server import logs
from asara_server.text import plain


def lines(form, level="info"):
    """What is written when facts of several kinds are logged."""
    stream = io.StringIO()
    logs.configure(level, form, stream)
    log = logs.logger("referee", match="m1")
    log.debug("asked", seat=1)
    log.info("seat forfeited", seat=2, detail=plain("a\x1b[2Jb\nc"))
    logging.getLogger("grpc").warning("port %s", 7)
    return stream.getvalue().splitlines()


def test_json_has_one_object_per_line():
    fact, warning = map(json.loads, lines("json"))
    assert fact["event"] == "seat forfeited"
    assert (fact["part"], fact["match"], fact["seat"]) == ("referee", "m1", 2)
    assert fact["level"] == "info"
    assert fact["timestamp"].endswith("Z")
    assert (warning["event"], warning["level"]) == ("port 7", "warning")


def test_console_has_one_line_per_fact():
    fact, warning = lines("console")
    assert "seat forfeited" in fact
    assert "\x1b" not in fact, "no colours but on a terminal, and none of the bot's"
    assert "port 7" in warning


def test_levels():
    assert len(lines("json", "debug")) == 3
    assert len(lines("json", "warning")) == 1
    assert len(lines("json", "error")) == 0


def test_a_fact_goes_to_a_file_and_to_standard_error(monkeypatch):
    file, before, while_a_bar_is_drawn = io.StringIO(), io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", before)
    logs.configure("info", "json", file, to_stderr=True)
    log = logs.logger("referee")
    log.info("match started")
    monkeypatch.setattr("sys.stderr", while_a_bar_is_drawn)
    log.info("match over")
    both = file.getvalue().splitlines()
    assert [json.loads(line)["event"] for line in both] == ["match started", "match over"]
    assert before.getvalue() + while_a_bar_is_drawn.getvalue() == file.getvalue()
    assert "match over" in while_a_bar_is_drawn.getvalue()


@pytest.mark.parametrize("form", logs.FORMATS)
def test_tracebacks_do_not_show_values(form):
    stream = io.StringIO()
    logs.configure("info", form, stream)
    hand = "four purple"
    try:
        raise RuntimeError("broke")
    except RuntimeError as error:
        logs.logger("referee").error("match void", exc_info=error)
    assert "RuntimeError" in stream.getvalue()
    assert hand not in stream.getvalue()


def test_levels_and_formats_that_do_not_exist():
    with pytest.raises(ValueError, match="log level 'loud': use one of debug"):
        logs.configure("loud")
    with pytest.raises(ValueError, match="log format 'xml': use one of console"):
        logs.configure(form="xml")
