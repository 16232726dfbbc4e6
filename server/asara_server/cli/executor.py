"""The option --executor: who plays the matches of a tournament."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.console import count, say
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from asara_server.referee import Referee
    from asara_server.tournament.config import Tournament
    from asara_server.tournament.sandbox import Sandbox
    from asara_server.tournament.venues import Venue


class ExecutorChoice(Enum):
    LOCAL = "local"
    PROCESSES = "processes"
    DASK = "dask"


Executor = Annotated[
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
class Hands:
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
def chosen_venue(
    hands: Hands,
    tournament: "Tournament",
    sandbox: "Sandbox | None",
    watch: "Callable[[Referee], None]",
) -> "Iterator[tuple[Venue, str]]":
    """Who plays, and in words how many at once. `watch` is given the referee if it is ours."""
    from asara_server.tournament.crew import CrewError, Workers, containment_of

    if hands.choice is ExecutorChoice.LOCAL:
        from asara_server.tournament.venues import OwnProcess

        yield OwnProcess(watch, _say_where), f"{tournament.concurrency} at once"
    elif hands.choice is ExecutorChoice.PROCESSES:
        from asara_server.tournament.workers import Processes

        number = hands.workers or tournament.concurrency
        with Processes(number) as crew:
            yield Workers(crew), f"by {count(number, 'worker process')}"
    else:
        from asara_server.tournament.blocks import needs_of
        from asara_server.tournament.cluster import dask_crew

        assert hands.scheduler is not None
        there = tuple(entry for entry in tournament.entries if not entry.build)
        needs = needs_of(there, {}, containment_of(sandbox))
        try:
            with dask_crew(hands.scheduler, needs) as crew:
                yield Workers(crew), f"by the workers of {hands.scheduler}"
        except CrewError as error:
            raise UserError(str(error)) from None
