"""`asara status`: show the progress of a run, while it is active or afterwards."""

import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.control import Control
from rich.text import Text

from asara_server.cli.display.console import out
from asara_server.cli.display.run_status import show_status
from asara_server.cli.errors import UserError
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.cli.options.run_directory import RunDirectoryArgument
from asara_server.text import plain
from asara_server.tournament.run.read_run import RunError, run_standings
from asara_server.tournament.run.run_record import json_bytes
from asara_server.tournament.run.status import RunState, RunStatus, StatusReader
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import without_forfeits as exclude_forfeits

CrossOption = Annotated[
    bool, typer.Option("--cross", help="Also show the score of every entry against every other.")
]
WithoutForfeitsOption = Annotated[
    bool,
    typer.Option(
        "--without-forfeits",
        help="Exclude blocks (sets of matches with the same deal) in which an entry forfeited.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Also write the standings to FILE, in the format of a run's standings.json.",
    ),
]
WatchOption = Annotated[
    float | None,
    typer.Option(
        "--watch",
        metavar="SECONDS",
        min=0.5,
        help="Repeat every SECONDS seconds while the run is active.",
    ),
]


_ROWS_WATCHED = 10
"""Maximum rows of a table of forfeits that is shown repeatedly."""


def status(
    directory: RunDirectoryArgument,
    cross: CrossOption = False,
    without_forfeits: WithoutForfeitsOption = False,
    watch: WatchOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show the progress and the standings of a run.

    Shows how many matches are finished, how long the rest will take, the processor time used, the
    standings, and which entries forfeited and why. The run can be active, stopped or
    finished. With --watch, press Ctrl-C to stop.
    """
    if json_file is not None:
        check_output("--json", json_file)
    reader = StatusReader(directory)
    current = _read(reader)
    if watch is not None:
        in_place = out.screen() if out.is_terminal else nullcontext()
        with _interruptible_wait() as wait, in_place as screen:
            while current.state is RunState.RUNNING:
                standings = _standings(reader, current, without_forfeits=without_forfeits)
                with out.capture() as captured:
                    show_status(current, standings, cross=cross, rows=_ROWS_WATCHED)
                if screen is None:
                    print(captured.get(), flush=True)
                else:
                    out.control(Control.home())
                    screen.update(Text.from_ansi(captured.get()))
                if wait(watch):
                    break
                current = _read(reader)
    standings = _standings(reader, current, without_forfeits=without_forfeits)
    show_status(current, standings, cross=cross)
    if json_file is not None:
        write_output(json_file, json_bytes(standings or _compute(reader, current)))


def _standings(
    reader: StatusReader, status: RunStatus, *, without_forfeits: bool
) -> Standings | None:
    """Return the standings so far; None if no match is over yet."""
    if not reader.results:
        return None
    if not without_forfeits:
        return _compute(reader, status)
    info = status.info.model_copy(update={"title": f"{status.info.title}, without forfeits"})
    return run_standings(info, exclude_forfeits(reader.results))


def _compute(reader: StatusReader, status: RunStatus) -> Standings:
    return run_standings(status.info, reader.results)


@contextmanager
def _interruptible_wait() -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits some seconds, and returns True early if Ctrl-C is pressed.

    Ctrl-C interrupts nothing else, because that could leave a half-written screen. A second Ctrl-C
    has its usual effect.
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
    """Read the status; raise UserError if the folder contains no run, or a damaged run."""
    try:
        return reader.read()
    except RunError as error:
        raise UserError(plain(str(error), longest=None)) from None
