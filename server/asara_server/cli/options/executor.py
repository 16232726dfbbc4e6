"""The options --jobs, --workers and --dask: what plays the matches of a tournament."""

from dataclasses import dataclass
from typing import Annotated

import typer

from asara_server.cli.errors import UserError
from asara_server.tournament.config.tournament_file import Tournament

JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        max=10_000,
        help="Number of matches to play at the same time.",
        show_default="`jobs` of the tournament file",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=1_000,
        help="Play with N worker processes, each with its own referee and one match at a time.",
        show_default="one referee plays all matches",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Play on a Dask cluster; ADDRESS is its scheduler, such as tcp://host:8786.",
    ),
]


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """The options --workers and --dask."""

    workers: int | None
    dask: str | None

    def check(self, tournament: Tournament, *, jobs: int | None, metrics: bool) -> None:
        """Raise UserError for options that do not fit each other or the tournament."""
        given = [name for name in ("workers", "dask") if getattr(self, name) is not None]
        if not given:
            return
        option = f"--{given[0]}"
        if len(given) > 1:
            raise UserError("--workers is for this machine and --dask for a cluster; use one")
        if jobs is not None:
            raise UserError(f"--jobs is for a single referee; with {option}, remove it")
        if tournament.remote_entries:
            raise UserError(
                f"{option}: the bot of {tournament.remote_entries[0]} is on another machine and "
                f"connects to a single referee; remove {option}"
            )
        if metrics and self.dask is not None:
            raise UserError(
                "--metrics covers the referees of this machine, but with --dask every worker of "
                "the cluster has its own; remove one of the two options"
            )
