"""`asara duel`: test which of two bots is better."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.check import START_UP_S
from asara_server.cli.options.match import (
    USUAL_CLOCK,
    ClockOption,
    RulesOption,
    SeedOption,
    SeriesOptions,
)
from asara_server.cli.options.run_directory import OutOption
from asara_server.cli.options.sandbox import (
    ReadableOption,
    SandboxChoice,
    SandboxOption,
    readable_paths,
)

AArgument = Annotated[str, typer.Argument(metavar="A", help="A bot, named as for `asara match`.")]
BArgument = Annotated[str, typer.Argument(metavar="B", help="The bot to compare it with.")]
MarginOption = Annotated[
    float,
    typer.Option(
        "--margin",
        metavar="SCORE",
        help="A bot counts as better if its expected score exceeds 0.5 by at least SCORE.",
    ),
]
MaxBlocksOption = Annotated[
    int,
    typer.Option(
        "--max-blocks",
        metavar="N",
        min=1,
        max=100_000,
        help="Maximum number of blocks (two matches each); after that, the duel ends without a "
        "verdict.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Number of matches to play in parallel.",
        show_default="one per CPU core",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write the verdict to FILE as JSON."),
]


def duel(
    context: typer.Context,
    a: AArgument,
    b: BArgument,
    rules: RulesOption = "basic",
    margin: MarginOption = 0.05,
    max_blocks: MaxBlocksOption = 2_000,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    clock: ClockOption = USUAL_CLOCK,
    out_directory: OutOption = None,
    json_file: JsonOption = None,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    readable: ReadableOption = None,
) -> None:
    """Find out which of two bots is better.

    The bots play every deal twice, with the seats swapped. The duel ends as soon as it is clear
    that A is better, that B is better, or that neither is better by at least --margin. The
    probability of a wrong verdict is at most 5%. The exit status is 0 for each of these verdicts,
    and 3 if the duel ends without one.
    """
    from asara_server.cli.sessions.duel import play_duel, sequential_test

    test = sequential_test(margin)
    options = SeriesOptions(
        rules=rules,
        seed=seed,
        jobs=jobs,
        clock=clock,
        start_up=START_UP_S,
        out_directory=out_directory,
        sandbox=sandbox,
        readable=readable_paths(readable),
    )
    status = play_duel((a, b), test, max_blocks, options, context.obj, json_file=json_file)
    raise typer.Exit(status)
