"""The files that the bots of an entry see."""

import os
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from asara_server.tournament.config.tournament_file import Entry, Limits, check_tournament
from asara_server.tournament.sandbox.filesystem_view import EntryFiles, ViewPreview, preview_views
from asara_server.tournament.sandbox.private_copy import copy_into_memory, reopened
from asara_server.tournament.sandbox.resources import ReservedPaths
from tests.tournament.sandbox.contained import run_entry
from tests.tournament.sandbox_config import sandbox_or_skip

MIB = 1 << 20


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a folder with a tournament file, a run, and bots in it and in subfolders."""
    write(tmp_path, "one/main.py", "two/main.py", "both/a.py", "both/b.py", "both/common.py")
    write(tmp_path, "deep/x/bot.py", "loose.py", "tools.py", "cup.toml", "models/weights")
    write(tmp_path, "run/run.json", "run/replays/m1.asara", "run/logs/m1")
    return tmp_path


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def entries_of(base: Path, tables: Sequence[Mapping[str, object]]) -> tuple[Entry, ...]:
    entries = [{"name": f"bot{number}", **table} for number, table in enumerate(tables)]
    if len(entries) == 1:
        entries.append({"name": "other", "command": "env"})
    data = {"title": "Cup", "seats": 2, "rules": "basic", "entries": entries}
    return check_tournament(data, name="cup.toml", base=base).entries


def seen(base: Path, *tables: Mapping[str, object], limit_mib: int = 128) -> list[set[str]]:
    """Return the files that each of these entries sees, relative to the tournament file."""
    entries = entries_of(base, tables)
    reserved = ReservedPaths((base / "cup.toml", base / "run"), (base,))
    files = EntryFiles(entries, reserved, Limits(directory_mib=limit_mib))
    found = []
    for entry in entries[: len(tables)]:
        copy = copy_into_memory(files.of(entry).source, limit_mib)
        paths = {*(file.path for file in copy.files), *entry.readable}
        if copy.archive is not None:
            with (
                os.fdopen(reopened(copy.archive), "rb") as archive,
                tarfile.open(fileobj=archive) as tar,
            ):
                paths |= {Path("/", name) for name in tar.getnames()}
        found.append({os.path.relpath(path, base) for path in paths if not path.is_dir()})
    return found


def previewed(base: Path, *tables: Mapping[str, object]) -> ViewPreview:
    entries = entries_of(base, tables)
    return preview_views(entries, Limits(directory_mib=1), ReservedPaths(shared=(base,)))


ALL_BUT = {"loose.py", "tools.py", "models/weights", "deep/x/bot.py"}
BOTH = {"both/a.py", "both/b.py", "both/common.py"}


def python(program: str, directory: str = "", *readable: str) -> dict[str, object]:
    """Return the table of an entry."""
    given = {"directory": directory} if directory else {}
    return {"command": f"python {program}", "readable": list(readable), **given}


class Case(NamedTuple):
    files: list[str]
    """Files that are there besides those of `base`."""
    tables: list[dict[str, object]]
    expected: list[set[str]]
    """The files that each entry sees."""


CACHED = "both/__pycache__/b.cpython-311.pyc"
CASES = {
    "its own directory as a whole": Case(
        ["one/.cache/x", "two/lib/deep/y"],
        [python("main.py", "one"), python("main.py", "two")],
        [{"one/main.py", "one/.cache/x"}, {"two/main.py", "two/lib/deep/y"}],
    ),
    "the folder of its program, wherever the tournament file lies": Case(
        [], [python("one/main.py"), python("two/main.py")], [{"one/main.py"}, {"two/main.py"}]
    ),
    "all but the program and the folder of another entry": Case(
        [],
        [python("loose.py"), python("both/a.py")],
        [ALL_BUT | {"one/main.py", "two/main.py"}, BOTH],
    ),
    "all of a common folder but the program of the other entry": Case(
        [CACHED],
        [python("a.py", "both"), python("b.py", "both")],
        [{"both/a.py", "both/common.py"}, {"both/b.py", "both/common.py", CACHED}],
    ),
    "the program of the other entry if it is readable": Case(
        [],
        [python("a.py", "both", "both/b.py"), python("b.py", "both")],
        [BOTH, {"both/b.py", "both/common.py"}],
    ),
    "no program in a subfolder": Case(
        ["deep/y.py"],
        [python("y.py", "deep"), python("bot.py", "deep/x")],
        [{"deep/y.py"}, {"deep/x/bot.py"}],
    ),
    "itself in a run": Case(["run/main.py"], [python("main.py", "run")], [{"run/main.py"}]),
    "what is readable": Case(  # the folder models is, too
        [], [python("main.py", "one", "models", "loose.py")], [{"one/main.py", "loose.py"}]
    ),
    "the folder of a program elsewhere": Case(
        ["far/bot.py", "far/tools.py"],
        [python("../far/bot.py", "one")],
        [{"one/main.py", "far/bot.py", "far/tools.py"}],
    ),
    "another file elsewhere alone": Case(
        ["data/weights", "data/secret"],
        [python("main.py ../data/weights", "one")],
        [{"one/main.py", "data/weights"}],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_entry_sees(base: Path, case: Case) -> None:
    write(base, *case.files)
    assert seen(base, *case.tables) == case.expected


@pytest.mark.parametrize("command", ["python loose.py", "python -m loose", "env ./loose.py"])
def test_a_program_is_found_in_its_command(base: Path, command: str) -> None:
    (mine, _) = seen(base, {"command": command}, python("one/main.py"))
    assert mine == ALL_BUT | BOTH | {"two/main.py"}


def test_tournament_file_run_and_key_are_hidden_beside_a_program(base: Path) -> None:
    """So are runs of other evenings, and folders with a dot, such as a version control's."""
    write(base, "old/run.json", "old/replays/m1.asara", "old/logs/m1", ".git/objects/12", ".env")
    (mine,) = seen(base, python("loose.py"))
    assert not {path for path in mine if path.startswith(("run/", "old/", ".git/", "cup."))}
    assert {"loose.py", "tools.py", ".env"} <= mine


def test_what_another_entry_alone_may_read_or_runs_behind_a_link_is_not_seen(base: Path) -> None:
    (base / "both" / "newest.py").symlink_to("b.py")
    mine, _ = seen(base, python("a.py", "both"), python("newest.py", "both"))
    assert "both/b.py" not in mine
    for program, is_seen in (("one/main.py", False), ("tools.py", True)):
        mine, _ = seen(base, python("loose.py"), python(program, "", "models"))
        assert ("models/weights" in mine) == is_seen


def test_a_program_in_a_home_is_seen_alone(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for home in (base, base / "deep"):
        monkeypatch.setenv("HOME", str(home))
        assert seen(base, python("loose.py")) == [{"loose.py"}]


def test_a_command_that_names_no_file_sees_the_directory_that_it_was_given(base: Path) -> None:
    mine = {"command": "env sh", "directory": "."}
    assert "tools.py" in seen(base, mine)[0]
    assert seen(base, {"command": "env sh"}) == [set()]
    assert "tools.py" in seen(base, {"command": "env go run ."})[0]


def test_a_link_shows_nothing_that_its_author_chose(base: Path) -> None:
    (base / "loose.py").unlink()
    (base / "loose.py").symlink_to(base / "cup.toml")
    (base / "two" / "main.py").unlink()
    (base / "two" / "main.py").symlink_to("/etc/passwd")
    assert seen(base, python("two/main.py")) == [set()]
    (base / "three").symlink_to("/etc")
    assert seen(base, python("three/passwd")) == [set()]
    assert seen(base, python("loose.py")) == [set()]


def test_the_largest_files_beside_a_program_are_left_out_and_named(base: Path) -> None:
    (base / "dump").write_bytes(bytes(3 * MIB))
    write(base, "data/small")
    (base / "data" / "large").write_bytes(bytes(2 * MIB))
    (base / "medium").write_bytes(bytes(MIB // 2))
    table = python("loose.py")
    (mine,) = seen(base, table, limit_mib=1)
    assert {"loose.py", "tools.py", "medium", "models/weights"} <= mine
    assert not {path for path in mine if path.startswith(("dump", "data/"))}
    preview = previewed(base, table)
    assert preview.left_out == {"bot0": (base / "data", base / "dump")}
    assert preview.out == {}
    (base / "loose.py").write_bytes(bytes(2 * MIB))
    assert list(previewed(base, table).out) == ["bot0"]


def test_entries_that_share_a_folder_are_named_unless_they_are_of_one_team(base: Path) -> None:
    twins = [python("one/main.py"), python("one/main.py --deep")]
    for team, together in (({}, [("bot0", "bot1")]), ({"team": "Foxes"}, [])):
        preview = previewed(base, *(python(f"both/{name}.py") | team for name in "ab"), *twins)
        assert preview.together == together


def test_an_entry_with_a_directory_of_its_own_is_out_instead(base: Path) -> None:
    (base / "one" / "large").write_bytes(bytes(2 * MIB))
    preview = previewed(base, python("main.py", "one"))
    assert "limits.directory_mib" in preview.out["bot0"]
    assert preview.left_out == {}


CUP = """
title = "Cup"
seats = 2
rules = "basic"
[[entries]]
name = "mine"
directory = "mine"
command = "python main.py"
readable = ["mine/weights", "mine/data/a", "newest", "kept"]
[[entries]]
name = "other"
command = "env"
"""

READS = """
import io
import os
import tarfile
for name in ("weights", "data/a", "../newest/size", "../kept/in", "../kept/link"):
    print(name, open(name).read())
print(os.path.islink("weights"), os.path.islink("data"))
for name, mode in (("newest/secret", "r"), ("stored/v2/secret", "r"), ("newest/size", "w")):
    try:
        print(open(f"../{name}", mode).read() or "empty")
    except OSError as error:
        print(error.strerror)
"""


def test_readable_may_name_links_and_what_lies_behind_them(tmp_path: Path) -> None:
    """They are seen at the path of the link, and at their own; what is hidden stays so at both."""
    stored = tmp_path / "stored"
    for name in ("v2/size", "v2/secret", "data/a"):
        (stored / name).parent.mkdir(parents=True, exist_ok=True)
        (stored / name).write_text(f"text of {name}")
    for folder in ("mine", "kept"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mine" / "main.py").write_text(READS)
    (tmp_path / "mine" / "weights").symlink_to("../stored/v2/size")
    (tmp_path / "mine" / "data").symlink_to(stored / "data")
    (tmp_path / "newest").symlink_to("stored/v2")
    (tmp_path / "kept" / "in").write_text("text of in")
    (tmp_path / "kept" / "link").symlink_to("in")
    (tmp_path / "cup.toml").write_text(CUP)
    sandbox = sandbox_or_skip((tmp_path / "cup.toml", stored / "v2" / "secret"), (tmp_path,))
    assert run_entry(sandbox, tmp_path / "cup.toml", "mine").splitlines()[1:] == [
        "weights text of v2/size",
        "data/a text of data/a",
        "../newest/size text of v2/size",
        "../kept/in text of in",
        "../kept/link text of in",
        "False False",
        "Permission denied",
        "Permission denied",
        "Read-only file system",
    ]
