"""`asara match`: play a match, or a series of matches, between bots."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import (
    START_UP_S,
    USUAL_CLOCK,
    ClockOption,
    OutOption,
    ReadableOption,
    RulesOption,
    SandboxChoice,
    SandboxOption,
    SeedOption,
    StartUpOption,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Play a match between two to four bots.

    Prints the result of one match, or the standings of several. Without --out, nothing is kept.
    A forfeit is a result like any other: the exit status is still 0. For each `guest`, prints the
    environment variables that your bot needs, and waits for it.
    """

    session: ClassVar = "series:play_matches"

    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT",
            help="A built-in bot (`random`, `greedy`, `search` or `learned`), a bot's file or "
            "folder, or a command. Put a bot with options in quotes, as in "
            "'search --milliseconds 50'. `guest` is a bot that you start yourself.",
        ),
    ]
    rules: RulesOption = "basic"
    matches: Annotated[
        int | None,
        typer.Option(
            "--matches",
            metavar="N",
            min=1,
            help="Number of matches. After each match, every bot moves to the next seat.",
            show_default="1; with --mirrored, one per seat",
        ),
    ] = None
    mirrored: Annotated[
        bool,
        typer.Option(
            "--mirrored", help="Repeat every deal until each bot has played it from every seat."
        ),
    ] = False
    seed: SeedOption = None
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", min=1, help="Number of matches to play in parallel."
        ),
    ] = 1
    clock: ClockOption = USUAL_CLOCK
    start_up: StartUpOption = START_UP_S
    out_directory: OutOption = None
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    readable: ReadableOption = None
