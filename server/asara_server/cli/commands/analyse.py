"""`asara analyse`: what matches were decided by."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

import typer


class Budget(StrEnum):
    """The budgets of an analysis; see `asara_search.analysis.BUDGETS`."""

    QUICK = "quick"
    NORMAL = "normal"
    DEEP = "deep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyse:
    """Show what matches were decided by: decisions and luck.

    Prices each decision from what its seat knew, and each draw with all cards open. Prints the
    sums of the seats and the dearest decisions, and writes everything to `NAME.analysis.json`:
    next to a single replay, or in the run's folder `analysis`. Analyses that exist are kept, so an
    interrupted command continues where it was.
    """

    session: ClassVar = "analyse:analyse_path"

    path: Annotated[Path, typer.Argument(metavar="PATH", help="A replay, or the folder of a run.")]
    budget: Annotated[
        Budget,
        typer.Option(
            "--budget",
            help="Number of playouts. On one core, a match of two under the basic rules takes "
            "about half a minute, five minutes or an hour; compiled, a fifth of that.",
        ),
    ] = Budget.QUICK
    entry: Annotated[
        str | None,
        typer.Option(
            "--entry",
            metavar="NAME",
            help="Only the matches of this entry of a run.",
            show_default="all",
        ),
    ] = None
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="RUN",
            help="Compare the entry with an earlier run, on the deals that it played in both.",
            show_default="no comparison",
        ),
    ] = None
    matches: Annotated[
        int | None,
        typer.Option(
            "--matches",
            metavar="N",
            min=1,
            help="Only the first N of these matches.",
            show_default="all",
        ),
    ] = None
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Number of matches in parallel.")
    ] = 1
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False
