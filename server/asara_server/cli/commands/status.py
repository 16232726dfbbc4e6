"""`asara status`: the progress of a run, during the run or afterwards."""

import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated

import typer
from rich.control import Control
from rich.text import Text

from asara_server.cli.display.console import out
from asara_server.cli.display.run_status import show_status
from asara_server.cli.errors import UserError
from asara_server.cli.options.recorded_run import RunDirectoryArgument
from asara_server.text import plain
from asara_server.tournament.run.directory import RunDirectoryError
from asara_server.tournament.run.status import RunState, RunStatus, StatusReader
from asara_server.tournament.standings.match_result import ResultsError

StandingsOption = Annotated[
    bool,
    typer.Option("--standings", help="Show the current standings instead of the ladder."),
]
TopOption = Annotated[
    int,
    typer.Option("--top", metavar="N", min=0, help="Number of rows per table; 0 shows all."),
]
WatchOption = Annotated[
    float | None,
    typer.Option(
        "--watch",
        metavar="SECONDS",
        min=0.5,
        help="Repeat at this interval until the run is over.",
    ),
]


def status(
    directory: RunDirectoryArgument,
    standings: StandingsOption = False,
    top: TopOption = 10,
    watch: WatchOption = None,
) -> None:
    """Show the progress of a run.

    Shows how many matches are over, an estimate of the time left, the ladder, and forfeits. Only
    reads the files in DIR, so it works at any time. Ctrl-C ends --watch.
    """
    reader = StatusReader(directory)
    current = _read(reader)
    if watch is not None:
        in_place = out.screen() if out.is_terminal else nullcontext()
        with _interruptible_wait() as wait, in_place as screen:
            while current.state is RunState.RUNNING:
                with out.capture() as captured:
                    show_status(current, reader, top, standings=standings)
                if screen is None:
                    print(captured.get(), flush=True)
                else:
                    out.control(Control.home())
                    screen.update(Text.from_ansi(captured.get()))
                if wait(watch):
                    break
                current = _read(reader)
    show_status(current, reader, top, standings=standings)


@contextmanager
def _interruptible_wait() -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits for some seconds; it returns True early if Ctrl-C is pressed.

    Ctrl-C interrupts nothing else, because half of a screen could have been written. A second
    Ctrl-C has its usual effect.
    """
    previous = signal.getsignal(signal.SIGINT)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno())
    signal.signal(signal.SIGINT, lambda number, _: signal.signal(number, previous))
    try:
        yield lambda seconds: bool(select.select([ours], [], [], seconds)[0])
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, previous)
        ours.close()
        theirs.close()


def _read(reader: StatusReader) -> RunStatus:
    """Read the status; raise UserError if the directory holds no run, or a damaged one."""
    directory = reader.directory
    try:
        if not (directory / "run.json").is_file():
            raise UserError(f"{directory}: holds no run; name a directory that --out named")
        return reader.read()
    except (RunDirectoryError, ResultsError) as error:
        raise UserError(plain(str(error), longest=None), status=1) from None
    except OSError as error:
        path = error.filename or directory
        raise UserError(f"{path}: {error.strerror or error}", status=1) from None
