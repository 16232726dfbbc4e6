"""A run is resumed only if its journal knows everything that its results and replays have."""

import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from asara_server.tournament.run.directory import RunDirectory
from tests.cli.command import asara, command_line, environment, refusal
from tests.events import EVENT_S
from tests.tournament.sample_bots import GOOD, HEADER, write_tournament

MATCHES = 12


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tournament file and a run that was killed after some matches."""
    folder = tmp_path_factory.mktemp("cup")
    bots = {"ann": GOOD, "bob": GOOD}
    file = write_tournament(folder, bots, HEADER + "rounds = 6\njobs = 1\n")
    process = subprocess.Popen(
        command_line("-v", *words(folder, file=file)),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    assert process.stderr
    overs = 0
    for line in process.stderr:
        overs += "match over" in line
        if overs == 4:
            process.send_signal(signal.SIGKILL)
            break
    process.communicate(timeout=EVENT_S)
    return folder


def words(folder: Path, *options: str, file: Path | None = None) -> list[str]:
    found = ["tournament", "run", file or folder / "cup.toml", "--out", folder / "run"]
    return [*map(str, found), "--key", str(folder / "key"), *options]


@pytest.fixture
def cup(killed: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder; the entries' directories are those of the original."""
    subprocess.run(["cp", "-a", f"{killed}/.", tmp_path], check=True)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def reopen(run: Path) -> tuple[str, ...]:
    """Open a run as if to resume it; return the warnings."""
    directory, _ = RunDirectory.reopen(run)
    with closing(directory):
        directory.restore_results()
        return directory.warnings


def refused(cup: Path) -> str:
    """Return the error of a resumption that must leave every file as it was."""
    before = contents(cup / "run")
    error = refusal(*words(cup, "--resume"))
    assert contents(cup / "run") == before
    return error


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


@pytest.mark.long
def test_a_flipped_bit_in_the_write_ahead_log_is_refused_with_what_is_missing(cup: Path) -> None:
    log = cup / "run" / "journal.sqlite-wal"
    flip(log, log.stat().st_size // 3)
    error = refused(cup)
    assert "journal.sqlite: lacks the last" in error
    assert "does not know matches that results.jsonl or replays have: r1-basic-" in error
    assert "journal.sqlite-wal, journal.running and journal.position from a backup" in error
    assert "start the run again in another folder" in error


def test_a_lost_write_ahead_log_is_refused_even_without_the_position(cup: Path) -> None:
    (cup / "run" / "journal.sqlite-wal").unlink()
    assert "lacks the last" in refused(cup)
    (cup / "run" / "journal.position").unlink()
    assert "does not know matches" in refused(cup)


def test_a_flipped_bit_after_the_last_result_is_refused(cup: Path) -> None:
    """Neither results nor replays show the loss, but bots have seen what followed from it."""
    log = cup / "run" / "journal.running"
    flip(log, log.stat().st_size - 10)
    assert "lacks the last 1 commit:" in refused(cup)


def test_a_journal_that_was_emptied_or_removed_is_refused(cup: Path) -> None:
    (cup / "run" / "journal.sqlite-wal").unlink()
    (cup / "run" / "journal.sqlite").write_bytes(b"")
    assert "lacks the last" in refused(cup)
    (cup / "run" / "journal.sqlite").unlink()
    assert "has no journal.sqlite to resume from: restore it" in refused(cup)


@pytest.mark.long
def test_after_the_remedy_the_missing_matches_are_played_again(cup: Path) -> None:
    run = cup / "run"
    (run / "journal.sqlite-wal").unlink()
    (run / "journal.position").unlink()
    (run / "results.jsonl").unlink()
    for replay in (run / "replays").iterdir():
        replay.unlink()
    done = asara(*words(cup, "--resume"))
    assert done.returncode == 0, done.stderr
    assert len((run / "results.jsonl").read_text().splitlines()) == MATCHES


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="cut short"),
        pytest.param(lambda data: data[:300] + bytes([data[300] ^ 4]) + data[301:], id="flipped"),
        pytest.param(lambda data: data.replace(b"\n", b"\x0b", 1), id="two lines joined"),
        pytest.param(lambda data: data[:300] + b"\n" + data[300:], id="a line cut in two"),
        pytest.param(lambda data: data.replace(b'"rank":1', b'"rank":2', 1), id="another rank"),
    ],
)
def test_damaged_results_are_written_again_from_the_journal(
    cup: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = cup / "run" / "results.jsonl"
    whole = path.read_bytes()
    damaged = damage(whole)
    assert damaged != whole
    path.write_bytes(damaged)
    warnings = reopen(cup / "run")
    assert path.read_bytes() == whole
    assert bool(warnings) == (not whole.startswith(damaged))
    assert all("differed from the journal" in warning for warning in warnings)


def test_a_result_that_the_journal_does_not_have_is_refused(cup: Path) -> None:
    path = cup / "run" / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[0].replace("r1-basic-0001", "r1-basic-0012")]))
    assert f"r1-basic-0012-1 (line {len(lines) + 1})" in refused(cup)
    path.write_text("".join([*lines, "{\n"]))
    assert f"line {len(lines) + 1} of results.jsonl" in refused(cup)


def test_a_replay_that_the_journal_does_not_have_is_refused(cup: Path) -> None:
    replays = cup / "run" / "replays"
    (replays / "r1-basic-0012-1.asara").write_bytes(b"")
    assert "r1-basic-0012-1 (replays/r1-basic-0012-1.asara)" in refused(cup)


def test_lost_and_damaged_replays_are_named_and_the_run_goes_on(cup: Path) -> None:
    run = cup / "run"
    first, second, *_ = sorted((run / "replays").glob("[!.]*.asara"))  # not one cut off by the kill
    first.unlink()
    flip(second, 1000)
    [warning] = reopen(run)
    assert f"{first.name} is missing, {second.name} is damaged" in warning
