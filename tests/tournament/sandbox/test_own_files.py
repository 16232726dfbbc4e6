"""The files that the bots of an entry see."""

import io
import os
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from asara_server.tournament.config.tournament_file import Entry, Limits, check_tournament
from asara_server.tournament.sandbox.filesystem_view import preview_views
from asara_server.tournament.sandbox.own_files import EntryFiles
from asara_server.tournament.sandbox.private_copy import write_archive
from asara_server.tournament.sandbox.spec import ReservedPaths
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
        archive = io.BytesIO()
        write_archive(files.of(entry).source, Path("/"), archive)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as tar:
            paths = {*(Path("/", name) for name in tar.getnames()), *entry.readable}
        found.append({os.path.relpath(path, base) for path in paths if not path.is_dir()})
    return found


def test_an_entry_sees_its_own_directory_as_a_whole(base: Path) -> None:
    write(base, "one/.cache/x", "two/lib/deep/y")
    tables = [{"command": "python main.py", "directory": name} for name in ("one", "two")]
    assert seen(base, *tables) == [
        {"one/main.py", "one/.cache/x"},
        {"two/main.py", "two/lib/deep/y"},
    ]


def test_the_folder_of_a_program_is_its_own_wherever_the_tournament_file_lies(base: Path) -> None:
    tables: list[dict[str, object]] = [
        {"command": "python one/main.py"},
        {"command": "python two/main.py"},
    ]
    assert seen(base, *tables) == [{"one/main.py"}, {"two/main.py"}]
    all_but = {"loose.py", "tools.py", "models/weights", "deep/x/bot.py"}
    both = {"both/a.py", "both/b.py", "both/common.py"}
    for command in ("python loose.py", "python -m loose", "env ./loose.py"):
        mine, theirs = seen(base, {"command": command}, {"command": "python one/main.py"})
        assert mine == all_but | both | {"two/main.py"}, command
        assert theirs == {"one/main.py"}
    mine, theirs = seen(base, {"command": "python loose.py"}, {"command": "python both/a.py"})
    assert mine == all_but | {"one/main.py", "two/main.py"}
    assert theirs == both


def test_tournament_file_run_and_key_are_hidden_beside_a_program(base: Path) -> None:
    """So are runs of other evenings, and folders with a dot, such as a version control's."""
    write(base, "old/run.json", "old/replays/m1.asara", "old/logs/m1", ".git/objects/12", ".env")
    (mine,) = seen(base, {"command": "python loose.py"})
    assert not {path for path in mine if path.startswith(("run/", "old/", ".git/", "cup."))}
    assert {"loose.py", "tools.py", ".env"} <= mine


def test_two_programs_in_one_folder_share_all_but_each_other(base: Path) -> None:
    write(base, "both/__pycache__/b.cpython-311.pyc")
    tables: list[dict[str, object]] = [
        {"command": f"python {name}.py", "directory": "both"} for name in "ab"
    ]
    assert seen(base, *tables) == [
        {"both/a.py", "both/common.py"},
        {"both/b.py", "both/common.py", "both/__pycache__/b.cpython-311.pyc"},
    ]
    tables[0]["readable"] = ["both/b.py"]
    assert seen(base, *tables)[0] == {"both/a.py", "both/b.py", "both/common.py"}


def test_a_program_in_a_subfolder_is_hidden_from_one_above(base: Path) -> None:
    write(base, "deep/y.py")
    tables = [
        {"command": "python y.py", "directory": "deep"},
        {"command": "python bot.py", "directory": "deep/x"},
    ]
    assert seen(base, *tables) == [{"deep/y.py"}, {"deep/x/bot.py"}]


def test_the_program_of_another_entry_is_hidden_behind_a_link_as_well(base: Path) -> None:
    (base / "both" / "newest.py").symlink_to("b.py")
    tables = [{"command": f"python {name}", "directory": "both"} for name in ("a.py", "newest.py")]
    assert "both/b.py" not in seen(base, *tables)[0]


def test_what_another_entry_alone_may_read_is_not_seen(base: Path) -> None:
    loose: dict[str, object] = {"command": "python loose.py"}
    other: dict[str, object] = {"command": "python one/main.py", "readable": ["models"]}
    assert "models/weights" not in seen(base, loose, other)[0]
    twin: dict[str, object] = {"command": "python tools.py", "readable": ["models"]}
    assert "models/weights" in seen(base, loose, twin)[0]


def test_a_program_in_a_run_is_seen_alone(base: Path) -> None:
    write(base, "run/main.py")
    assert seen(base, {"command": "python main.py", "directory": "run"}) == [{"run/main.py"}]


def test_a_program_in_a_home_is_seen_alone(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for home in (base, base / "deep"):
        monkeypatch.setenv("HOME", str(home))
        assert seen(base, {"command": "python loose.py"}) == [{"loose.py"}]


def test_a_command_that_names_no_file_sees_the_directory_that_it_was_given(base: Path) -> None:
    mine = {"command": "env sh", "directory": "."}
    assert "tools.py" in seen(base, mine)[0]
    assert seen(base, {"command": "env sh"}) == [set()]
    assert "tools.py" in seen(base, {"command": "env go run ."})[0]


def test_what_is_named_as_readable_is_seen_besides(base: Path) -> None:
    table = {"command": "python main.py", "directory": "one", "readable": ["models", "loose.py"]}
    assert seen(base, table) == [{"one/main.py", "loose.py"}]  # and the folder models


def test_a_link_shows_nothing_that_its_author_chose(base: Path) -> None:
    (base / "loose.py").unlink()
    (base / "loose.py").symlink_to(base / "cup.toml")
    (base / "two" / "main.py").unlink()
    (base / "two" / "main.py").symlink_to("/etc/passwd")
    assert seen(base, {"command": "python two/main.py"}) == [set()]
    (base / "three").symlink_to("/etc")
    assert seen(base, {"command": "python three/passwd"}) == [set()]
    assert seen(base, {"command": "python loose.py"}) == [set()]


def test_the_folder_of_a_program_elsewhere_is_seen_and_other_files_elsewhere_alone(
    base: Path,
) -> None:
    write(base, "far/bot.py", "far/tools.py", "data/weights", "data/secret")
    here: dict[str, object] = {"directory": "one"}
    program = {**here, "command": "python ../far/bot.py"}
    assert seen(base, program) == [{"one/main.py", "far/bot.py", "far/tools.py"}]
    argument = {**here, "command": "python main.py ../data/weights"}
    assert seen(base, argument) == [{"one/main.py", "data/weights"}]


def test_the_largest_files_beside_a_program_are_left_out_and_named(base: Path) -> None:
    (base / "dump").write_bytes(bytes(3 * MIB))
    write(base, "data/small")
    (base / "data" / "large").write_bytes(bytes(2 * MIB))
    (base / "medium").write_bytes(bytes(MIB // 2))
    table = {"command": "python loose.py"}
    (mine,) = seen(base, table, limit_mib=1)
    assert {"loose.py", "tools.py", "medium", "models/weights"} <= mine
    assert not {path for path in mine if path.startswith(("dump", "data/"))}
    reserved = ReservedPaths(shared=(base,))
    preview = preview_views(entries_of(base, [table]), Limits(directory_mib=1), reserved)
    assert preview.left_out == {"bot0": (base / "data", base / "dump")}
    assert preview.out == {}
    (base / "loose.py").write_bytes(bytes(2 * MIB))
    entries = entries_of(base, [table])
    preview = preview_views(entries, Limits(directory_mib=1), ReservedPaths(shared=(base,)))
    assert list(preview.out) == ["bot0"]


def test_entries_that_share_a_folder_are_named_unless_they_are_of_one_team(base: Path) -> None:
    tables: list[dict[str, object]] = [
        {"command": "python both/a.py"},
        {"command": "python both/b.py"},
        {"command": "python one/main.py"},
        {"command": "python one/main.py --deep"},
    ]
    for team, together in (({}, [("bot0", "bot1")]), ({"team": "Foxes"}, [])):
        entries = entries_of(base, [table | team for table in tables[:2]] + tables[2:])
        preview = preview_views(entries, Limits(), ReservedPaths(shared=(base,)))
        assert preview.together == together


def test_an_entry_with_a_directory_of_its_own_is_out_instead(base: Path) -> None:
    (base / "one" / "large").write_bytes(bytes(2 * MIB))
    entries = entries_of(base, [{"command": "python main.py", "directory": "one"}])
    preview = preview_views(entries, Limits(directory_mib=1), ReservedPaths(shared=(base,)))
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
