"""The limit on open files: raised, and a run that could exceed it says so before it begins."""

import shlex
import subprocess
from pathlib import Path

from tests.cli.command import command_line, environment

BOT = Path(__file__).parents[2] / "bots" / "random" / "main.py"


def with_open_files(limit: str, *words: object) -> "subprocess.CompletedProcess[str]":
    """Run a command with this limit, as an argument of the shell's ulimit."""
    command = shlex.join(map(str, words))
    return subprocess.run(
        ["/bin/sh", "-c", f"ulimit {limit} && exec {command}"],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )


def test_a_run_that_may_need_more_files_than_it_can_open_does_not_start(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    bot = f'command = ["python", "{BOT}"]'
    file.write_text(
        'title = "Cup"\nseats = 2\nrules = "basic"\njobs = 1\nprocess_per = "match"\n'
        f'[[entries]]\nname = "a"\n{bot}\n[[entries]]\nname = "b"\n{bot}\n'
    )
    words = command_line("tournament", "run", file, "--out", tmp_path / "run")
    done = with_open_files("-n 90", *words)
    assert done.returncode == 1
    assert (
        "the system lets this program open 90 files, and the run may need 112: raise the limit "
        "(ulimit -n 112), or lower jobs or limits.idle_processes" in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_a_match_whose_address_strangers_could_exhaust_does_not_start() -> None:
    words = command_line("match", "guest", "guest")
    done = with_open_files("-S -n 100 && ulimit -H -n 300", *words)
    assert done.returncode == 1
    # The soft limit was raised to the hard one.
    assert "lets this program open 300 files, and the run may need 608: raise" in done.stderr
