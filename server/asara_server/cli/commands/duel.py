"""`asara duel`: test which of two bots is better."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import (
    LONG_START_UP_S,
    USUAL_CLOCK,
    ClockOption,
    JsonOption,
    OutOption,
    ReadableOption,
    RulesOption,
    SandboxChoice,
    SandboxOption,
    SeedOption,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """Find out which of two bots is better.

    The bots play every deal twice, with the seats swapped. The duel ends as soon as it is clear
    that A is better, that B is better, or that neither is better by at least --margin. The
    probability of a wrong verdict is at most 5%. The exit status is 0 for each of these verdicts,
    and 3 if the duel ends without one.
    """

    session: ClassVar = "duel:play_duel"
    start_up: ClassVar = LONG_START_UP_S

    a: Annotated[str, typer.Argument(metavar="A", help="A bot, named as for `asara match`.")]
    b: Annotated[str, typer.Argument(metavar="B", help="The bot to compare it with.")]
    rules: RulesOption = "basic"
    margin: Annotated[
        float,
        typer.Option(
            "--margin",
            metavar="SCORE",
            help="A bot counts as better if its expected score exceeds 0.5 by at least SCORE.",
        ),
    ] = 0.05
    max_blocks: Annotated[
        int,
        typer.Option(
            "--max-blocks",
            metavar="N",
            min=1,
            max=100_000,
            help="Maximum number of blocks (two matches each); after that, the duel ends without a "
            "verdict.",
        ),
    ] = 2_000
    seed: SeedOption = None
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            help="Number of matches to play in parallel.",
            show_default="one per CPU core",
        ),
    ] = None
    clock: ClockOption = USUAL_CLOCK
    out_directory: OutOption = None
    json_file: JsonOption = None
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    readable: ReadableOption = None
