"""The words of bots, files and names act on no terminal and in no log, whatever shows them."""

import json
import shutil
import unicodedata
from pathlib import Path

import pytest
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from asara_server.cli.display.console import (
    err,
    make_table,
    notify,
    out,
    show_line,
    show_quoted,
    warn,
)
from asara_server.match.spec import Player
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.names import name_fault
from tests.cli.command import asara, on_terminal, refusal
from tests.match.playouts import EVERYTHING, random_replay, replay_bytes
from tests.tournament.runs import play
from tests.tournament.sample_bots import GOOD, write_tournament

NASTY = "\x1b[2J\x9b\x07\r[red]:bomb:\u202e\u2066\u200b\U000e0041\udc80"
LOUD = f"import sys\nsys.stderr.write({NASTY!r}.encode(errors='replace').decode() * 3)\n"


def assert_plain(text: str, *, colours: bool = False) -> None:
    """With `colours`, the escape sequences that rich writes itself are allowed."""
    if colours:
        text = Text.from_ansi(text).plain
    hidden = [char for char in text if not char.isprintable() and char != "\n"]
    assert not hidden, (hidden, text)


@pytest.mark.parametrize("make", [str, Text, Padding, lambda text: make_table(["a"], [[text]])])
def test_whatever_is_printed_is_plain(make, capsys: pytest.CaptureFixture[str]) -> None:
    for console in (out, err):
        assert isinstance(console, Console)
        console.print(make(NASTY), soft_wrap=True)
    for shown in capsys.readouterr():
        assert_plain(shown)
        assert "[red]:bomb:\\u202e" in shown.replace("\n", "")


@pytest.mark.parametrize("terminal", [True, False])
def test_sentences_are_broken_between_words_on_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for console in (out, err):
        monkeypatch.setattr(console, "_force_terminal", terminal)
        monkeypatch.setattr(console, "_width", 12)
    show_line("in /runs/spring-cup now")
    show_quoted(["    return 1 + 2"])
    notify("in /runs/spring-cup now")
    warn("in /runs/spring-cup now", indent=2)
    sentence = "in\n/runs/spring-cup\nnow\n" if terminal else "in /runs/spring-cup now\n"
    shown = capsys.readouterr()
    quoted = "  |\n  | return 1\n  | + 2\n" if terminal else "  |     return 1 + 2\n"
    assert shown.out == sentence + quoted
    warning = "".join(f"  {line}\n" for line in sentence.splitlines())
    assert Text.from_ansi(shown.err).plain == sentence + warning


def test_tables_are_broken_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table(["entry", ">score", "why"], [["go-random", "0.5", "a path /runs/cup"]])
    for width in (30, 20):
        out.print(table, width=width)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        *("entry      score  why", "go-random    0.5  a path", "                  /runs/cup"),
        *("entry  go-random", "score  0.5", "why    a path", "       /runs/cup"),
    ]


@pytest.mark.parametrize("command", ["plan", "check", "run"])
def test_a_title_is_visible(tmp_path: Path, command: str) -> None:
    file = write_tournament(tmp_path, {"ann": GOOD, "bob": GOOD}, 'title = "x\\u001b[2J"\n')
    where = ("--out", tmp_path / "run") if command == "run" else ()
    said = refusal("tournament", command, file, *where)
    assert_plain(said)
    assert "title: 'x\\x1b[2J' has characters that are not visible; leave them out" in said


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("b\u115fot", "character 2, U+115F HANGUL CHOSEONG FILLER, is invisible; leave it out"),
        ("bot\ufe0f", "character 4, U+FE0F VARIATION SELECTOR-16, is invisible"),
        ("bot\u3164", "has characters with another usual form"),
        ("\uff42ot", "has characters with another usual form; write 'bot'"),
        ("cafe\u0301", "has characters with another usual form; write 'caf\u00e9'"),
        ("b\u043et", "character 2, U+043E CYRILLIC SMALL LETTER O, is of another script"),
        ("bot\u732b", "character 4, U+732B CJK UNIFIED IDEOGRAPH-732B, is of another script"),
        ("\u05d1\u05d5\u05d8", "character 1, U+05D1 HEBREW LETTER BET, is written from right"),
        ("bot\u0661", "character 4, U+0661 ARABIC-INDIC DIGIT ONE, is written from right"),
        ("\u0e01\u0e47\u0e47\u0e47", "character 4, U+0E47 THAI CHARACTER MAITAIKHU, is not one of"),
        ("a\u200db", "character 2, U+200D ZERO WIDTH JOINER, cannot be part of a file name"),
        ("a  b", "single spaces inside only"),
    ],
)
def test_names_are_visible_of_one_script_and_left_to_right(name: str, fault: str) -> None:
    assert fault in name_fault(name)


@pytest.mark.parametrize(
    "name", ["bot-2", "caf\u00e9", "\u732b\u30ed\u30dc", "\u0431\u043e\u0442 2", "हिन्दी", "봇"]
)
def test_names_in_any_script_are_names(name: str) -> None:
    assert name_fault(unicodedata.normalize("NFC", name)) == ""


@pytest.mark.long
def test_words_of_a_submission_reach_no_terminal(tmp_path: Path) -> None:
    """Its folder, `bot.toml`, build and bot all say what a terminal would obey."""
    folders = tmp_path / "submissions"
    for name, toml in (
        ("good", 'command = "python main.py"'),
        ("loud", 'command = "python main.py"\nname = "x\\u001b[2J"'),
        ("dead", 'command = "python main.py"\nbuild = "python build.py"'),
        ("exits", 'command = "python main.py"'),
        ("\x1b[2J\u202e", 'command = "python main.py"'),
        ("key", '"\\u001b[2J" = 1'),
        ("word", 'command = "../\\u001b[2J\\u202e"'),
    ):
        folder = folders / name
        folder.mkdir(parents=True)
        (folder / "bot.toml").write_text(toml)
        (folder / "main.py").write_text(GOOD if name != "exits" else f"{LOUD}sys.exit(3)\n")
        (folder / "build.py").write_text(f"{LOUD}sys.exit(3)\n")
    file = tmp_path / "cup.toml"
    file.write_text('title = "Cup"\nseats = 2\nrules = "basic"\nentries_from = "submissions/*"\n')
    where = tmp_path / "run"
    done = asara("tournament", "run", file, "--out", where, "--sandbox", "none", status=0)
    assert "dead is out" in done.stderr
    for one in (
        done,
        asara("tournament", "check", file, "--sandbox", "none"),
        asara("status", where),
        asara("bundle", where),
    ):
        assert_plain(one.stdout + one.stderr)
    assert_plain(on_terminal("status", where), colours=True)
    assert_plain((where / "run.log").read_text())


def test_words_in_a_strangers_replay_reach_no_terminal(tmp_path: Path) -> None:
    word = NASTY.removesuffix("\udc80")  # UTF-8 has no lone surrogate
    players = tuple(Player(f"{seat}{word}", f"token {seat}") for seat in range(3))
    replay = random_replay(EVERYTHING, 3, seed=8, players=players, match_id=word)
    file = tmp_path / "a\x1b[2J\u202e.asara"
    file.write_bytes(replay_bytes(replay, SigningKey.new()))
    other = tmp_path / "b.asara"
    other.write_bytes(replay_bytes(random_replay(EVERYTHING, 3, seed=8), SigningKey.new()))
    for words in (("show", file), ("clock", file), ("export", file), ("diff", file, other)):
        done = asara("replay", *words)
        assert done.stdout, done.stderr
        assert_plain(done.stdout + done.stderr)
    for path in (file, tmp_path / "none\x1b[2J"):
        done = asara("audit", path)
        assert_plain(done.stdout + done.stderr)


@pytest.mark.long
def test_words_in_a_strangers_run_reach_no_terminal(tmp_path: Path) -> None:
    """Every text in every file of a run is such a word."""
    made = tmp_path / "made"
    play(
        write_tournament(tmp_path, {"ann": GOOD, "bob": GOOD}, "seats = 2\nrules = 'basic'\n"), made
    )
    for path in ("run.json", "results.jsonl", "manifest.json", "standings.json"):
        run = tmp_path / f"run-{path}"
        shutil.copytree(made, run)
        lines = (made / path).read_text()
        parts = lines.splitlines() if path.endswith("l") else [lines]
        (run / path).write_text("\n".join(json.dumps(spoilt(json.loads(one))) for one in parts))
        for command in ("status", "audit", "report"):
            done = asara(command, run)
            assert_plain(done.stdout + done.stderr)


def spoilt(value: object, key: str = "") -> object:
    """Return a value in which texts that name something have such words at their ends."""
    if isinstance(value, dict):
        return {name: spoilt(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [spoilt(one, key) for one in value]
    named = ("title", "entry", "entries", "match_id", "detail", "remote", "asara", "edition")
    return f"{value}{NASTY}" if isinstance(value, str) and key in named else value
