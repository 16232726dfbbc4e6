"""The options of `asara play`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.match import Clock, parse_clock
from asara_server.cli.options.sandbox import SandboxChoice

BotsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BOT",
        help="Bots at the table, named as for `asara match`; greedy takes the other seats.",
        show_default="greedy",
    ),
]
PeopleOption = Annotated[
    int,
    typer.Option(
        "--people", metavar="N", min=1, max=4, help="Number of people, each with a link of its own."
    ),
]
MatchesOption = Annotated[
    int,
    typer.Option("--matches", metavar="N", min=0, help="Number of matches; 0 plays until stopped."),
]
ListenOption = Annotated[
    str,
    typer.Option(
        "--listen", metavar="ADDRESS", help="Serve the page at host:port; port 0 picks a free port."
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option("--insecure-remote", help="Let people play from other machines, without TLS."),
]
ClockOption = Annotated[
    Clock | None,
    typer.Option(
        "--clock",
        metavar="BANK[+INCREMENT]",
        parser=parse_clock,
        help="Seconds that everybody at the table, people included, has for a match, and seconds "
        "added with each decision.",
        show_default="no clock",
    ),
]
BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the link of the first person.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    bots: list[str]
    people: int
    rules: str
    matches: int
    """Number of matches; 0 for an unlimited number."""
    listen: str
    insecure_remote: bool
    clock: Clock | None
    """None for no clock."""
    seed: str | None
    out_directory: Path | None
    sandbox: SandboxChoice
    browser: bool
