"""`asara match`: play a match, or a series of matches, between bots."""

from typing import Annotated

import typer

from asara_server.cli.options.key import KeyOption
from asara_server.cli.options.match import (
    BANK_S,
    INCREMENT_S,
    START_UP_S,
    BankOption,
    IncrementOption,
    NoPonderOption,
    ProcessesChoice,
    ProcessesOption,
    RulesOption,
    SeedOption,
    SeriesOptions,
    ShowOutputOption,
    StartUpOption,
)
from asara_server.cli.options.run_directory import OutOption, ReplaceOption
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
JobsOption = Annotated[
    int,
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Number of matches played at once."),
]


def match(
    context: typer.Context,
    bots: BotsArgument,
    rules: RulesOption = "basic",
    matches: MatchesOption = None,
    mirrored: MirroredOption = False,
    seed: SeedOption = None,
    jobs: JobsOption = 1,
    bank: BankOption = BANK_S,
    increment: IncrementOption = INCREMENT_S,
    start_up: StartUpOption = START_UP_S,
    out_directory: OutOption = None,
    key: KeyOption = None,
    replace: ReplaceOption = False,
    processes: ProcessesOption = ProcessesChoice.RUN,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    show_output: ShowOutputOption = False,
    readable: ReadableOption = None,
    no_ponder: NoPonderOption = False,
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
        bank=bank,
        increment=increment,
        start_up=start_up,
        out_directory=out_directory,
        replace=replace,
        key=key,
        processes=processes,
        sandbox=sandbox,
        readable=readable_paths(readable),
        ponder=not no_ponder,
    )
    status = play_matches(
        bots, matches, options, context.obj, mirrored=mirrored, with_output=show_output
    )
    raise typer.Exit(status)
