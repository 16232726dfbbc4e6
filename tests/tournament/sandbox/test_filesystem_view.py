"""The files that the bots of an entry see."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from asara_server.tournament.config.tournament_file import Entry, check_tournament
from asara_server.tournament.sandbox.filesystem_view import own_paths


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a folder with a tournament file and bots in various subfolders."""
    names = ("one/main.py", "two/main.py", "both/a.py", "both/b.py", "deep/x/bot.py", "loose.py")
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "cup.toml").write_text("")
    (tmp_path / "models").mkdir()
    return tmp_path


def seen(base: Path, *tables: Mapping[str, object]) -> list[set[str]]:
    """Return the paths that each of these entries sees, relative to the tournament file."""
    entries = [{"name": f"bot{number}", **table} for number, table in enumerate(tables)]
    if len(entries) == 1:
        entries.append({"name": "other", "command": "env"})
    data = {"title": "Cup", "seats": 2, "rule_sets": "basic", "entries": entries}
    found: tuple[Entry, ...] = check_tournament(data, name="cup.toml", base=base).entries
    hidden = (base / "cup.toml", base / "run", base)
    return [
        {
            os.path.relpath(path, base)
            for path in (*own_paths(entry, found, hidden), *entry.readable)
        }
        for entry in found[: len(tables)]
    ]


def test_an_entry_sees_its_own_directory_as_a_whole(base: Path) -> None:
    tables = [{"command": "python main.py", "directory": name} for name in ("one", "two")]
    assert seen(base, *tables) == [{"one"}, {"two"}]


def test_entries_of_one_program_share_its_directory(base: Path) -> None:
    tables = [{"command": f"python main.py --level {n}", "directory": "one"} for n in (1, 2)]
    assert seen(base, *tables) == [{"one"}, {"one"}]


def test_the_directory_of_the_tournament_file_is_never_seen_as_a_whole(base: Path) -> None:
    tables: list[dict[str, object]] = [
        {"command": "python one/main.py"},
        {"command": "python loose.py"},
        {"command": "python -m somewhere"},
    ]
    assert seen(base, *tables) == [{"one"}, {"loose.py"}, set()]


def test_nor_is_one_that_holds_what_is_of_another_entry(base: Path) -> None:
    tables = [{"command": f"python {name}.py", "directory": "both"} for name in "ab"]
    assert seen(base, *tables) == [{"both/a.py"}, {"both/b.py"}]
    tables = [
        {"command": "python x/bot.py", "directory": "deep"},
        {"command": "python bot.py", "directory": "deep/x"},
    ]
    assert seen(base, *tables) == [{"deep/x/bot.py"}, {"deep/x"}]
    (base / "deep" / "y.py").write_text("")
    tables = [
        {"command": "python y.py", "directory": "deep"},
        {"command": "python bot.py", "directory": "deep/x"},
    ]
    assert seen(base, *tables) == [{"deep/y.py"}, {"deep/x"}]


def test_a_run_in_the_directory_keeps_it_from_being_seen(base: Path) -> None:
    (base / "run").mkdir()
    (base / "run" / "main.py").write_text("")
    assert seen(base, {"command": "python main.py", "directory": "run"}) == [{"run/main.py"}]


def test_what_is_named_as_readable_is_seen_besides(base: Path) -> None:
    table = {"command": "python main.py", "directory": "one", "readable": ["models", "loose.py"]}
    assert seen(base, table) == [{"one", "models", "loose.py"}]


def test_a_link_shows_nothing_that_its_author_chose(base: Path) -> None:
    (base / "loose.py").unlink()
    (base / "loose.py").symlink_to(base / "cup.toml")
    (base / "two" / "main.py").unlink()
    (base / "two" / "main.py").symlink_to("/etc/passwd")
    assert seen(base, {"command": "python two/main.py"}) == [set()]
    (base / "three").symlink_to("/etc")
    assert seen(base, {"command": "python three/passwd"}) == [set()]
    assert seen(base, {"command": "python loose.py"}) == [set()]


def test_a_file_elsewhere_is_seen_alone(base: Path) -> None:
    table: dict[str, object] = {"command": f"python one/main.py {base}/both/a.py", "directory": "."}
    assert seen(base, table) == [{"one", "both"}]
    outside = base.parent / "outside.txt"
    outside.write_text("")
    assert seen(base, {"command": f"python one/main.py {outside}"}) == [{"one", "../outside.txt"}]
