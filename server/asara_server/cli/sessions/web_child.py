"""Starts `asara web` as a separate process, for commands that referee matches."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from asara_server import system
from asara_server.cli.display.console import err, notify, warn
from asara_server.cli.errors import UserError
from asara_server.cli.sessions.web import STARTED, check_web_packages
from asara_server.network.addresses import ServeError

_START_S: Final = 30.0
"""Seconds for the process to start listening."""
_STOP_S: Final = 5.0


@contextmanager
def web_child(
    directories: Sequence[Path],
    listen: str,
    *,
    play: str | None = None,
    insecure_remote: bool = False,
    option: str = "--web",
) -> Iterator[str]:
    """Serve the page from a separate process; yield its address, `host:port`.

    `play` is the address of a referee for people who play. `option` is the option to mention in a
    UserError if the page cannot be served. The process ends on exit, and also if this process is
    killed.
    """
    check_web_packages()
    command = [sys.executable, "-m", "asara_server.cli", "web", *map(str, directories)]
    command += ["--listen", listen, "--child"]
    command += ["--insecure-remote"] if insecure_remote else []
    command += ["--play", play] if play else []
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for this process
        creationflags=system.CREATION_FLAGS,
    ) as process:
        try:
            yield _address(process, option)
        finally:
            _stop(process)


class PageOfRun:
    """The page of a run that is being played; without an address, it does nothing."""

    def __init__(self, start: Callable[[Path], str] | None) -> None:
        """`start` serves a directory and returns the address; it raises UserError and OSError."""
        self._start = start
        self._address = ""

    def show(self, directory: Path) -> None:
        """Serve a run's directory or a folder of replays; a failure does not affect the matches."""
        if self._start is None:
            return
        try:
            self._address = self._start(directory)
        except (UserError, OSError) as error:
            warn(f"the matches are not shown: {error}")
        else:
            notify(f"{STARTED}http://{self._address}/")

    def stay(self) -> None:
        """If the command runs on a terminal, keep serving until the user has seen the end."""
        if self._address:
            stay(self._address)


def stay(address: str) -> None:
    """On a terminal, wait for Enter or Ctrl-C, so that the user can still look at the page."""
    if not (sys.stdin and sys.stdin.isatty() and err.is_terminal):
        return
    notify(f"The page stays at http://{address}/ until you press Enter.")
    try:
        sys.stdin.readline()
    except KeyboardInterrupt:
        notify("")  # the shell's prompt begins a line


@contextmanager
def web_for_run(listen: str | None, *, insecure_remote: bool) -> Iterator[PageOfRun]:
    """Yield the page of a run, which is served until the context ends.

    Raises UserError for an address that cannot be used, before anything is played.
    """
    if listen is None:
        yield PageOfRun(None)
        return
    check_web_packages()
    from asara_server.web.server import ListeningSocket

    try:
        ListeningSocket(listen, allow_remote=insecure_remote).socket.close()
    except ServeError as error:
        raise UserError(f"--web: {error}") from None
    with ExitStack() as stack:
        yield PageOfRun(
            lambda directory: stack.enter_context(
                web_child([directory], listen, insecure_remote=insecure_remote)
            )
        )


def _address(process: "subprocess.Popen[bytes]", option: str) -> str:
    """Return the address at which a process listens; its later output is shown."""
    assert process.stderr is not None
    late = threading.Event()

    def give_up() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(_START_S, give_up)
    timer.start()
    printed = b""
    while not (printed.endswith(b"\n") and STARTED.encode() in printed):
        data = os.read(process.stderr.fileno(), 4096)
        if not data:
            timer.cancel()
            why = "the web server did not start in time" if late.is_set() else _last_line(printed)
            raise UserError(f"{option}: {why}", status=process.wait(_STOP_S) or 1)
        printed += data
    timer.cancel()
    before, _, line = printed.decode(errors="replace").partition(STARTED)
    for text in before.splitlines():
        notify(text)
    threading.Thread(target=_show, args=(process,), name="web", daemon=True).start()
    return line.strip().removeprefix("http://").rstrip("/")


def _last_line(printed: bytes) -> str:
    """Return a process's error without the command name and option; this command adds its own."""
    lines = printed.decode(errors="replace").strip().splitlines() or ["the web server ended"]
    return lines[-1].removeprefix("asara: ").removeprefix("--listen: ")


def _show(process: "subprocess.Popen[bytes]") -> None:
    """Show what the process prints, and report it if the process ends before it is stopped."""
    assert process.stderr is not None
    assert process.stdin is not None
    for line in process.stderr:
        err.print(line.decode(errors="replace").rstrip(), soft_wrap=True)
    if not process.stdin.closed:
        warn(
            "the web server has ended, but the matches continue; to show them again, "
            "run asara web in another terminal"
        )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Close a process's standard input to end it; kill the process if it does not end."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
