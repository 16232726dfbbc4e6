"""The options of `asara play`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.sandbox import SandboxChoice

_MOST_SECONDS = 86_400

BotsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BOT",
        help="Bots at the table, named as for `asara match`; greedy takes the other seats.",
        show_default="greedy",
    ),
]
SeatsOption = Annotated[
    int | None,
    typer.Option(
        "--seats",
        metavar="N",
        min=2,
        max=4,
        help="Number of seats, 2 to 4.",
        show_default="the people and the bots named, 2 at least",
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
BankOption = Annotated[
    float | None,
    typer.Option(
        "--bank",
        metavar="SECONDS",
        min=0.001,
        max=_MOST_SECONDS,
        help="Time bank of everybody at the table, people included, for a whole match.",
        show_default="no clock",
    ),
]
IncrementOption = Annotated[
    float | None,
    typer.Option(
        "--increment",
        metavar="SECONDS",
        min=0,
        max=_MOST_SECONDS,
        help="Time added to the bank with each decision; needs --bank.",
        show_default="0.5 with --bank",
    ),
]
BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the link of the first person.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    bots: list[str]
    seats: int | None
    people: int
    rules: str
    matches: int
    """Number of matches; 0 for an unlimited number."""
    listen: str
    insecure_remote: bool
    bank: float | None
    """Seconds; None for no clock."""
    increment: float | None
    seed: str | None
    replays: Path | None
    key: Path | None
    sandbox: SandboxChoice
    readable: tuple[str, ...] = ()
    """Paths that the bots may read in the sandbox besides their own files."""
    browser: bool
