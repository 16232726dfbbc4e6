"""One entry never ends a run: whatever is wrong with it is said of it, and the others play."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from asara_server.tournament.standings.match_result import MatchResult
from tests.cli.command import asara
from tests.tournament.sample_bots import GOOD
from tests.tournament.samples import read_results
from tests.tournament.sandbox_config import sandbox_or_skip

HEAD = """
title = "Odd"
seats = 2
rules = "basic"
entries_from = "submissions/*"

[clocks]
start_up_s = 300
time_bank_s = 3_600
"""
NAME = b"\xff\xfe\x1b[2J.txt"


def submit(folder: Path, *names: str) -> Path:
    for name in names:
        home = folder / "submissions" / name
        home.mkdir(parents=True)
        (home / "bot.toml").write_text('command = "python bot.py"\nreadable = ["data"]\n')
        (home / "bot.py").write_text(GOOD)
        (home / "data").mkdir()
        (home / "data" / "weights").write_text("1")
    file = folder / "cup.toml"
    file.write_text(HEAD)
    return file


def loop(path: Path) -> None:
    """Put two links in the place of a file or folder that lead to each other."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    other = path.with_name(f"{path.name}-2")
    path.symlink_to(other.name)
    other.symlink_to(path.name)


def deep(home: Path) -> None:
    """Make folders deeper than the longest path that the system takes."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(home)
        for _ in range(40):
            os.mkdir("d" * 200)  # noqa: PTH102 - of any depth
            os.chdir("d" * 200)
    finally:
        os.fchdir(before)
        os.close(before)


def program_is_folder(home: Path) -> None:
    (home / "bot.py").unlink()
    (home / "bot.py").mkdir()


def strange_names(home: Path) -> None:
    """Names that are no text, a pipe, and links that lead in circles; the bot itself is good."""
    Path(os.fsdecode(os.path.join(os.fsencode(home), NAME))).write_text("x")  # noqa: PTH118
    os.mkfifo(home / "pipe")
    loop(home / "links")
    loop(home / "data" / "links")
    (home / "bot.toml").write_text('command = "python bot.py links"\nreadable = ["data"]\n')
    (home / "up").symlink_to("..")


def file_in_place(home: Path) -> None:
    shutil.rmtree(home)
    home.write_text("")


ODD: list[Callable[[Path], object]] = [
    lambda home: loop(home / "bot.py"),
    program_is_folder,
    lambda home: loop(home / "bot.toml"),
    lambda home: loop(home / "data"),
    loop,
    file_in_place,
]


def play(file: Path, run: Path, *options: str) -> tuple[list[MatchResult], str]:
    """Play the tournament; return the results, none of which is void, and the notices."""
    done = asara(
        "tournament", "run", file, "--out", run, "--key", file.with_name("key"), *options, status=0
    )
    path = run / "results.jsonl"
    results = read_results(path) if path.exists() else []
    assert not any(result.void for result in results)
    return results, done.stderr


def forfeits(results: list[MatchResult]) -> set[str]:
    """Return the entries that forfeited."""
    return {seat.entry for result in results for seat in result.seats if seat.termination.forfeit}


def names(text: str, entry: str = "cid") -> bool:
    return re.search(rf"\b{entry}\b", text) is not None


@pytest.fixture(params=["bubblewrap", "none"])
def sandbox(request: pytest.FixtureRequest) -> str:
    if request.param == "bubblewrap":
        sandbox_or_skip()
    return str(request.param)


@pytest.mark.long
def test_entries_that_cannot_be_used_are_said_and_the_others_play(tmp_path: Path) -> None:
    odd = {f"odd{number}": spoil for number, spoil in enumerate(ODD)}
    file, run = submit(tmp_path, "ann", "bob", *odd), tmp_path / "run"
    for name, spoil in odd.items():
        spoil(tmp_path / "submissions" / name)
    prepared, _ = play(file, run, "--prepare", "--sandbox", "none")
    assert prepared == []
    results, said = play(file, run, "--resume", "--sandbox", "none")
    assert [name for name in odd if not names(said, name)] == []
    assert len(results) == 2
    assert not forfeits(results)


@pytest.mark.long
def test_entries_whose_files_are_strange_play(tmp_path: Path, sandbox: str) -> None:
    file, run = submit(tmp_path, "ann", "bob", "cid"), tmp_path / "run"
    strange_names(tmp_path / "submissions" / "bob")
    deep(tmp_path / "submissions" / "cid")
    results, said = play(file, run, "--sandbox", sandbox)
    assert len(results) == 6
    assert not forfeits(results)
    assert not names(said, "bob|cid")


@pytest.mark.long
def test_a_log_that_cannot_be_written_ends_nothing(tmp_path: Path, sandbox: str) -> None:
    file, run = submit(tmp_path, "ann", "cid"), tmp_path / "run"
    play(file, run, "--prepare", "--sandbox", sandbox)
    (run / "logs" / "r1-basic-0001-1" / "1-cid.log").mkdir(parents=True)
    (run / "logs" / "r1-basic-0001-2").write_text("a file")
    results, _ = play(file, run, "--resume", "--sandbox", sandbox)
    assert len(results) == 2
    assert not forfeits(results)
    assert "1-cid.log" in (run / "run.log").read_text()


WRECKS = """
import os, pathlib, shutil
import asara
home = pathlib.Path({home!r})
shutil.rmtree(home)
if {loop}:
    os.symlink(home.name, home)
asara.run(lambda decision, match: match.random.choice(decision.legal_actions))
"""


@pytest.mark.long
@pytest.mark.parametrize("loop_of_links", [False, True])
def test_an_entry_whose_folder_goes_during_the_run_forfeits_alone(
    tmp_path: Path, loop_of_links: bool
) -> None:
    """Its bot, which is not contained, removes the folder while it plays."""
    file, run = submit(tmp_path, "ann", "bob", "cid"), tmp_path / "run"
    file.write_text(file.read_text().replace("[clocks]", 'process_per = "match"\n[clocks]'))
    home = tmp_path / "submissions" / "cid"
    (home / "bot.py").write_text(WRECKS.format(home=str(home), loop=loop_of_links))
    results, said = play(file, run, "--sandbox", "none")
    assert len(results) == 6
    assert forfeits(results) == {"cid"}
    assert names(said)


@pytest.mark.long
@pytest.mark.parametrize(
    "place",
    [
        "execution.entry_check.EntryCheck._play",
        "sandbox.filesystem_view._own_paths",
        "config.entry_folders.read_entry_folder",
    ],
)
def test_any_exception_that_one_entry_causes_is_said_of_it(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox_or_skip()
    file, run = submit(tmp_path, "ann", "bob", "cid"), tmp_path / "run"
    missing = "import sys\nsys.exit('No such file: x.txt')\n"
    (tmp_path / "submissions" / "cid" / "bot.py").write_text(missing)
    target = f"asara_server.tournament.{place}"
    real = resolve_name(target.replace(".Entry", ":Entry"))

    def fail(*given: Any, **settings: Any) -> Any:
        if any(getattr(one, "name", "") == "cid" for one in given):
            raise RecursionError("odd \x1b[2J")
        return real(*given, **settings)

    monkeypatch.setattr(target, fail)
    checks = "entry_check" in place
    if checks:
        done = asara("tournament", "check", file, "--out", run, "--sandbox", "bubblewrap")
        log, said = run / "check.log", done.stdout
        assert (done.returncode, "2 of 3 entries work, 1 broken" in said) == (1, True)
    else:
        results, said = play(file, run, "--sandbox", "bubblewrap")
        log = run / "run.log"
        assert forfeits(results) <= {"cid"}
        others = [one for one in results if "cid" not in {seat.entry for seat in one.seats}]
        assert len(others) == 2
    assert names(said)
    if "folders" not in place:
        assert "RecursionError: odd" in log.read_text()
