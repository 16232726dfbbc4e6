"""The option --executor: who plays the matches of a tournament."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.display.console import count, say
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from asara_server.referee.referee import Referee
    from asara_server.tournament.config.tournament_file import Tournament
    from asara_server.tournament.execution.executor import Executor
    from asara_server.tournament.sandbox.bubblewrap import Sandbox


class ExecutorChoice(Enum):
    LOCAL = "local"
    PROCESSES = "processes"
    DASK = "dask"


ExecutorOption = Annotated[
    ExecutorChoice,
    typer.Option(
        "--executor", help="Who plays: a referee in this process; worker processes; Dask workers."
    ),
]
WorkerCount = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=1_000,
        help="Worker processes, with a match at a time each. [default: the file's concurrency]",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Of the Dask cluster, such as tcp://host:8786."),
]


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """What the options ask for."""

    choice: ExecutorChoice
    workers: int | None
    scheduler: str | None

    def check(self, tournament: "Tournament", *, metrics: bool) -> None:
        """Refuse what does not go together."""
        if tournament.remote_entries and self.choice is not ExecutorChoice.LOCAL:
            raise UserError(
                f"entry {tournament.remote_entries[0]} dials in from another machine, to the "
                f"runner's own process: it cannot play with --executor {self.choice.value}"
            )
        if self.workers is not None and self.choice is not ExecutorChoice.PROCESSES:
            raise UserError("--workers is for --executor processes")
        if self.scheduler is not None and self.choice is not ExecutorChoice.DASK:
            raise UserError("--scheduler is for --executor dask")
        if self.scheduler is None and self.choice is ExecutorChoice.DASK:
            raise UserError(
                "--executor dask: name the cluster's scheduler with --scheduler ADDRESS"
            )
        if metrics and self.choice is not ExecutorChoice.LOCAL:
            raise UserError(
                "--metrics tells of one referee, and with --executor "
                f"{self.choice.value} every worker has its own; leave one of them out"
            )


def _say_where(address: str) -> None:
    say(f"Bots on other machines dial in at {address} (TLS)")


@contextmanager
def chosen_executor(
    executor_options: ExecutorOptions,
    tournament: "Tournament",
    sandbox: "Sandbox | None",
    watch: "Callable[[Referee], None]",
) -> "Iterator[tuple[Executor, str]]":
    """Who plays, and in words how many at once. `watch` is given the referee if it is ours."""
    from asara_server.tournament.workers.backend import WorkerError
    from asara_server.tournament.workers.worker_executor import WorkerExecutor, sandbox_config

    if executor_options.choice is ExecutorChoice.LOCAL:
        from asara_server.tournament.execution.local_executor import LocalExecutor

        yield LocalExecutor(watch, _say_where), f"{tournament.concurrency} at once"
    elif executor_options.choice is ExecutorChoice.PROCESSES:
        from asara_server.tournament.workers.process_workers import process_workers

        number = executor_options.workers or tournament.concurrency
        with process_workers(number) as backend:
            yield WorkerExecutor(backend), f"by {count(number, 'worker process')}"
    else:
        from asara_server.tournament.workers.dask_workers import dask_workers
        from asara_server.tournament.workers.requirements import worker_requirements

        assert executor_options.scheduler is not None
        there = tuple(entry for entry in tournament.entries if not entry.build)
        requirements = worker_requirements(there, {}, sandbox_config(sandbox))
        try:
            with dask_workers(executor_options.scheduler, requirements) as backend:
                yield WorkerExecutor(backend), f"by the workers of {executor_options.scheduler}"
        except WorkerError as error:
            raise UserError(str(error)) from None
