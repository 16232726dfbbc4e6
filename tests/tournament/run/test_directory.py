"""The directory of a run: one run plays in it, and only its owner reads its secrets."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from asara_server.eventlog.journal import Fact
from asara_server.tournament.run.directory import RunDirectory, RunError
from asara_server.tournament.run.run_record import RUN
from tests.cli.command import command_line, environment, refusal
from tests.events import EVENT_S
from tests.tournament.sample_bots import GOOD, HEADER, write_tournament
from tests.tournament.samples import INFO, RUNNING

SLOW = "import signal\nsignal.pause()\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator["tuple[Path, int]"]:
    """Yield a folder with a run that is being played, and the number of its process."""
    folder = tmp_path_factory.mktemp("live")
    file = write_tournament(folder, {"ann": SLOW, "bob": GOOD}, HEADER)
    words = ("tournament", "run", file, "--out", folder / "run", "--key", folder / "key")
    process = subprocess.Popen(
        command_line("-v", *words),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    assert process.stderr
    assert any("run started" in line for line in process.stderr)
    yield folder, process.pid
    process.terminate()
    process.communicate(timeout=EVENT_S)


def contents(folder: Path) -> dict[str, int]:
    """Return the files by path, without those that the run being played replaces itself."""
    return {
        str(path): path.stat().st_ino
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.json" and path.suffix != ".part"
    }


@pytest.mark.parametrize("command", ["tournament --resume", "match", "duel"])
def test_every_command_is_refused_with_the_process_of_the_run(
    live: tuple[Path, int], command: str
) -> None:
    folder, process = live
    run = ("--out", folder / "run")
    name, *option = command.split()
    words: list[str | Path] = [name, "random", "random"]
    if name == "tournament":
        words = ["tournament", "run", folder / "cup.toml", *option, "--key", folder / "key"]
    before = contents(folder / "run")
    error = refusal(*words, *run)
    assert f"run: a run is being played in it by process {process}: wait until" in error
    assert before.items() <= contents(folder / "run").items()


CREATES = """
import sys
from pathlib import Path
from asara_server.tournament.run.directory import RunDirectory
directory = RunDirectory.create(Path(sys.argv[1]))
print("created", flush=True)
sys.stdin.read()
"""


def test_a_directory_is_locked_before_there_is_a_run_in_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CREATES, str(tmp_path / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        before = contents(tmp_path)
        with pytest.raises(RunError, match=f"being played in it by process {first.pid}"):
            RunDirectory.create(tmp_path / "run")
        assert contents(tmp_path) == before
        first.kill()
    RunDirectory.create(tmp_path / "run").close()


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
