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
        help="Bots to play against, named as for `asara match`.",
        show_default="greedy",
    ),
]
PeopleOption = Annotated[
    int,
    typer.Option(
        "--people",
        metavar="N",
        min=1,
        max=4,
        help="Number of people. Each person gets a separate link.",
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option(
        "--insecure-remote", help="Let people connect from other machines, without encryption."
    ),
]
ClockOption = Annotated[
    Clock | None,
    typer.Option(
        "--clock",
        metavar="TIME[+INCREMENT]",
        parser=parse_clock,
        help="Seconds each player, bot or person, has for a whole match, and seconds added per "
        "decision.",
        show_default="no clock",
    ),
]
BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the first link in your browser.")
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
