"""A run is resumed only from a sound journal, from which results and replays are written."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from asara_server.tournament.run.directory import RunDirectory, RunError
from tests.cli.command import asara, interrupted_run, refusal
from tests.tournament.played_runs import play_run
from tests.tournament.sample_bots import GOOD, HEADER, write_tournament

MATCHES = 6


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tournament file and a run that was killed after some matches."""
    folder = tmp_path_factory.mktemp("cup")
    bots = {"ann": GOOD, "bob": GOOD}
    file = write_tournament(folder, bots, HEADER + "rounds = 3\njobs = 1\n")
    interrupted_run(words(folder, file=file), 2, signal.SIGKILL)
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


def reopen(run: Path) -> None:
    """Open a run as if to resume it, and write what is missing."""
    directory = RunDirectory.reopen(run)
    with closing(directory):
        for result in directory.restore_results():
            directory.publish_replays([result.played_as])


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


def test_a_flipped_bit_is_refused_with_its_place(cup: Path) -> None:
    log = cup / "run" / "run.journal"
    flip(log, log.stat().st_size // 2)
    error = refused(cup)
    assert "run.journal: damaged at byte " in error
    assert "restore it from a backup, or start the run again in another folder" in error


def test_a_journal_that_was_cut_emptied_or_removed_is_refused(cup: Path) -> None:
    log = cup / "run" / "run.journal"
    os.truncate(log, log.stat().st_size // 2)
    assert "its end is missing; restore it from a backup, or delete run.index" in refused(cup)
    log.write_bytes(b"")
    assert "has no run.journal to resume from: restore it" in refused(cup)
    log.unlink()
    assert "has no run.journal to resume from: restore it" in refused(cup)


@pytest.mark.long
def test_after_the_remedy_the_missing_matches_are_played_again(cup: Path) -> None:
    run = cup / "run"
    log = run / "run.journal"
    data = log.read_bytes()
    log.write_bytes(data[: 16 + 20 + int.from_bytes(data[16:20], "little")])  # the first row
    (run / "run.index").unlink()
    done = asara(*words(cup, "--resume"))
    assert done.returncode == 0, done.stderr
    assert len((run / "results.jsonl").read_text().splitlines()) == MATCHES
    audited = asara("audit", run)
    assert audited.returncode == 0, audited.stdout


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="cut short"),
        pytest.param(lambda data: data[:300] + bytes([data[300] ^ 4]) + data[301:], id="flipped"),
        pytest.param(lambda data: data.replace(b"\n", b"\x0b", 1), id="two lines joined"),
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
    reopen(cup / "run")
    assert path.read_bytes() == whole


DOCUMENTS = (
    "run.json",
    *("manifest.json", "manifest.json.sig", "tree_head.json", "tree_head.json.sig"),
)


def test_documents_that_are_missing_are_written_again_from_the_journal(
    cup: Path, tmp_path: Path
) -> None:
    def take(run: Path) -> dict[str, bytes]:
        paths = [run / name for name in DOCUMENTS if (run / name).exists()]
        taken = {path.name: path.read_bytes() for path in paths}
        for path in paths:
            path.unlink()
        return taken

    documents = take(cup / "run")
    assert len(documents) == 3
    reopen(cup / "run")
    assert take(cup / "run") == documents
    finished = play_run(tmp_path / "finished")
    documents = take(finished)
    assert len(documents) == 5
    with pytest.raises(RunError, match="this run is complete"):
        RunDirectory.reopen(finished)
    assert take(finished) == documents


def test_replays_that_are_missing_are_written_again_from_the_journal(cup: Path) -> None:
    replays = sorted((cup / "run" / "replays").glob("[!.]*.asara"))  # not one cut off by the kill
    whole = [path.read_bytes() for path in replays]
    for path in replays:
        path.unlink()
    written = replays[0], cup / "run" / "run.json"
    cut_off = [path.with_name(f".{path.name}.01234567.part") for path in written]
    for path in cut_off:
        path.touch()
    reopen(cup / "run")
    assert [path.read_bytes() for path in replays] == whole
    assert not any(path.exists() for path in cut_off)
