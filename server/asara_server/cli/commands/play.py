"""`asara play`: a seat for a person, in a browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final

import typer

from asara_server.cli.options.common import (
    Clock,
    PageAddressOption,
    RulesOption,
    SandboxChoice,
    SandboxOption,
    SeedOption,
    parse_clock,
)

LEVELS: Final = 5
"""Number of levels of the bot `search`."""
USUAL_LEVEL: Final = 2
"""The level of the opponent if nobody can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Play against bots in your browser.

    Opens a page with a seat for you, and prints its link. With --people, there is a link for
    each person. Anyone who has a link can take the seat it belongs to, so send each link only
    to the person it is for. Press Ctrl-C to stop.
    """

    session: ClassVar = "play:play_in_browser"

    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT",
            help="Bots to play against, named as for `asara match`.",
            show_default="one bot of a level",
        ),
    ] = None
    level: Annotated[
        int | None,
        typer.Option(
            "--level",
            metavar=f"1..{LEVELS}",
            min=1,
            max=LEVELS,
            help=f"Level of your opponent, from 1 for beginners to {LEVELS}.",
            show_default=f"asks on a terminal, otherwise {USUAL_LEVEL}",
        ),
    ] = None
    people: Annotated[
        int,
        typer.Option(
            "--people",
            metavar="N",
            min=1,
            max=4,
            help="Number of people. Each person gets a separate link.",
        ),
    ] = 1
    rules: RulesOption = "basic"
    matches: Annotated[
        int,
        typer.Option("--matches", metavar="N", min=0, help="Number of matches; 0 means no limit."),
    ] = 0
    clock: Annotated[
        Clock | None,
        typer.Option(
            "--clock",
            metavar="TIME[+INCREMENT]",
            parser=parse_clock,
            help="Seconds each player, bot or person, has for a whole match, and seconds added per "
            "decision.",
            show_default="no clock",
        ),
    ] = None
    seed: SeedOption = None
    out_directory: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep a replay of each match in DIR."),
    ] = None
    listen: PageAddressOption = "127.0.0.1:0"
    insecure_remote: Annotated[
        bool,
        typer.Option(
            "--insecure-remote", help="Let people connect from other machines, without encryption."
        ),
    ] = False
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the first link in your browser.")
    ] = True
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
