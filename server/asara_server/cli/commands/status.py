"""`asara status`: show the progress of a run, while it is active or afterwards."""

import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.control import Control
from rich.text import Text

from asara_server.cli.display.console import out
from asara_server.cli.display.run_status import show_status
from asara_server.cli.errors import UserError
from asara_server.cli.options.common import RunDirectoryArgument
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.text import plain
from asara_server.tournament.run.directory import RunDirectoryError, standings_bytes
from asara_server.tournament.run.read_run import NOT_A_RUN, run_standings
from asara_server.tournament.run.status import RunState, RunStatus, StatusReader
from asara_server.tournament.standings.match_result import ResultsError
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
        with suppress(KeyboardInterrupt), in_place as screen:
            while current.state is RunState.RUNNING:
                standings = _standings(reader, current, without_forfeits=without_forfeits)
                with out.capture() as captured:
                    show_status(current, standings, cross=cross, rows=_ROWS_WATCHED)
                if screen is None:
                    print(captured.get(), flush=True)
                else:
                    out.control(Control.home())
                    screen.update(Text.from_ansi(captured.get()))
                time.sleep(watch)
                current = _read(reader)
    standings = _standings(reader, current, without_forfeits=without_forfeits)
    show_status(current, standings, cross=cross)
    if json_file is not None:
        write_output(json_file, standings_bytes(standings or _compute(reader, current)))


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


def _read(reader: StatusReader) -> RunStatus:
    """Read the status; raise UserError if the folder contains no run, or a damaged run."""
    directory = reader.directory
    try:
        if not (directory / "run.json").is_file():
            raise UserError(f"{directory}: {NOT_A_RUN}")
        return reader.read()
    except (RunDirectoryError, ResultsError) as error:
        raise UserError(plain(str(error), longest=None)) from None
    except OSError as error:
        path = error.filename or directory
        raise UserError(f"{path}: {error.strerror or error}") from None
