"""`asara duel`: test which of two bots is better."""

from pathlib import Path
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
    StartUpOption,
)
from asara_server.cli.options.run_directory import OutOption, ReplaceOption
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
        "--margin", metavar="SCORE", help="Expected score above 0.5 that counts as better."
    ),
]
AlphaOption = Annotated[
    float,
    typer.Option(
        "--alpha", metavar="P", help="Highest probability of calling one of two equal bots better."
    ),
]
BetaOption = Annotated[
    float,
    typer.Option(
        "--beta",
        metavar="P",
        help="Highest probability of missing a bot that is better by the margin.",
    ),
]
MaxBlocksOption = Annotated[
    int,
    typer.Option(
        "--max-blocks",
        metavar="N",
        min=1,
        max=100_000,
        help="Number of deal blocks after which the duel ends undecided.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Number of matches played at once.",
        show_default="one per CPU core",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write the answer to FILE as JSON."),
]


def duel(
    context: typer.Context,
    a: AArgument,
    b: BArgument,
    rules: RulesOption = "basic",
    margin: MarginOption = 0.05,
    alpha: AlphaOption = 0.05,
    beta: BetaOption = 0.05,
    max_blocks: MaxBlocksOption = 2_000,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    bank: BankOption = BANK_S,
    increment: IncrementOption = INCREMENT_S,
    start_up: StartUpOption = START_UP_S,
    out_directory: OutOption = None,
    json_file: JsonOption = None,
    key: KeyOption = None,
    replace: ReplaceOption = False,
    processes: ProcessesOption = ProcessesChoice.RUN,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    readable: ReadableOption = None,
    no_ponder: NoPonderOption = False,
) -> None:
    """Test which of two bots is better.

    The bots play every deal twice, with the seats swapped, until a sequential test decides: A is
    better, B is better, or neither is better by the margin. The exit status is 0 with an answer and
    3 without one.
    """
    from asara_server.cli.sessions.duel import play_duel, sequential_test

    test = sequential_test(margin, alpha, beta)
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
    status = play_duel((a, b), test, max_blocks, options, context.obj, json_file=json_file)
    raise typer.Exit(status)
