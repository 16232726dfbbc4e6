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
        help="Name of a bundled bot, a bot's file or folder, or a command; in quotes if it has "
        "options, such as 'search --milliseconds 50'.",
    ),
]
MatchesOption = Annotated[
    int | None,
    typer.Option(
        "--matches",
        metavar="N",
        min=1,
        help="Number of matches; bots move one seat on after each.",
        show_default="1, or one deal block with --mirrored",
    ),
]
MirroredOption = Annotated[
    bool, typer.Option("--mirrored", help="Play each deal in every rotation of the seats.")
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
    """Play a match between 2 to 4 bots.

    Prints the result of one match, or the standings of several. Without --out, nothing is kept.
    The exit status is 0 also if a bot forfeits: that is a result.
    """
    from asara_server.cli.sessions.match import play_matches

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
