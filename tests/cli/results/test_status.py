"""`asara status` of active, stopped and killed runs, and of damaged directories."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from asara_codec.results import Termination
from asara_server.tournament.run import status
from asara_server.tournament.run.directory import RunDirectory, RunError
from asara_server.tournament.run.status import RunState, StatusReader
from asara_server.tournament.standings.match_result import MatchResult
from tests.cli.command import asara, on_terminal, refusal, started
from tests.events import EVENT_S, wait_until
from tests.tournament import sample_bots, samples
from tests.tournament.sample_bots import HEADER, write_tournament
from tests.tournament.samples import RUNNING, add_results, change_run, seat, write_results

LONG = "a-name-of-forty-characters-which-is-most"
ENTRIES = ("ann", "bob", LONG)
BEGAN = 1_767_225_600.0
"""2026-01-01, 0:00 UTC, in seconds since 1970."""

INFO = samples.INFO.model_copy(
    update=RUNNING
    | {"title": "Cup", "entries": ENTRIES, "scheduled": 40, "started": "2026-01-01T00:00:00+00:00"}
)


def result(number: int, *, minute: int = 0, **changed: Any) -> MatchResult:
    """Return the result of a match between ann and bob that ended in this minute of the run."""
    fields: dict[str, Any] = {
        "match_id": f"r1-basic-{number:04}",
        "round": 1,
        "rule_sets": "basic",
        "seats": (seat("ann", 1), seat("bob", 2)),
        "started": f"2026-01-01T00:{minute:02}:00.000+00:00",
        "seconds": 30.0,
    }
    return MatchResult(**fields | changed)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run directory with ten results, one a minute, and no running process."""
    results = (result(number, minute=number) for number in range(10))
    return samples.write_run(tmp_path / "run", results, **INFO.model_dump())


# Runs that are played


@contextmanager
def playing(folder: Path, rounds: int) -> Iterator[subprocess.Popen[str]]:
    """Play a tournament of two bots, one of which crashes in every match."""
    file = write_tournament(
        folder,
        {"good": sample_bots.GOOD, "crasher": sample_bots.CRASHES},
        HEADER + f"rounds = {rounds}\njobs = 1\n",
    )
    words = ("tournament", "run", file, "--out", folder / "run", "--key", folder / "key")
    results = folder / "run" / "results.jsonl"
    with started(*words) as process:
        wait_until("two results", lambda: results.read_bytes().count(b"\n") > 1)
        yield process


@pytest.mark.long
def test_a_run_that_goes_on_is_seen_and_not_disturbed(tmp_path: Path) -> None:
    with playing(tmp_path, rounds=5) as process:
        done = asara("status", tmp_path / "run")
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert lines[0] == f"Cup: running (process {process.pid})"
        assert " of 10 matches (" in lines[1]
        assert lines[2].startswith("Started ")
        assert " matches per minute, about " in lines[2]
        assert lines[3].startswith("The last match ended ")
        assert any(line.startswith("#  entry") for line in lines)
        assert "Not played" not in done.stdout
        assert "crash" in done.stdout
        assert "exited with status 3; it printed: no more memory" in done.stdout
        assert process.wait(EVENT_S) == 0
    lines = asara("status", tmp_path / "run").stdout.splitlines()
    assert lines[:2] == ["Cup: finished", "10 of 10 matches (100%) in 5 blocks"]
    assert lines[2].startswith("Duration: ")
    assert "left" not in lines[2]


@pytest.mark.long
def test_a_terminal_shows_it_in_place_until_the_run_is_over(tmp_path: Path) -> None:
    with playing(tmp_path, rounds=8) as process:
        process.send_signal(signal.SIGSTOP)

        def go_on(_: object) -> None:
            process.send_signal(signal.SIGCONT)

        words = ("status", tmp_path / "run", "--watch", "0.5")
        text = on_terminal(*words, rows=12, at=b"running (process", times=2, do=go_on)
        assert process.wait(EVENT_S) == 0
    shown, _, after = text.partition("\x1b[?1049l")
    assert shown.startswith("\x1b[?1049h")
    frames = shown.split("\x1b[H")[2:]
    assert len(frames) > 1
    assert all(frame.count("\n") < 12 for frame in frames)
    assert "running (process" in frames[0]
    assert "finished" in after


@pytest.mark.long
def test_ctrl_c_ends_it_in_good_order(tmp_path: Path) -> None:
    with playing(tmp_path, rounds=100):

        def interrupt(process: subprocess.Popen[bytes]) -> None:
            process.send_signal(signal.SIGINT)

        words = ("status", tmp_path / "run", "--watch", "60")
        text = on_terminal(*words, at=b"process", do=interrupt)
    _, _, after = text.partition("\x1b[?1049l")
    assert after.count("running (process") == 1
    assert "Aborted" not in after


# What is shown


def test_the_rest_is_estimated_from_the_pace_so_far(run: Path) -> None:
    look = StatusReader(run).read(BEGAN + 600)
    assert (look.over, look.left, look.pace.matches) == (10, 30, 10)
    assert look.idle_s == 600 - 9 * 60 - 30


def test_a_break_does_not_count_for_the_pace(run: Path) -> None:
    change_run(run, state="cut short", resumed="2026-01-01T00:07:45Z", ended="2026-01-01T00:09:45Z")
    look = StatusReader(run).read()
    assert look.state is RunState.STOPPED
    assert look.elapsed_s == 9 * 60 + 45
    assert (look.pace.matches, look.pace.seconds) == (2, 120)
    assert look.pace.per_minute == 1
    assert look.pace.left_s(look.left) == 30 * 60
    shown, _, unended, times, *_ = asara("status", run).stdout.splitlines()
    assert shown == "Cup: stopped"
    assert unended == "Matches that had not ended when the run stopped have no replay."
    assert times.startswith("Ended 2 min after it was resumed, 9 min 45 s after it was started,")


def test_a_run_that_was_killed_ended_with_its_last_match(run: Path) -> None:
    look = StatusReader(run).read(BEGAN + 10_000)
    assert look.state is RunState.KILLED
    assert look.elapsed_s == 9 * 60 + 30
    assert asara("status", run).stdout.startswith("Cup: killed\n10 of 40 matches")
    (run / "tournament.toml").touch()
    for path, file in (("another.toml", "FILE.toml"), ("cup.toml", "cup.toml")):
        (run.parent / path).write_text("seats = 2" if path == "another.toml" else "")
        assert asara("status", "run", cwd=run.parent).stdout.startswith(
            f"Cup: killed\nTo continue: asara tournament run {file} --out run --resume\n"
        )
    assert " run FILE.toml --out . " in asara("status", ".", cwd=run).stdout


def test_all_matches_left_are_counted_and_those_of_blocks_that_have_begun(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_results(run, result(10, block="b"))
    assert "Not played" not in asara("status", run).stdout
    change_run(run, group={"b": 2})
    line = "29 of 40 matches, 1 of them in blocks that have begun.\n"
    assert f"\nNot played: {line}" in asara("status", run).stdout
    monkeypatch.setattr(status, "known_holder", lambda journal: 1)
    assert f"\nStill to come: {line}" in asara("status", run).stdout


def test_new_results_are_read_on_and_a_journal_that_was_replaced_from_its_start(run: Path) -> None:
    follower = StatusReader(run)
    assert follower.read().over == 10
    add_results(run, result(10, minute=10))
    with (run / "run.journal").open("ab") as file:
        file.write(b"\x50\0\0\0row")  # the row that is being written
    assert follower.read().over == 11
    assert len(follower.log.results) == 11
    afresh = StatusReader(run)
    afresh.read()
    assert follower.log.results == afresh.log.results
    write_results(run, result(1))
    assert follower.read().over == 1
    (run / "run.journal").unlink()
    with pytest.raises(RunError, match="not the folder of a run"):
        follower.read()


@pytest.mark.parametrize("damage", ["none", "missing", "behind", "torn", "foreign", "garbage"])
def test_the_index_of_the_journal_is_only_a_cache(run: Path, damage: str) -> None:
    index = run / "run.index"
    whole = index.read_bytes()
    lines = whole.splitlines(keepends=True)
    changed = {
        "behind": b"".join(lines[:4]),
        "torn": whole[:-9],
        "foreign": b"".join([*lines[:3], b"999 " + lines[3].partition(b" ")[2]]),
        "garbage": b"\xff\n" * 9,
    }
    index.write_bytes(changed.get(damage, whole))
    if damage == "missing":
        index.unlink()
    follower = StatusReader(run)
    assert follower.read().over == 10
    assert follower.log.results == [result(number, minute=number) for number in range(10)]
    if damage != "foreign":  # it would tell that the end of the journal is missing
        RunDirectory.reopen(run).close()
        assert follower.read().over == 10


def test_void_matches_are_over_when_they_are_not_played_again(run: Path) -> None:
    for attempt in (1, 2, 3):
        add_results(run, (result(20, attempt=attempt, void=True, seats=())))
    add_results(run, (result(21, void=True, seats=())))
    look = StatusReader(run).read()
    assert (look.over, look.void) == (11, 1)
    assert "11 of 40 matches (28%), 1 without a result" in asara("status", run).stdout


def test_who_fails_is_told_with_the_latest_reason_the_worst_first(run: Path) -> None:
    add_results(run, (result(20, seats=(seat("bob", 1), seat("ann", 2, "early")))))
    late = seat("ann", 2, "late", Termination.TIME_OUT)
    add_results(run, (result(21, block="b1", seats=(late, seat("bob", 1)))))
    add_results(run, (result(22, block="b1", seats=(seat(LONG, 2, "never"), seat("bob", 1)))))
    look = StatusReader(run).read()
    assert [(one.entry, one.forfeits, one.matches) for one in look.failing] == [
        (LONG, 1, 1),
        ("ann", 2, 12),
    ]
    shown = asara("status", run).stdout
    assert "13 of 40 matches (32%) in 12 blocks" in shown
    assert "crash 1, time out 1" in shown
    assert "late" in shown
    assert "early" not in shown


def test_the_latest_reason_is_the_cause_and_not_its_consequence(run: Path) -> None:
    away = "suspended after it forfeited 1 of its first 1 matches"
    out = "not started again after 1 failures in a row: exited with status 3"
    never, suspended = Termination.NEVER_STARTED, Termination.SUSPENDED
    for number, forfeit in enumerate(
        (
            seat("ann", 2, "out of memory"),
            seat("ann", 2, away, suspended),
            seat("bob", 2, "exited with status 3", never, ["no model.bin"]),
            seat("bob", 2, out, never),
            seat(LONG, 2, "build failed: exited with status 2", never),
        ),
        start=20,
    ):
        add_results(run, (result(number, seats=(forfeit, seat("x", 1)))))
    change_run(run, out={"bob": out, LONG: "build failed: exited with status 2"})
    failing = {one.entry: one for one in StatusReader(run).read().failing}
    assert {entry: one.latest.seat.explanation for entry, one in failing.items()} == {
        "ann": "out of memory",
        "bob": "exited with status 3; it printed: no model.bin",
        LONG: "build failed: exited with status 2",
    }
    assert failing["ann"].latest.result.match_id == "r1-basic-0020"
    assert failing["ann"].latest.seat.termination is Termination.CRASH
    assert failing["ann"].kinds == {Termination.CRASH: 1, suspended: 1}
    assert "crash 1, suspended" in asara("status", run).stdout


def test_entries_that_are_out_or_suspended_are_told(run: Path) -> None:
    assert "Suspended" not in asara("status", run).stdout
    change_run(run, out={"ann": "it does not build"}, suspended={"bob": "5 of 6 forfeited"})
    shown = asara("status", run).stdout.split("Out of the run\n")[1]
    out, suspended = shown.split("Suspended\n")
    assert "it does not build" in out
    assert "5 of 6 forfeited" in suspended
    change_run(run, out=["ann"], suspended=7)
    done = asara("status", run, status=2)
    assert "run.journal: has no sound description of the run" in done.stderr


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_line_is_longer_than_the_terminal_is_wide(
    run: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.cli.command.COLUMNS", str(columns))
    kinds = [kind for kind in Termination if kind.forfeit]
    for number, kind in enumerate(kinds):
        why = seat(LONG, 2, "words " * 100, kind)
        add_results(run, (result(20 + number, seats=(why, seat("ann", 1)))))
    change_run(run, out={LONG: "reason " * 100})
    for _ in range(2):
        shown = asara("status", run).stdout
        assert max(map(len, shown.splitlines())) <= columns
        assert {"interval", "prestige", "matches"} <= set(shown.split())  # words are whole
        assert shown.count("…") == 2
        change_run(run, title="The spring cup of all who could come " * 3)


# Directories that are not as they should be


@pytest.mark.parametrize(
    "text", ["[1, 2]", result(1).to_json() + "\0", "[" * 100_000, '{"match_id": "m"}']
)
def test_results_that_cannot_be_read_are_named(run: Path, text: str) -> None:
    add_results(run, text)
    for command in ("status", "report"):
        error = refusal(command, run)
        assert "run.journal: result 11: " in error
        assert error.count("\n") == 1
    assert not (run / "report.html").exists()
