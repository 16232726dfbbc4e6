"""`asara analyse`: what a match was decided by."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.analyse import BudgetChoice

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A replay: a file in a run's `replays` folder.")
]
BudgetOption = Annotated[
    BudgetChoice,
    typer.Option(
        "--budget",
        "-b",
        help="How many playouts to spend: a match between two bots takes about half a minute, five "
        "minutes or an hour on a slow core.",
    ),
]


def analyse(file: FileArgument, budget: BudgetOption = BudgetChoice.QUICK) -> None:
    """Show what a match was decided by: mistakes and luck.

    Prices every decision from what its seat knew then, and the luck of every draw. Prints the
    dearest decisions and each seat's sums, and writes everything to FILE's `.analysis.json`.
    """
    from asara_server.cli.sessions.analyse import analyse_file

    analyse_file(file, budget.value)
