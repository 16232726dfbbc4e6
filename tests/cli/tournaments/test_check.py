"""`asara tournament check`, for an organiser on the afternoon before."""

import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asara_server.cli.sessions.entry_check import CheckMeter, seconds_text
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.execution.entry_check import CheckedEntry, Verdict
from tests.cli.command import asara, refusal
from tests.tournament import sample_bots
from tests.tournament.remote_bots import dial_in, write_cup
from tests.tournament.sandbox_config import sandbox_or_skip

HEAD = """
title = "Evening"
seats = [2, 3]
rules = ["basic", "pro+gifts"]
entries_from = "submissions/*"
jobs = 6

[clocks]
start_up_s = 120
time_bank_s = 10
increment_s = 0.1
"""
PONDERS = """
import time
import asara
print("good evening")
answers = 0
def decide(decision, match):
    global answers
    answers += 1
    time.sleep(0.3 if answers == 20 else 0)
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""
BOTS = {
    "ann": ('command = "python bot.py"', sample_bots.GOOD),
    "bob": ('name = "Bob+"\ncommand = "python bot.py"', PONDERS),
    "cid": ('command = "python bot.py"\nbuild = "sh build.sh"', sample_bots.GOOD),
    "dan": ('command = "python bot.py"', sample_bots.EXITS),
    "eve": ('command = "python ../ann/bot.py"', ""),
    "fay": ('command = "python bot.py"', sample_bots.MUTE),
    "gus": ('command = "python bot.py"', sample_bots.NONSENSE),
    "hal": ('command = "python bot.py"\nbuild = "sh build.sh"', sample_bots.GOOD),
}


def submit(folder: Path, *names: str) -> Path:
    """Write a tournament file, and these bots in folders beside it."""
    for name in names:
        path = folder / "submissions" / name
        path.mkdir(parents=True)
        text, program = BOTS[name]
        (path / "bot.toml").write_text(text)
        (path / "bot.py").write_text(program)
        (path / "build.sh").write_text("echo compiling\nexit 3\n" if name == "hal" else "")
    (folder / "cup.toml").write_text(HEAD)
    return folder / "cup.toml"


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evening")
    submit(folder, *BOTS)
    return folder


@pytest.fixture(scope="module")
def checked(evening: Path) -> "subprocess.CompletedProcess[str]":
    """Return the check of all bots, whose output is kept."""
    return asara("tournament", "check", evening / "cup.toml", "--out", evening / "kept")


def test_the_check_says_who_works_and_the_status_that_somebody_does_not(
    checked: "subprocess.CompletedProcess[str]",
) -> None:
    assert checked.returncode == 1
    assert (
        "Evening: checking 7 entries in two matches each against the built-in bot `random` "
        "(rules: pro+gifts, 2 seats; not checked: basic, 3 seats)\n" in checked.stderr
    )
    lines = checked.stdout.splitlines()
    rows = {tuple(line.split()[:3]) for line in lines[2:10]}
    assert {row[0]: row[2] for row in rows} == {
        "ann": "works",
        "Bob+": "works",
        "cid": "works",
        "dan": "broken",
        "fay": "broken",
        "gus": "broken",
        "hal": "broken",
        "–": "skipped",
    }
    assert ("Bob+", "bob", "works") in rows
    assert lines[-1] == "3 of 8 entries work, 4 broken, 1 skipped"
    counts = [line for line in checked.stderr.splitlines() if re.match(r"\d of 8: ", line)]
    assert [line[0] for line in counts] == list("2345678")  # the folder left out is the first


def test_the_progress_says_which_entries_are_built_and_since_when() -> None:
    activity: Any = SimpleNamespace(
        building={"cpp": time.time() - 23.2}, playing=("ann", "bob", "cid", "dan")
    )
    meter = CheckMeter(41, 2, activity)
    meter.add(CheckedEntry("eve", Verdict.BROKEN, "a fault"))
    assert meter.summary() == (
        "3 of 43, 1 broken, 2 skipped; building cpp for 23 s; playing ann, bob, cid and 1 more"
    )


def test_it_shows_build_start_and_longest_decision(
    evening: Path, checked: "subprocess.CompletedProcess[str]"
) -> None:
    titles, *rows = (re.split(r"  +", line.strip()) for line in checked.stdout.splitlines()[1:10])
    cells = {row[0]: dict(zip(titles, row, strict=True)) for row in rows}
    # As the referee measured it: it stops the clocks while it is too busy itself.
    longest_us = max(
        record.bot_us
        for path in (evening / "kept" / "replays").glob("check-Bob+-?.asara")
        for record in read_replay(path).records
        if isinstance(record, ReplyRecord) and record.seat == int(path.stem[-1]) - 1
    )
    assert cells["Bob+"]["longest decision"] == seconds_text(longest_us / 1e6)
    assert re.fullmatch(r"\d+ ms|\d\.\d s", cells["ann"]["start-up"])
    assert int(cells["ann"]["decisions"]) > 20
    assert re.fullmatch(r"\d+ ms|\d\.\d s", cells["cid"]["build"])
    assert (cells["dan"]["start-up"], cells["ann"]["build"]) == ("–", "–")


def test_it_shows_why_an_entry_is_broken_and_what_it_printed(
    checked: "subprocess.CompletedProcess[str]",
) -> None:
    text = checked.stdout
    assert (
        "dan is broken: never started: exited with status 1\n"
        "  | loading\n"
        "  | cannot load model.bin\n"
    ) in text
    assert (
        "fay is broken: time out: did not reply to decision 1 within the 10.1 s it had; its second "
        "match was not played\n"
    ) in text
    assert "gus is broken: rejected replies: " in text
    assert "hal is broken: build failed: exited with status 3\n  | compiling\n" in text
    assert "skipped: submissions/eve/bot.toml: command: '../ann/bot.py' leads out of" in text
    *_, printed = text.partition("Last lines printed by working bots\n")
    assert printed.startswith("Bob+\n  | good evening\n")
    assert "goodbye" not in printed  # which a client logs when it takes its leave


def test_output_and_replays_are_kept_where_asked(
    evening: Path, checked: "subprocess.CompletedProcess[str]"
) -> None:
    kept = evening / "kept"
    assert str(kept) in checked.stderr
    assert sorted(path.name for path in kept.iterdir()) == ["check.log", "logs", "replays"]
    assert "good evening" in (kept / "logs" / "check-Bob+-1" / "0-Bob+.log").read_text()
    assert (kept / "logs" / "build-hal.log").is_file()
    asara("replay", "clock", kept / "replays" / "check-Bob+-1.asara", status=0)
    again = refusal("tournament", "check", evening / "cup.toml", "--out", kept)
    assert "is not empty; choose a folder that is new or empty" in again


def test_no_entry_meets_another(evening: Path, checked: "subprocess.CompletedProcess[str]") -> None:
    assert checked.returncode == 1
    players = {
        path.parent.name: sorted(log.name for log in path.parent.glob("*.log"))
        for path in (evening / "kept" / "logs").glob("*/*.log")
    }
    assert players == {
        f"check-{name}-{number}": sorted(
            [f"{number - 1}-{name}.log", f"{2 - number}-opponent-1.log"]
        )
        for name in ("ann", "Bob+", "cid", "dan", "fay", "gus")
        for number in ((1, 2) if name in {"ann", "Bob+", "cid"} else (1,))
    }


@pytest.mark.long
def test_without_a_fault_the_status_is_0_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox_or_skip()
    file = submit(tmp_path, "ann", "cid")
    file.write_text(HEAD.replace("[2, 3]", "2"))
    spy = "import os\nprint(os.listdir('..'), os.path.exists('../../cup.toml'))\n"
    (tmp_path / "submissions" / "ann" / "bot.py").write_text(spy + sample_bots.GOOD)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    done = asara("tournament", "check", file, "--sandbox", "bubblewrap", status=0)
    assert "  | ['ann'] False\n" in done.stdout
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cup.toml", "submissions", "tmp"]


# Entries on other machines


def test_remote_entries_are_named_as_not_checked(tmp_path: Path) -> None:
    file, _ = write_cup(tmp_path, ("far", "farther"))
    done = asara("tournament", "check", file, status=0)
    assert done.stderr.endswith(
        f"To play the tournament: asara tournament run {file} --out runs/cup\n"
    )
    assert (
        "far was not checked: its bot runs on another machine; --remote waits for it\n"
        in done.stdout
    )
    assert done.stdout.endswith("0 of 2 entries work, 2 not checked\n")


@pytest.mark.long
def test_remote_entries_are_awaited_if_asked(tmp_path: Path) -> None:
    with socket.create_server(("localhost", 0)) as free:
        address = f"localhost:{free.getsockname()[1]}"
    file, tokens = write_cup(tmp_path, ("far", "late"), listen=address, wait_s=3)
    with dial_in(tmp_path, address, tokens["far"]) as bot:
        done = asara("tournament", "check", file, "--remote", status=1)
        bot.kill()
    assert re.search(r"^far +works", done.stdout, re.MULTILINE)
    assert "late is broken: missed: did not connect within 3 s\n" in done.stdout
