"""Entries from folders: who takes part, under which name, and what a stranger cannot set."""

import os
import random
import socket
from pathlib import Path

import pytest

from asara_server.tournament.config.entry_folders import BOT_FILE
from asara_server.tournament.config.tournament_file import (
    ConfigError,
    Entry,
    Limits,
    Tournament,
    load_tournament,
)
from asara_server.tournament.sandbox.filesystem_view import EntryFiles
from asara_server.tournament.sandbox.resources import NOTHING_RESERVED
from tests.cli.mutations import mutate_bytes, mutate_toml, put_odd_file
from tests.found_cases import seeds
from tests.tournament.sample_bots import SEED

HEAD = f"""
title = "Evening"
seats = 2
rules = "basic"
seed = "{SEED}"
entries_from = "submissions/*"
"""
PLAIN = 'command = "python bot.py"\n'


def submit(folder: Path, name: str, text: str = PLAIN) -> Path:
    """Put a bot into a folder of submissions."""
    path = folder / "submissions" / name
    path.mkdir(parents=True)
    (path / "bot.py").touch()
    (path / BOT_FILE).write_text(text)
    return path


def load(folder: Path, tables: str = "") -> Tournament:
    (folder / "cup.toml").write_text(HEAD + tables)
    return load_tournament(folder / "cup.toml")


def why(folder: Path, text: str) -> str:
    """Return why a folder with this `bot.toml` is left out."""
    (folder / "submissions" / "eve" / BOT_FILE).write_text(text)
    (left_out,) = load(folder).left_out
    assert left_out.folder == "eve"
    assert str(folder) not in left_out.why
    return left_out.why


@pytest.fixture
def evening(tmp_path: Path) -> Path:
    """Return a folder with three submissions: ann, bob, and eve."""
    for name in ("ann", "bob", "eve"):
        submit(tmp_path, name)
    return tmp_path


def test_a_bot_file_sets_what_concerns_its_own_bot(evening: Path) -> None:
    weights = evening / "submissions" / "eve" / "weights"
    weights.mkdir()
    text = (
        'name = "Evening star"\ncommand = ["/usr/bin/env", "python"]\nbuild = "make all"\n'
        'environment = { LEVEL = 3 }\nreadable = ["weights"]\n'
    )
    (evening / "submissions" / "eve" / BOT_FILE).write_text(text)
    entry = load(evening).entries[-1]
    assert entry.name == "Evening star"
    assert entry.command == ("/usr/bin/env", "python")
    assert entry.build == ("make", "all")
    assert entry.environment == {"LEVEL": "3"}
    assert weights in [Path(path) for path in entry.readable]


def test_a_broken_bot_file_is_named_and_the_others_play(evening: Path) -> None:
    assert why(evening, "command = ") == (
        "submissions/eve/bot.toml: is not valid TOML: Invalid value (at end of document)"
    )
    assert [entry.name for entry in load(evening).entries] == ["ann", "bob"]
    assert why(evening, "") == "submissions/eve/bot.toml: command: is missing"
    assert why(evening, 'command = "python bto.py"') == (
        "submissions/eve/bot.toml: command: no such file 'bto.py' in submissions/eve; "
        "did you mean 'bot.py'?"
    )
    assert "did you mean 'command'" in why(evening, 'comand = "python bot.py"')
    (evening / "submissions" / "eve" / BOT_FILE).unlink()
    (left_out,) = load(evening).left_out
    assert left_out.lines == [
        "skipped: submissions/eve/bot.toml: no such file; it says at least: command = …"
    ]


def test_what_is_no_folder_is_named(evening: Path) -> None:
    (evening / "submissions" / "late.zip").touch()
    (evening / "submissions" / "link").symlink_to(evening)
    (evening / "submissions" / ".git").mkdir()
    assert [one.why for one in load(evening).left_out] == [
        "submissions/late.zip: is a file; unpack it, or move it elsewhere",
        "submissions/link: is a link; copy the folder itself",
    ]


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("submissions/", "must be a folder and a pattern for the folders in it"),
        ("*/ann", "must be a folder and a pattern for the folders in it"),
        ("", "must be a folder and a pattern for the folders in it"),
        ("entries/*", "cannot be read: No such file or directory"),
        ("submissions/x*", "'submissions/x*' finds nothing; put each entry into a folder"),
    ],
)
def test_a_pattern_that_finds_nothing_stops_the_evening(
    evening: Path, pattern: str, fault: str
) -> None:
    (evening / "cup.toml").write_text(HEAD.replace("submissions/*", pattern))
    with pytest.raises(ConfigError, match="entries_from: ") as caught:
        load_tournament(evening / "cup.toml")
    assert fault in str(caught.value)


def test_too_few_entries_are_an_error_that_names_the_folders_left_out(evening: Path) -> None:
    for name in ("ann", "bob"):
        (evening / "submissions" / name / BOT_FILE).write_text("")
    with pytest.raises(ConfigError) as caught:
        load(evening)
    assert caught.value.lines[0].startswith("cup.toml: seats: 2 seats need at least 2 entries")
    assert caught.value.lines[1:] == (
        "skipped: submissions/ann/bot.toml: command: is missing",
        "skipped: submissions/bob/bot.toml: command: is missing",
    )


# What a stranger cannot set


OF_THE_ORGANISER = ("team", "token", "loopback", "directory", "limits", "memory_mib", "build_s")
ELSEWHERE = (
    "../ann/bot.py",
    "/etc/passwd",
    "sub/../../ann/bot.py",
    "link",
    "link/ann/bot.py",
    "..",
)
UNREADABLE = ("../ann", "/", "link", "link/../ann", "\\u0000")
REFUSED = [
    *(
        (f'{PLAIN}{key} = "1"', f"{key}: is for the organiser to set, in the tournament file; ")
        for key in OF_THE_ORGANISER
    ),
    *(
        (f'command = ["python", "{word}"]', f"command: {word!r} leads out of the folder")
        for word in ELSEWHERE
    ),
    *(
        (f'{PLAIN}build = ["python", "{word}"]', f"build: {word!r} leads out of the folder")
        for word in ELSEWHERE
    ),
    *((f'{PLAIN}readable = ["{path}"]', "leads out of the folder") for path in UNREADABLE),
    (f'{PLAIN}readable = ["~"]', "readable: "),
    (f'{PLAIN}readable = ["."]', "'.' is the folder itself; name only large parts of it"),
    *(
        (f'{PLAIN}environment = {{ "{name}" = "x" }}', "environment: ")
        for name in ("PATH", "ASARA_TOKEN", "ASARA_TRANSCRIPT", "A=B")
    ),
]


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_concerns_others_or_leads_elsewhere_is_refused(
    evening: Path, text: str, says: str
) -> None:
    eve = evening / "submissions" / "eve"
    (eve / "link").symlink_to(evening / "submissions")
    (eve / "ann").mkdir()
    assert says in why(evening, text)


def test_an_error_does_not_say_what_lies_outside(evening: Path) -> None:
    there = why(evening, 'command = ["python", "../ann/bot.py"]')
    absent = why(evening, 'command = ["python", "../ann/no.py"]')
    assert there.replace("bot.py", "no.py") == absent


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_bots_do_not_share_what_they_could_talk_through(
    evening: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = evening / "submissions" / "eve" / "shared"
    shared.mkdir()
    monkeypatch.chdir(shared)
    if kind == "pipe":
        os.mkfifo("p")
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("s")
    assert "a device, a pipe or a socket" in why(evening, f'{PLAIN}readable = ["shared"]')


@pytest.mark.parametrize("names", [("ANN",), ("House",), ("Champion", "Champion")])
def test_nobody_takes_the_name_of_another(evening: Path, names: tuple[str, ...]) -> None:
    """Those who ask for it are called by their folders."""
    asked = dict(zip(("eve", "bob"), names, strict=False))
    for folder, name in asked.items():
        (evening / "submissions" / folder / BOT_FILE).write_text(f'name = "{name}"\n{PLAIN}')
    tournament = load(evening, '[[entries]]\nname = "house"\ncommand = "env"')
    assert [entry.name for entry in tournament.entries] == ["house", "ann", "bob", "eve"]
    assert sorted(tournament.notes) == [
        f"submissions/{folder}/bot.toml: name: {name!r} is also the name of another entry; this "
        f"entry plays as {folder!r}"
        for folder, name in sorted(asked.items())
    ]


def test_folders_whose_names_cannot_be_used_need_another(evening: Path) -> None:
    submit(evening, "Eve")
    submit(evening, "x" * 50)
    submit(evening, "y" * 50, f'name = "yves"\n{PLAIN}')
    table = '[[entries]]\nname = "ann"\ncommand = "env"'
    tournament = load(evening, table)
    assert [entry.name for entry in tournament.entries] == ["ann", "Eve", "bob", "yves"]
    ann, eve, long = [one.why for one in tournament.left_out]
    assert "ann/bot.toml: an entry of the tournament file has the name of this folder; " in ann
    assert "eve/bot.toml: an entry of the folder 'Eve' has the name of this folder; " in eve
    assert "name: is missing, and the name of the folder cannot be used: must have 1 to" in long


# Fuzz

VALID = """
name = "Evening star"
command = ["python", "bot.py"]
build = "./bot.sh --fast"
readable = ["weights"]

[environment]
LEVEL = "3"
"""


def stays_home(entry: Entry, entries: tuple[Entry, ...]) -> bool:
    """Return True if nothing that a bot of the entry sees, or is started with, lies elsewhere."""
    own = EntryFiles(entries, NOTHING_RESERVED, Limits()).of(entry)
    seen = [*own.paths, *own.named, *map(Path, entry.readable)]
    return (
        own.paths == (entry.directory,)
        and all(path.resolve().is_relative_to(entry.directory) for path in seen)
        and not (entry.team or entry.token or "PATH" in entry.environment)
    )


@pytest.mark.parametrize("module", ["{}/submissions/ann/bot", "x.{}/submissions/ann/bot", "..ann"])
def test_no_module_leads_to_files_of_others(evening: Path, module: str) -> None:
    text = f'command = ["python", "-m", "{module.format(evening)}"]'
    (evening / "submissions" / "eve" / BOT_FILE).write_text(text)
    tournament = load(evening)
    assert all(stays_home(entry, tournament.entries) for entry in tournament.entries)


def test_no_bot_file_stops_the_evening_or_reaches_out_of_its_folder(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        submit(tmp_path, name)
    eve = submit(tmp_path, "eve", VALID)
    (eve / "weights").mkdir()
    (eve / "bot.sh").touch(0o755)
    (eve / "link").symlink_to(tmp_path / "submissions" / "ann")
    for seed in seeds(100):
        dice = random.Random(seed)
        file = eve / BOT_FILE
        if dice.random() < 0.1:
            put_odd_file(file, dice)
        else:
            mutate = mutate_toml if dice.random() < 0.7 else mutate_bytes
            file.write_bytes(mutate(VALID.encode(), dice))
        tournament = load(tmp_path)  # a ConfigError would stop the evening
        names = [entry.name for entry in tournament.entries]
        assert names[:2] == ["ann", "bob"], seed
        assert len(names) + len(tournament.left_out) == 3, seed
        assert all(stays_home(entry, tournament.entries) for entry in tournament.entries), seed
        assert all(line.isprintable() for one in tournament.left_out for line in one.lines), seed
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        else:
            file.unlink(missing_ok=True)
