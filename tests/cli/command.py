"""Runs `asara` as a user does: a process of its own, 80 columns."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from asara_server.cli import main

COLUMNS = "80"


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": COLUMNS, "NO_COLOR": "1"}


def command_line(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "asara_server.cli", *map(str, words)]


def asara(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """How it ended, and what it printed where there is no terminal."""
    done = subprocess.run(
        command_line(*words),
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


def on_terminal(
    *words: str | Path,
    cwd: Path | None = None,
    rows: int = 24,
    at: bytes = b"",
    do: Callable[[subprocess.Popen[bytes]], None] = lambda process: None,
) -> str:
    """What a terminal of 80 columns is sent by a command that ends well.

    Once the terminal was sent `at`, `do` is called.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(*words),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={**environment(), "TERM": "xterm", "LINES": str(rows)},
    )
    os.close(theirs)
    killer = threading.Timer(60, process.kill)
    killer.start()
    text = b""
    try:
        while part := os.read(ours, 65536):
            if at not in text and at in text + part:
                do(process)
            text += part
    except OSError:  # Linux says so when the other side is closed
        pass
    finally:
        killer.cancel()
        os.close(ours)
    assert process.wait(10) == 0, text
    assert b"Traceback" not in text
    return text.decode()
