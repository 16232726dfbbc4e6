"""Runs `asara` as a user does: a process of its own, 80 columns, no terminal."""

import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from asara_server.cli import main

COLUMNS = "80"


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": COLUMNS, "NO_COLOR": "1"}


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
    """What `asara` says when it refuses, which it does with status 2 and nothing else.

    In this process, which is quicker; an exception that is not meant for users passes through.
    """
    said, printed = StringIO(), StringIO()
    with (
        chdir(cwd or Path.cwd()),
        redirect_stderr(said),
        redirect_stdout(printed),
        pytest.raises(SystemExit) as caught,
    ):
        main([*map(str, words)])
    assert caught.value.code == 2
    assert printed.getvalue() == ""
    return said.getvalue()
