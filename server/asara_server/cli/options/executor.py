"""The option --executor: what plays the matches of a tournament."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from asara_server.cli.errors import UserError
from asara_server.tournament.config.tournament_file import Tournament


class ExecutorChoice(Enum):
    LOCAL = "local"
    PROCESSES = "processes"
    DASK = "dask"


ExecutorOption = Annotated[
    ExecutorChoice,
    typer.Option(
        "--executor",
        help="Play matches in this process, in worker processes, or on a Dask cluster.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=1_000,
        help="Number of worker processes; each plays one deal block at a time.",
        show_default="concurrency of the tournament file",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Scheduler of the Dask cluster, such as tcp://host:8786.",
    ),
]


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """The options --executor, --workers and --scheduler."""

    choice: ExecutorChoice
    workers: int | None
    scheduler: str | None

    def check(self, tournament: Tournament, *, metrics: bool) -> None:
        """Raise UserError for options that do not fit each other or the tournament."""
        if tournament.remote_entries and self.choice is not ExecutorChoice.LOCAL:
            raise UserError(
                f"--executor {self.choice.value}: entry {tournament.remote_entries[0]} is on "
                "another machine and can only play with --executor local"
            )
        if self.workers is not None and self.choice is not ExecutorChoice.PROCESSES:
            raise UserError("--workers requires --executor processes")
        if self.scheduler is not None and self.choice is not ExecutorChoice.DASK:
            raise UserError("--scheduler requires --executor dask")
        if self.scheduler is None and self.choice is ExecutorChoice.DASK:
            raise UserError("--executor dask requires --scheduler ADDRESS")
        if metrics and self.choice is ExecutorChoice.DASK:
            raise UserError(
                "--metrics covers the referees of this machine, but with --executor dask every "
                "worker of the cluster has its own; remove one of the two options"
            )
