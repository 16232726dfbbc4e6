"""The options of `asara web`, and the option --web of the commands that run a referee."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

WebOption = Annotated[
    str | None,
    typer.Option(
        "--web",
        metavar="ADDRESS",
        help="Show the matches in a browser, at host:port; port 0 picks a free port.",
    ),
]
DirectoriesArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DIR",
        help="Runs, folders with runs, or folders with replays.",
        show_default="the current folder if it contains runs, otherwise ./runs",
    ),
]
ListenOption = Annotated[
    str,
    typer.Option(
        "--listen",
        metavar="ADDRESS",
        help="Address of the page, as host:port; port 0 picks a free port.",
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option(
        "--insecure-remote", help="Let other machines see the matches, without encryption."
    ),
]
HostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="NAME",
        help="Accept requests for this host name, such as the name of a proxy in front of the "
        "server. Can be repeated.",
    ),
]
EmbedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--embed",
        metavar="ORIGIN",
        help="Let pages from this origin, such as https://example.org, embed matches. Can be "
        "repeated.",
    ),
]
ChildOption = Annotated[bool, typer.Option("--child", hidden=True)]
PlayOption = Annotated[str | None, typer.Option("--play", metavar="ADDRESS", hidden=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """The options of `asara web`."""

    directories: tuple[Path, ...]
    listen: str
    insecure_remote: bool
    hosts: tuple[str, ...]
    embed: tuple[str, ...]
    child: bool
    """True if another command started this one. It then ends when its standard input is closed."""
    play: str | None = None
    """Address of the referee for people who play; None if nobody can play."""
