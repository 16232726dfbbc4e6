"""The directory of a run: one run plays in it, and only its owner reads its secrets."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from asara_server.eventlog.journal import Fact
from asara_server.replay.signing import load_or_make_key
from asara_server.tournament.run.directory import RunDirectory, RunError
from asara_server.tournament.run.run_record import RUN
from tests.cli.command import refusal
from tests.tournament.played_runs import play_run
from tests.tournament.samples import INFO, RUNNING

HOLDS = """
import sys
from pathlib import Path
from asara_server.replay.signing import load_or_make_key
from asara_server.tournament.run.directory import RunDirectory, open_journal
new, begun = map(Path, sys.argv[1:])
directory, journal = RunDirectory.create(new), open_journal(begun)
print("held", flush=True)
sys.stdin.read()
"""


def contents(folder: Path) -> dict[str, int]:
    """Return the files by path."""
    return {str(path): path.stat().st_ino for path in folder.rglob("*") if path.is_file()}


def test_a_directory_is_refused_with_the_process_that_holds_it(tmp_path: Path) -> None:
    """Whether a run has begun in it or not."""
    begun, new = play_run(tmp_path, most=2), tmp_path / "new"
    load_or_make_key(tmp_path / "key")
    command = [sys.executable, "-c", HOLDS, str(new), str(begun)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        before = contents(tmp_path)
        refused = f"being played in it by process {holder.pid}: wait until"
        with pytest.raises(RunError, match=refused):
            RunDirectory.create(new)
        for words in (
            ("match", "random", "random"),
            ("duel", "random", "random"),
            ("tournament", "run", tmp_path / "cup.toml", "--resume", "--key", tmp_path / "key"),
        ):
            assert refused in refusal(*words, "--out", begun)
        assert before.items() <= contents(tmp_path).items()
        holder.kill()
    RunDirectory.create(new).close()


def test_a_directory_that_cannot_hold_a_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    for name in ("loop", "file", "file/run", "n" * 256, "/proc/run", "/".join("n" * 3000)):
        with pytest.raises(RunError) as caught:
            RunDirectory.create(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)


def modes(path: Path) -> dict[str, int]:
    return {
        name: (path / name).stat().st_mode & 0o777
        for name in ("run.json", "tournament.toml", "run.journal", "run.index")
    }


def test_seed_and_secrets_are_private_until_the_run_is_finished(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('seed = "…"\n')
    file.chmod(0o644)
    with closing(RunDirectory.create(tmp_path / "run")) as directory:
        directory.keep_tournament_file(file)
        directory.note(Fact(RUN, INFO.model_copy(update=RUNNING).model_dump(mode="json")))
        directory.export()
        assert set(modes(directory.path).values()) == {0o600}
        directory.change(state="cut short")
        assert set(modes(directory.path).values()) == {0o600}
        directory.change(state="finished")
        (mode,) = set(modes(directory.path).values())
        assert mode != 0o600
        assert directory.tournament_file.read_bytes() == file.read_bytes()
