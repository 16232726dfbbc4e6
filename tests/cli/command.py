"""Runs `asara` as a user does: a process of its own, 80 columns, no terminal."""

import os
import subprocess
import sys
from pathlib import Path


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}


def asara(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "asara_server.cli", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env=environment(),
        check=False,
    )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


def refusal(*words: str | Path, cwd: Path | None = None) -> str:
    """What `asara` says when it refuses, which it does with status 2 and nothing else."""
    done = asara(*words, cwd=cwd)
    assert done.returncode == 2
    assert done.stdout == ""
    return done.stderr
