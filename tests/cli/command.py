"""Run `asara` with 80 columns, in this process or, like a user, in a new one."""

import functools
import itertools
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from io import BytesIO, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import typer

from asara_server.cli import main
from asara_server.cli.app import app
from asara_server.cli.display import console as console_module
from asara_server.cli.display.console import err, out
from tests.events import EVENT_S, wait_until
from tests.log_settings import logs_as_before

COLUMNS = "80"


@functools.cache
def all_commands() -> dict[str, Any]:
    """Return every command and group by its words, such as `replay` and `replay show`."""
    found: dict[str, Any] = {}

    def add(group: Any, path: str) -> None:
        for name, member in getattr(group, "commands", {}).items():
            found[f"{path}{name}"] = member
            add(member, f"{path}{name} ")

    add(typer.main.get_command(app), "")
    return found


def leaf_commands() -> dict[str, Any]:
    """Return every command that is no group by its words."""
    return {name: one for name, one in all_commands().items() if not hasattr(one, "commands")}


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a user, without what this process has set for gRPC."""
    inherited = {name: os.environ[name] for name in os.environ if not name.startswith("GRPC_")}
    return {**inherited, "COLUMNS": COLUMNS, "NO_COLOR": "1", **changes}


def command_line(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "asara_server.cli", *map(str, words)]


@contextmanager
def started(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Yield a running command; kill it at the exit, and close its outputs."""
    with subprocess.Popen(
        command_line(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=env or environment(),
    ) as process:
        # Otherwise a failing test would hang. A table serves the tests of a whole module.
        killer = threading.Timer(10 * EVENT_S, process.kill)
        killer.start()
        try:
            yield process
        finally:
            killer.cancel()
            process.kill()


def interrupted_run(
    words: Iterable[str | Path], matches: int, by: signal.Signals
) -> tuple[int, str]:
    """Run a tournament until so many matches are over; return its status and standard error."""
    with started("-v", *words) as process:
        assert process.stderr is not None
        overs = (line for line in process.stderr if "match over" in line)
        assert len(list(itertools.islice(overs, matches))) == matches
        process.send_signal(by)
        _, stderr = process.communicate(timeout=EVENT_S)
    return process.returncode, stderr


def signalled(
    number: signal.Signals, ready: Callable[[], object], *words: str | Path
) -> tuple[int, str]:
    """Run a command, and send it a signal once it is `ready`; return its status and error."""
    with started(*words) as process:
        wait_until("the command is ready", ready)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=EVENT_S)
    return process.returncode, stderr


def asara(
    *words: str | Path, cwd: Path | None = None, status: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, without a terminal; return its status and output.

    With `status`, the command must end with it. This is faster than a new process.
    """
    stderr, stdout = _text_stream(errors="backslashreplace"), _text_stream()
    ended = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        logs_as_before(),
        chdir(cwd or Path.cwd()),
        redirect_stderr(stderr),
        redirect_stdout(stdout),
    ):
        patch.setattr(sys, "stdin", _text_stream())
        for console in (out, err):  # they have read the environment already
            patch.setattr(console, "_width", int(COLUMNS))
            patch.setattr(console, "no_color", True)
        patch.setattr(console_module, "_quiet", False)
        try:
            main([*map(str, words)])
        except SystemExit as end:
            ended = int(end.code or 0)
    done = subprocess.CompletedProcess(words, ended, _text(stdout), _text(stderr))
    _assert_no_traceback(done)
    assert status in {None, ended}, done
    return done


def _text_stream(errors: str = "strict") -> TextIOWrapper:
    """Return what stands in for a standard stream, with a `buffer` of bytes."""
    return TextIOWrapper(BytesIO(), "utf-8", errors, newline="", write_through=True)


def _text(stream: TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def asara_process(
    *words: str | Path,
    cwd: Path | None = None,
    timeout_s: float = EVENT_S,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command in a new process, without a terminal; return its status and output."""
    done = subprocess.run(
        command_line(*words),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=cwd,
        env=env or environment(),
        check=False,
    )
    _assert_no_traceback(done)
    return done


def _assert_no_traceback(done: subprocess.CompletedProcess[str]) -> None:
    """The command's own traceback; that of a bot is indented."""
    assert not re.search("^Traceback", done.stderr + done.stdout, re.MULTILINE), done.stderr


def refusal(*words: str | Path, cwd: Path | None = None) -> str:
    """Run a command that must end with status 2 and no output; return its standard error."""
    done = asara(*words, cwd=cwd, status=2)
    assert done.stdout == ""
    return done.stderr


@contextmanager
def in_terminal(
    *words: str | Path, cwd: Path | None = None, rows: int = 24
) -> Iterator[tuple[subprocess.Popen[bytes], FileIO]]:
    """Yield a command in a terminal of 80 columns, and our end of it; kill it at the exit."""
    ours, theirs = pty.openpty()
    with (
        FileIO(ours, "r+") as terminal,
        subprocess.Popen(
            command_line(*words),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env={**environment(), "TERM": "xterm", "LINES": str(rows)},
        ) as process,
    ):
        os.close(theirs)
        killer = threading.Timer(4 * EVENT_S, process.kill)
        killer.start()
        try:
            yield process, terminal
        finally:
            killer.cancel()
            process.kill()


def received(terminal: FileIO, up_to: bytes | None = None) -> bytes:
    """Return what a terminal receives, until this text has come or all programs have closed it."""
    text = b""
    with suppress(OSError):  # Linux raises it when the other side is closed
        while (up_to is None or up_to not in text) and (part := terminal.read(65536)):
            text += part
    return text


def on_terminal(
    *words: str | Path,
    rows: int = 24,
    at: bytes = b"",
    times: int = 1,
    do: Callable[[subprocess.Popen[bytes]], None] = lambda process: None,
) -> str:
    """Run a command in a terminal of 80 columns; return everything that the terminal received.

    The command must succeed. `do` is called once the terminal has received `at` so many `times`.
    """
    with in_terminal(*words, rows=rows) as (process, terminal):
        text = b"".join(received(terminal, at) for _ in range(times if at else 0))
        do(process)
        text += received(terminal)
        assert process.wait(EVENT_S) == 0, text
    assert b"Traceback" not in text
    return text.decode()
