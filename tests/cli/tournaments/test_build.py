"""`asara tournament run` with builds: progress, failures on the screen, and after a resumption."""

import re
from pathlib import Path

import pytest

from asara_server.tournament.run.directory import has_run
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.run.status import StatusReader
from tests.cli.command import asara, started
from tests.events import wait_until
from tests.tournament import sample_bots
from tests.tournament.sample_bots import HEADER

FAILS = r"""
printf '\033[31merror\033[0m: no crate \342\200\256 here\n    --> %s/main.rs\n' "$PWD"
i=0; while [ $i -lt 900 ]; do i=$((i+1)); printf x; done; echo
exit 101
"""
ENTRY = """
[[entries]]
name = "{0}"
directory = "{0}"
build = "sh build.sh"
command = "python bot.py"
"""


def write_cup(folder: Path) -> Path:
    text = HEADER + "jobs = 2\n"
    for name, script in {"fails": FAILS, "slow": "sleep 60"}.items():
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(sample_bots.GOOD)
        (folder / name / "build.sh").write_text(script)
        text += ENTRY.format(name)
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


def until_built(run: Path) -> str:
    """Wait until only the slow build goes on; return what `asara status` shows."""
    reader = StatusReader(run)

    def only_the_slow_one() -> bool:
        if not has_run(run):
            return False
        status = reader.read()
        return bool(status.info.out) and list(status.building) == ["slow"]

    wait_until("only the slow build goes on", only_the_slow_one)
    return asara("status", run).stdout


@pytest.mark.long
def test_a_failed_build_is_shown_at_once_and_stays_out_when_the_run_resumes(tmp_path: Path) -> None:
    file, run = write_cup(tmp_path), tmp_path / "run"
    words = ("tournament", "run", file, "--out", run, "--key", tmp_path / "key")
    options = ("--sandbox", "none")
    with started(*words, *options) as process:
        shown = until_built(run)
        process.kill()
        assert process.stderr
        screen = process.stderr.read()
    assert re.search(r"^Building slow for \d+ s\.$", shown, re.MULTILINE)
    assert "fails" in shown.split("Out of the run\n")[1]
    assert "fails is out: build failed: exited with status 101; it printed:\n" in screen
    assert "\n  | error: no crate   here\n  |     --> ./main.rs\n  | xxx" in screen
    assert f"\n  all of it: {run / 'logs' / 'build-fails.log'}\n" in screen
    assert "test it with `asara tournament check`, and start another run" in screen
    assert "\x1b" not in screen
    assert max(map(len, screen.splitlines())) < 600  # of 900
    assert str(tmp_path) not in "".join(read_run(run).info.build_output["fails"])

    (tmp_path / "slow" / "build.sh").write_text("true")
    (tmp_path / "fails" / "build.sh").write_text("true")
    resumed = asara(*words, *options, "--resume")
    why = "build failed: exited with status 101"
    assert f"fails stays out and forfeits its remaining matches: {why}\n" in resumed.stderr
    assert not (run / "builds" / "fails").exists()
    info = read_run(run).info
    assert (info.state, info.out, info.suspended) == ("finished", {"fails": why}, {})
    assert (info.building, info.to_build) == ({}, ())
