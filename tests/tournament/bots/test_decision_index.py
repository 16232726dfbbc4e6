"""What a bot wrote during each of its decisions."""

from pathlib import Path

import pytest

from asara_server.replay.file import read_replay
from asara_server.tournament.bots.output import (
    LONGEST_TEXT,
    OutputLog,
    decision_texts,
    index_of,
    moved_index,
)
from tests.cli.command import asara


def written(folder: Path, *parts: tuple[int, bytes], limit: int = 100_000) -> Path:
    """The run of a match in which "bot" on seat 0 wrote each part after this decision was asked."""
    path = folder / "logs" / "m1" / "0-bot.log"
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    log = OutputLog(path, limit)
    log.note("process 1")
    asked = 0
    log.begin_match(lambda: asked)
    for asked, data in parts:  # noqa: B007 - the log asks for it
        log.write(data)
    log.end_match()
    log.note("exited with status 0")
    log.close()
    return folder


def texts(run: Path) -> dict[tuple[int, int], str]:
    return decision_texts(run, "m1", ["bot", "other"])


def test_a_bot_cannot_write_a_place_into_its_log(tmp_path: Path) -> None:
    run = written(tmp_path, (1, b"0 7\n# 12:00:00 decision 9\n"), (2, b"two\n"))
    assert texts(run) == {(0, 1): "0 7", (0, 2): "two"}


def test_text_is_safe_to_show_and_bounded(tmp_path: Path) -> None:
    parts = [(number, b"x" * 150 + b"\n") for number in range(1, 2_000)]
    run = written(tmp_path, (1, b"\x1b[31mred\x1b[0m\xff\xe2\x80\xae\n"), *parts, limit=10**6)
    found = texts(run)
    assert found[0, 1].startswith("red\ufffd \n")
    assert sum(map(len, found.values())) <= 64_000
    run = written(tmp_path / "long", (1, b"y\n" * 9_000), limit=10**6)
    assert len(texts(run)[0, 1]) == LONGEST_TEXT


def test_the_log_is_cut_and_its_index_ends_there(tmp_path: Path) -> None:
    run = written(tmp_path, (1, b"a" * 100 + b"\n"), (2, b"b" * 2_000), (3, b"c\n"), limit=1_000)
    found = texts(run)
    assert found[0, 1] == "a" * 100
    assert set(found) == {(0, 1), (0, 2)}
    assert "cut" not in found[0, 2]


def test_a_match_that_began_again_counts_once(tmp_path: Path) -> None:
    run = written(tmp_path, (1, b"old one\n"), (2, b"old two\n"), (3, b"old three\n"))
    written(tmp_path, (1, b"new one\n"), (2, b"new two\n"))
    assert texts(run) == {(0, 1): "old one\nnew one", (0, 2): "new two"}


def test_an_index_moves_with_its_log(tmp_path: Path) -> None:
    run = written(tmp_path, (1, b"one\n"))
    log = run / "logs" / "m1" / "0-bot.log"
    index = index_of(log)
    index.write_bytes(moved_index(index.read_bytes(), 5))
    log.write_bytes(b"1234\n" + log.read_bytes())
    assert texts(run) == {(0, 1): "one"}


@pytest.mark.parametrize("match_id", ["..", "../m1", "/etc", "m1/..", ""])
def test_a_forged_name_leads_nowhere_else(tmp_path: Path, match_id: str) -> None:
    written(tmp_path, (1, b"one\n"))
    assert decision_texts(tmp_path, match_id, ["bot"]) == {}
    assert decision_texts(tmp_path / "logs", match_id, ["../m1/0-bot"]) == {}


def test_damaged_indexes_are_harmless(tmp_path: Path) -> None:
    run = written(tmp_path, (1, b"one\n"))
    index = index_of(run / "logs" / "m1" / "0-bot.log")
    for damaged in (b"\xff\n", b"-1 1\n", b"99999 1\n5 2\n", b"9" * 5_000 + b" 1\n", b"1 1"):
        index.write_bytes(damaged)
        assert set(texts(run)) <= {(0, 2)}
    index.unlink()
    index.mkdir()
    assert texts(run) == {}


def test_the_bots_of_a_match_are_understood(tmp_path: Path) -> None:
    """Every line of a bot that writes one per decision is found with its decision."""
    bot = tmp_path / "talker.py"
    bot.write_text(
        "import sys\nimport asara\n\n"
        "def decide(decision, match):\n"
        "    print('seat', match.seat, 'decision', decision.decision_id, file=sys.stderr)\n"
        "    return match.random_action(decision)\n\n"
        "asara.run(decide, bot_name='talker')\n"
    )
    done = asara("match", bot, "random", "--out", tmp_path / "run", "--seed", "1")
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "run" / "replays").iterdir()
    header = read_replay(file).header
    found = decision_texts(tmp_path / "run", header.match_id, header.entries)
    lines = [line for text in found.values() for line in text.splitlines()]
    assert lines == [f"seat 0 decision {number}" for number in range(1, len(lines) + 1)]
    assert len(lines) > 20
    right = sum(text == f"seat 0 decision {number}" for (_, number), text in found.items())
    assert right >= 0.9 * len(lines)  # some are read late on a busy machine
