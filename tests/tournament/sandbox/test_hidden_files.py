"""The messages about files for which a bot asked and that the sandbox hides."""

from pathlib import Path

import pytest

from asara_server.tournament.config.tournament_file import Limits, check_tournament
from asara_server.tournament.sandbox.hidden_files import HiddenFiles, reports_missing_file
from asara_server.tournament.sandbox.own_files import EntryFiles
from asara_server.tournament.sandbox.spec import ReservedPaths

MIB = 1 << 20
REMEDY = 'let the bot read it with --readable {0} (readable = ["{0}"] in a tournament file)'


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: it holds a tournament file, a run and two bots."""
    base = tmp_path / "cups"
    names = ("a.py", "b.py", "cup.toml", "run/run.json", ".deps/x.js", "tools.py", "data/large")
    for name in (*names, "one/main.py", "old/run.json", "old/logs/x", "old/replays/x"):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).touch()
    (base / "data" / "large").write_bytes(bytes(2 * MIB))
    monkeypatch.chdir(base)
    return base


def explain(base: Path, printed: str, command: str = "python a.py") -> str:
    commands = {"a": command, "b": "python b.py", "one": "python one/main.py"}
    entries = [{"name": name, "command": command} for name, command in commands.items()]
    data = {"title": "Cup", "seats": 2, "rules": "basic", "entries": entries}
    found = check_tournament(data, name="cup.toml", base=base).entries
    reserved = ReservedPaths((base / "cup.toml", base / "run"), (base,))
    own = EntryFiles(found, reserved, Limits(directory_mib=1)).of(found[0])
    return HiddenFiles(found[0], own).explain(printed) if reports_missing_file(printed) else ""


@pytest.mark.parametrize(
    "printed",
    [
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/large'",
        "Error: ENOENT: no such file or directory, open 'data/large'",
        "panic: open data/large: no such file or directory",
        "java.io.FileNotFoundException: data/large (No such file or directory)",
        "java.nio.file.NoSuchFileException: data/large",
        "cat: data/large: No such file or directory",
        "sh: 0: cannot open data/large: No such file",
    ],
)
def test_what_is_too_large_is_named_in_every_language(base: Path, printed: str) -> None:
    assert explain(base, f"loading\n{printed}\n    at line 3\n") == (
        f"the sandbox hid data/large: with it, {base} exceeds limits.directory_mib; "
        + REMEDY.format("data/large")
    )


def test_the_program_of_another_entry_is_named_with_the_remedy(base: Path) -> None:
    common = "; move what both bots need to another file, or "
    assert explain(base, "ModuleNotFoundError: No module named 'b'") == (
        "the sandbox hid b.py: it is the program of another entry" + common + REMEDY.format("b.py")
    )
    assert explain(base, "No such file: 'one/weights'").startswith(
        "the sandbox hid one/weights: it belongs to another entry; move"
    )


@pytest.mark.parametrize("name", ["cup.toml", "run/run.journal", "old/replays/x", "./run"])
def test_what_belongs_to_the_referee_has_no_remedy(base: Path, name: str) -> None:
    assert explain(base, f"no such file or directory: {name!r}") == (
        f"the sandbox hid {name.removeprefix('./')}: it belongs to the referee"
    )


def test_folders_with_a_dot_are_named_for_node_without_the_ending(base: Path) -> None:
    assert explain(base, "Error: Cannot find module './.deps/x'\nRequire stack:") == (
        "the sandbox hid .deps/x.js: folders whose names begin with a dot are left out; "
        + REMEDY.format(".deps/x.js")
    )


def test_what_lies_outside_is_explained_alike_whether_it_exists_or_not(base: Path) -> None:
    """Otherwise a bot could find out which files there are."""
    (base.parent / "there.txt").touch()
    for name in ("there.txt", "not-there.txt"):
        assert explain(base, f"No such file or directory: '../{name}'") == (
            f"the sandbox hid {base.parent / name}: it is outside the bot's folder; "
            + REMEDY.format(base.parent / name)
        )
    assert "/opt/weights: it is outside" in explain(base, "can't open file '/opt/weights'")


def test_a_bot_that_starts_above_its_folder_is_told_so(base: Path) -> None:
    printed = "Error: ENOENT: no such file, open 'x.txt'\n  code: 'ENOENT',\n  path: 'x.txt'"
    assert explain(base, printed, "python one/main.py") == (
        f"the sandbox hid x.txt: the bot starts in {base}, but sees {base / 'one'}; "
        "name the file relative to the program, or " + REMEDY.format("x.txt")
    )


def test_in_a_home_the_bot_is_told_to_move(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(base))
    assert explain(base, "ModuleNotFoundError: No module named 'tools'") == (
        f"the sandbox hid tools.py: of {base} a bot sees its program alone; "
        "move the bot with its files to a folder of their own, or " + REMEDY.format("tools.py")
    )


@pytest.mark.parametrize(
    "printed",
    [
        "ModuleNotFoundError: No module named 'numpy'",
        "No such file or directory: 'weights.txt'",
        "No such file or directory: 'tools.py'",
        "sh: 1: exec: ./missing: not found",
        "No such file or directory: '/tmp/cache'",
        "No such file or directory: '/usr/share/dict/words'",
        "ValueError: run/run.json",
        "code: 'ENOENT'",
        "not found: " + "x" * 5_000,
        "not found: 'a\0b'",
    ],
)
def test_other_faults_are_not_blamed_on_the_sandbox(base: Path, printed: str) -> None:
    assert explain(base, printed) == ""
