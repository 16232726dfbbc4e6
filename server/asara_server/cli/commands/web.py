"""`asara web`: show runs and their matches in a browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import PageAddressOption


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """Show runs and their matches in a browser.

    Only reads the files in DIR, so you can use it at any time, even during a run. Press Ctrl-C
    to stop.
    """

    session: ClassVar = "web:serve_web"

    directories: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR",
            help="Runs, folders with runs, or folders with replays.",
            show_default="the current folder if it contains runs, otherwise ./runs",
        ),
    ] = None
    listen: PageAddressOption = "127.0.0.1:8080"
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="NAME",
            help="Accept requests for this host name, such as the name of a proxy in front of the "
            "server. Can be repeated.",
        ),
    ] = None
    embed: Annotated[
        list[str] | None,
        typer.Option(
            "--embed",
            metavar="ORIGIN",
            help="Let pages from this origin, such as https://example.org, embed matches. Can be "
            "repeated.",
        ),
    ] = None
    insecure_remote: Annotated[
        bool,
        typer.Option(
            "--insecure-remote", help="Let other machines see the matches, without encryption."
        ),
    ] = False
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False
    """True if another command started this one. It then ends when its standard input is closed."""
    play: Annotated[str | None, typer.Option("--play", metavar="ADDRESS", hidden=True)] = None
    """Address of the referee for people who play; None if nobody can play."""
