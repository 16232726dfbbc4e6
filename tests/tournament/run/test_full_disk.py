"""A full disk ends a run in a sentence that names the file, and what was committed stays.

The run plays on a small file system of its own, which the kernel mounts for one process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from asara_server.logs import configure, logger
from tests.cli.command import command_line, environment
from tests.tournament.sample_bots import GOOD, HEADER, write_tournament
from tests.tournament.samples import read_results

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")

ON_SMALL_DISK = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && "$@"; status=$?; '
ON_SMALL_DISK += 'cp -a "$DISK/." "$KEPT"; exit $status'
"""A script that plays on a new file system and then copies what is on it."""


def may_mount(folder: Path) -> bool:
    words = ["unshare", "-m", "mount", "-t", "tmpfs", "none", str(folder)]
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.long
def test_a_run_on_a_full_disk_ends_in_a_sentence_and_goes_on_with_more_room(
    tmp_path: Path,
) -> None:
    size_kb, rounds = 200, 6
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    kept.mkdir()
    if not may_mount(disk):
        pytest.skip("may not mount a file system")
    bots = {"ann": GOOD, "bob": GOOD}
    file = write_tournament(tmp_path, bots, f"{HEADER}rounds = {rounds}\njobs = 2\n")
    words = ("tournament", "run", file, "--key", tmp_path / "key", "--out")
    mounted = ["unshare", "-m", "sh", "-c", ON_SMALL_DISK, "sh", f"{size_kb}k", str(disk)]
    done = subprocess.run(
        [*mounted, *command_line(*words, disk / "run")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**environment(), "DISK": str(disk), "KEPT": str(kept)},
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2), done.stderr
    faults = [line for line in done.stderr.splitlines() if line.startswith("asara: ")]
    assert faults, done.stderr
    for fault in faults:
        assert str(disk / "run") in fault
        assert "No space left" in fault or "disk is full" in fault
    assert "make room" in faults[-1]
    assert "with --resume" in faults[-1]
    run = kept / "run"
    before = {result.match_id for result in read_results(run / "results.jsonl")}
    again = subprocess.run(
        command_line(*words, run, "--resume"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(),
    )
    assert again.returncode == 0, again.stderr
    results = read_results(run / "results.jsonl")
    assert len(results) == len({result.match_id for result in results}) == 2 * rounds
    assert before <= {result.match_id for result in results}
    assert json.loads((run / "run.json").read_text())["state"] == "finished"


@needs_full
def test_lost_log_lines_are_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    with FULL.open("a", encoding="utf-8", buffering=1) as file:
        configure("info", file)
        for number in range(100):
            logger("runner").info("something happened", number=number)
        configure("error")
        assert capsys.readouterr().err == (
            "asara: /dev/full: No space left on device: lines of this log are lost\n"
        )
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())  # so that it can be closed


@needs_full
def test_standard_output_that_is_full_is_named() -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "asara_server.cli", "rules"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "asara: standard output: No space left on device\n"
