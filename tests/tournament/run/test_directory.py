"""The directory of a run: one run plays in it, and only its owner reads its secrets."""

import errno
import io
import os
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from asara_server.journal.journal import Fact, Journal, JournalError
from asara_server.logs import configure
from asara_server.replay.signing import load_or_make_key
from asara_server.tournament.run import directory as directory_module
from asara_server.tournament.run.directory import (
    JOURNAL,
    RESULTS,
    RunDirectory,
    RunError,
    block_journal,
    wait_for_writers,
)
from asara_server.tournament.run.run_record import RUN
from tests.cli.command import refusal
from tests.events import EVENT_S
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


BEGUN = Fact(RUN, INFO.model_copy(update=RUNNING).model_dump(mode="json"))


def test_what_a_run_left_that_never_began_is_cleared(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path).close()
    (tmp_path / "logs" / "ann.log").touch()
    with closing(RunDirectory.create(tmp_path)) as directory:
        directory.note(BEGUN)
    assert not list((tmp_path / "logs").iterdir())
    with closing(RunDirectory.reopen(tmp_path)) as directory:
        assert directory.info.state == "running"


def test_what_is_signed_by_its_hash_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(RunDirectory.create(tmp_path)) as directory:
        directory.note(BEGUN)
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync", synced.append)
        assert directory.results_sha256() == sha256((tmp_path / RESULTS).read_bytes()).hexdigest()
        assert directory.journal.sha256() == sha256((tmp_path / JOURNAL).read_bytes()).hexdigest()
        assert synced == [directory._results.fileno(), directory.journal._file.fileno()]


def test_the_end_of_a_run_is_removed_when_it_goes_on(tmp_path: Path) -> None:
    run = play_run(tmp_path, most=2)
    ends = [run / name for name in ("tree_head.json", "tree_head.json.sig", "standings.json")]
    assert all(path.exists() for path in ends)
    with closing(RunDirectory.reopen(run)) as directory:
        directory.change(state="running")
        assert not any(path.exists() for path in ends)


def test_only_what_changes_is_noted(tmp_path: Path) -> None:
    with closing(RunDirectory.create(tmp_path)) as directory:
        directory.note(BEGUN)
        size = directory.journal.size
        directory.change(state="running", entries=INFO.entries)
        assert directory.journal.size == size
        directory.change(state="cut short", entries=INFO.entries)
    with Journal(tmp_path / JOURNAL) as journal:
        assert journal.facts == [BEGUN, Fact(RUN, {"state": "cut short"})]


def test_a_run_goes_on_although_its_copies_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    log = io.StringIO()
    configure("info", log)
    with closing(RunDirectory.create(tmp_path)) as directory:
        directory.note(BEGUN)
        monkeypatch.setattr(directory_module, "replace_file", full)
        directory.change(state="cut short")
        assert directory.info.state == "cut short"
    assert "run.json not written" in log.getvalue()
    assert "No space left on device" in log.getvalue()


def test_workers_of_a_killed_runner_are_waited_for_but_not_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(RunDirectory.create(tmp_path)) as directory:
        for _ in range(2):
            directory.make_journals()
        block_journal(tmp_path, "r1-basic-0001").touch()
        holders: list[int | None] = [7, 7, None]
        monkeypatch.setattr(directory_module, "known_holder", lambda _: holders.pop(0))
        wait_for_writers(tmp_path, EVENT_S)
        assert not holders
        holders += [7, 7, 7]
        with pytest.raises(JournalError, match=r"r1-basic-0001.journal: .* \(process 7\)"):
            wait_for_writers(tmp_path, -1.0)


def test_a_directory_that_cannot_hold_a_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    for name in ("loop", "file", "file/run", "n" * 256, "/proc/run", "/".join("n" * 3000)):
        with pytest.raises(RunError) as caught:
            RunDirectory.create(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
        assert "[Errno" not in str(caught.value)


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
        directory.note(BEGUN)
        directory.export()
        assert set(modes(directory.path).values()) == {0o600}
        directory.change(state="cut short")
        assert set(modes(directory.path).values()) == {0o600}
        directory.change(state="finished")
        (mode,) = set(modes(directory.path).values())
        assert mode != 0o600
        assert directory.tournament_file.read_bytes() == file.read_bytes()
