"""Serves the page, for `asara web` and for the process that other commands start to show it."""

import os
import re
import signal
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from asara.installing import install_command
from asara_server.cli.commands.web import Web
from asara_server.cli.display.console import notify
from asara_server.cli.errors import UserError
from asara_server.cli.options.log import LogOptions
from asara_server.logs import configure
from asara_server.network.addresses import ServeError

WEB_PACKAGES: Final = ("starlette", "uvicorn", "websockets", "h11", "anyio")
"""Packages that the extra `web` installs."""

_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?|'self'")
_NICE: Final = 10
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
        _live_with_parent()
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


def _live_with_parent() -> None:
    """Run at a lower priority than the parent, ignore its Ctrl-C, and stop once it has ended."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        while os.read(0, 4096):
            pass
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, name="parent", daemon=True).start()
