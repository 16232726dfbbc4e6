"""`asara analyse`: what matches were decided by."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.analyse import BudgetChoice

PathArgument = Annotated[
    Path, typer.Argument(metavar="PATH", help="A replay, or the folder of a run.")
]
BudgetOption = Annotated[
    BudgetChoice,
    typer.Option(
        "--budget",
        help="Number of playouts. On one core, a match of two under the basic rules takes about "
        "half a minute, five minutes or an hour.",
    ),
]
EntryOption = Annotated[
    str | None,
    typer.Option(
        "--entry",
        metavar="NAME",
        help="Only the matches of this entry of a run.",
        show_default="all",
    ),
]
MatchesOption = Annotated[
    int | None,
    typer.Option(
        "--matches",
        metavar="N",
        min=1,
        help="Only the first N of these matches.",
        show_default="all",
    ),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Number of matches in parallel.")
]


def analyse(
    path: PathArgument,
    budget: BudgetOption = BudgetChoice.QUICK,
    entry: EntryOption = None,
    matches: MatchesOption = None,
    jobs: JobsOption = 1,
) -> None:
    """Show what matches were decided by: decisions and luck.

    Prices each decision from what its seat knew, and each draw with all cards open. Prints the
    sums of the seats and the dearest decisions, and writes everything to `NAME.analysis.json`:
    next to a single replay, or in the run's folder `analysis`. Analyses that exist are kept, so an
    interrupted command continues where it was.
    """
    from asara_server.cli.sessions.analyse import RunChoice, analyse_path

    analyse_path(path, budget.value, RunChoice(entry, matches, jobs))
