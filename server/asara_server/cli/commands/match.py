"""`asara match`: play a match, or a series of matches, between bots."""

from typing import Annotated

import typer

from asara_server.cli.options.match import (
    START_UP_S,
    USUAL_CLOCK,
    ClockOption,
    JobsOption,
    RulesOption,
    SeedOption,
    SeriesOptions,
    StartUpOption,
)
from asara_server.cli.options.run_directory import OutOption
from asara_server.cli.options.sandbox import (
    ReadableOption,
    SandboxChoice,
    SandboxOption,
    readable_paths,
)

BotsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="BOT",
        help="A built-in bot (`random`, `greedy`, `search` or `learned`), a bot's file or folder, "
        "or a command. Put a bot with options in quotes, as in 'search --milliseconds 50'.",
    ),
]
MatchesOption = Annotated[
    int | None,
    typer.Option(
        "--matches",
        metavar="N",
        min=1,
        help="Number of matches. After each match, every bot moves to the next seat.",
        show_default="1; with --mirrored, one per seat",
    ),
]
MirroredOption = Annotated[
    bool,
    typer.Option(
        "--mirrored", help="Repeat every deal until each bot has played it from every seat."
    ),
]


def match(
    context: typer.Context,
    bots: BotsArgument,
    rules: RulesOption = "basic",
    matches: MatchesOption = None,
    mirrored: MirroredOption = False,
    seed: SeedOption = None,
    jobs: JobsOption = 1,
    clock: ClockOption = USUAL_CLOCK,
    start_up: StartUpOption = START_UP_S,
    out_directory: OutOption = None,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    readable: ReadableOption = None,
) -> None:
    """Play a match between two to four bots.

    Prints the result of one match, or the standings of several. Without --out, nothing is kept.
    A forfeit is a result like any other: the exit status is still 0.
    """
    from asara_server.cli.sessions.series import play_matches

    options = SeriesOptions(
        rules=rules,
        seed=seed,
        jobs=jobs,
        clock=clock,
        start_up=start_up,
        out_directory=out_directory,
        sandbox=sandbox,
        readable=readable_paths(readable),
    )
    status = play_matches(bots, matches, options, context.obj, mirrored=mirrored)
    raise typer.Exit(status)
