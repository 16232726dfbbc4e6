"""`asara tournament run --resume`: which runs it continues, and which it refuses."""

import json
import os
import signal
from pathlib import Path

import pytest

from asara_server.journal.rows import RowReader
from asara_server.replay.signing import load_or_make_key
from tests.cli.command import asara, interrupted_run, refusal
from tests.tournament import sample_bots
from tests.tournament.sample_bots import HEADER, write_tournament

GOOD = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD}


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tournament file and a run that was stopped by a signal."""
    folder = tmp_path_factory.mktemp("cup")
    file = write_tournament(folder, GOOD, HEADER + "rounds = 8\njobs = 1\n")
    words = ("tournament", "run", file, "--out", folder / "run", "--key", folder / "key")
    status, stderr = interrupted_run(words, 2, signal.SIGTERM)
    assert status == 128 + signal.SIGTERM
    assert "To resume this run, repeat the command with --resume." in stderr
    return folder


def resume(folder: Path, *words: str | Path, key: str = "key") -> str:
    """Return the error of a run that is not resumed."""
    out = words or ("--out", folder / "run")
    return refusal(
        "tournament", "run", folder / "cup.toml", *out, "--key", folder / key, "--resume"
    )


@pytest.mark.long
def test_a_run_goes_on_only_as_it_was_begun(cup: Path, tmp_path: Path) -> None:
    run = cup / "run"
    assert resume(cup, "--out", tmp_path / "none") == (
        f"asara: {tmp_path / 'none'}: contains no run; start one without --resume\n"
    )
    assert not (tmp_path / "none").exists()
    assert "No such file" in resume(cup, key="other")
    load_or_make_key(cup / "other")
    assert "signed with another key; pass that key with --key" in resume(cup, key="other")
    file = cup / "cup.toml"
    begun = file.read_text()
    file.write_text(begun.replace("rounds = 8", "rounds = 9"))
    try:
        assert resume(cup) == (
            f"asara: {file}: differs from {run / 'tournament.toml'}, with which the run was "
            "started; restore it, or start another run\n"
        )
    finally:
        file.write_text(begun)
    (run / "run.json").write_text("{}")
    assert "signed with another key" in resume(cup, key="other")
    assert json.loads((run / "run.json").read_text())["state"] == "cut short"


@pytest.mark.long
def test_a_run_that_is_complete_is_not_resumed(cup: Path) -> None:
    """Continues the run of the test before, to its end."""
    run = cup / "run"
    (run / "replays" / ".r1-basic-0001.asara.x.part").touch()  # what a kill leaves
    words = ("--out", run, "--key", cup / "key", "--resume")
    asara("tournament", "run", cup / "cup.toml", *words, status=0)
    assert len(list((run / "replays").iterdir())) == 16
    assert resume(cup) == f"asara: {run}: this run is complete; there is nothing to resume\n"


@pytest.mark.long
def test_a_series_of_matches_is_no_tournament(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert asara("match", "random", "random", "--out", out).returncode == 0
    log = out / "run.journal"
    with log.open("rb") as opened:
        reader = RowReader(opened, log)
        ends = [reader.end for _ in reader.rows()]
    os.truncate(log, ends[-2])  # without the end of the run
    (out / "run.index").unlink()
    file = write_tournament(tmp_path, GOOD)
    assert "this run has no tournament file" in refusal(
        "tournament", "run", file, "--out", out, "--resume"
    )


@pytest.mark.long
def test_what_a_run_leaves_that_was_killed_at_once_is_no_run(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, GOOD)
    out = tmp_path / "run"
    for folder in ("replays", "logs"):
        (out / folder).mkdir(parents=True)
    (out / "run.journal").touch()
    words = ("tournament", "run", file, "--out", out)
    assert "contains no run; start one without --resume" in refusal(*words, "--resume")
    assert asara(*words).returncode == 0
