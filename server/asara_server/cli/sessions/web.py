"""Serves the page, for `asara web` and for the process that other commands start to show it."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from asara.installing import install_command
from asara_server import system
from asara_server.cli.commands.web import Web
from asara_server.cli.display.console import err, notify, warn
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.signals import live_with_parent
from asara_server.logs import configure
from asara_server.network.addresses import ServeError
from asara_server.user_error import UserError

WEB_PACKAGES: Final = ("starlette", "uvicorn", "websockets", "h11", "anyio")
"""Packages that the extra `web` installs."""

_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?|'self'")
_STOP_S: Final = 5.0
STARTED: Final = "Showing matches at "
"""Printed before the address, in the line that reports that requests are answered."""


def serve_web(options: Web, _log: LogOptions) -> None:
    """Serve until Ctrl-C, SIGTERM or, for a child process, the end of the parent."""
    check_web_packages()
    from asara_server.web.app import create_app
    from asara_server.web.server import ListeningSocket, run_web_server
    from asara_server.web.settings import WebSettings

    configure("error")
    hosts, embed = options.hosts or (), options.embed or ()
    for origin in embed:
        if not _ORIGIN.fullmatch(origin):
            raise UserError(f"--embed {origin}: write an origin, such as https://example.org")
    sources = options.directories or _usual_directories()
    for directory in sources:
        if not directory.is_dir():
            raise UserError(f"{directory}: no such folder")
    try:
        listening = ListeningSocket(options.listen, allow_remote=options.insecure_remote)
    except ServeError as error:
        raise UserError(f"--listen: {error}") from None
    settings = WebSettings(
        sources=tuple(sources),
        hosts=frozenset({listening.host, socket.gethostname(), *hosts}),
        frame_ancestors=("'self'", *embed),
        # A configured name means a proxy or other machines, so strangers may have access.
        logs=not options.insecure_remote and not hosts,
        play_address=options.play,
    )
    if options.child:
        live_with_parent()
    run_web_server(
        create_app(settings),
        listening,
        settings.limits,
        lambda: _notify_started(listening.address, child=options.child),
        last_look=options.child,
    )


def _notify_started(address: str, *, child: bool) -> None:
    notify(f"{STARTED}http://{address}/")
    if not child:
        notify("Press Ctrl-C to stop.")


def check_web_packages() -> None:
    """Raise UserError if the packages of the extra `web` are missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in WEB_PACKAGES:
            raise
        raise UserError(
            f"the page needs the package {error.name}: run {install_command('web')}", status=1
        ) from None


def _usual_directories() -> Sequence[Path]:
    """Return the current directory if it contains runs, otherwise `runs`."""
    from asara_server.web.run_catalogue import RunCatalogue

    here = Path()
    if not RunCatalogue([here]).sources() and (here / "runs").is_dir():
        return [here / "runs"]
    return [here]


# A process of its own, for commands that referee matches


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


def check_page_address(listen: str, *, insecure_remote: bool) -> None:
    """Raise UserError if the page of a run cannot be served, before anything is played."""
    check_web_packages()
    from asara_server.web.server import ListeningSocket

    try:
        ListeningSocket(listen, allow_remote=insecure_remote).socket.close()
    except ServeError as error:
        raise UserError(f"--web: {error}") from None


@contextmanager
def page_of_run(directory: Path, listen: str, *, insecure_remote: bool) -> Iterator[str | None]:
    """Serve the page of a run that is being played; yield its address.

    A failure does not affect the matches; the address is then None.
    """
    with ExitStack() as stack:
        address = None
        try:
            page = web_child([directory], listen, insecure_remote=insecure_remote)
            address = stack.enter_context(page)
            notify(f"{STARTED}http://{address}/")
        except (UserError, OSError) as error:
            warn(f"the matches are not shown: {error}")
        yield address


def stay(address: str) -> bool:
    """On a terminal, wait for Enter or Ctrl-C, so that the user can still look at the page.

    Return False without a terminal.
    """
    if not (sys.stdin and sys.stdin.isatty() and err.is_terminal):
        return False
    notify(f"The page stays at http://{address}/ until you press Enter.")
    try:
        sys.stdin.readline()
    except KeyboardInterrupt:
        notify("")  # the shell's prompt begins a line
    return True


def _address(process: "subprocess.Popen[bytes]", option: str) -> str:
    """Return the address at which a process listens; its later output is shown."""
    assert process.stderr is not None
    printed = b""
    while not (printed.endswith(b"\n") and STARTED.encode() in printed):
        data = os.read(process.stderr.fileno(), 4096)
        if not data:
            raise UserError(f"{option}: {_last_line(printed)}", status=process.wait(_STOP_S) or 1)
        printed += data
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
