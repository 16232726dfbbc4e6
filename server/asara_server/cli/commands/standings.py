"""`asara standings`: the standings of a run, recomputed from its results."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.display.console import out
from asara_server.cli.display.results import left_out_text, show_cross_table, show_standings
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.cli.options.recorded_run import RunDirectoryArgument, run_error
from asara_server.tournament.run.directory import standings_bytes
from asara_server.tournament.run.read_run import RecordedRun, RunError, read_run, run_standings
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import without_forfeits as exclude_forfeits

WithoutForfeitsOption = Annotated[
    bool,
    typer.Option("--without-forfeits", help="Count only the deal blocks without a forfeit."),
]
CrossOption = Annotated[
    bool, typer.Option("--cross", help="Also show every entry against every other.")
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help="Also write the standings to FILE, as in standings.json."
    ),
]


def standings(
    directory: RunDirectoryArgument,
    without_forfeits: WithoutForfeitsOption = False,
    cross: CrossOption = False,
    json_file: JsonOption = None,
) -> None:
    """Show the standings of a run.

    They are recomputed from its results. The run may be finished, stopped or active.
    """
    if json_file is not None:
        check_output("--json", json_file)
    recorded = _read(directory)
    computed = _compute(directory, recorded, without_forfeits=without_forfeits)
    show_standings(computed)
    if recorded.info.left_out:
        out.print()
        out.print(left_out_text(recorded.info.left_out))
    if cross:
        out.print()
        show_cross_table(computed)
    if json_file is not None:
        write_output(json_file, standings_bytes(computed))


def _read(directory: Path) -> RecordedRun:
    try:
        return read_run(directory)
    except RunError as error:
        raise run_error(error) from None


def _compute(directory: Path, recorded: RecordedRun, *, without_forfeits: bool) -> Standings:
    info, results = recorded
    if without_forfeits:
        results = tuple(exclude_forfeits(results))
        info = info.model_copy(update={"title": f"{info.title}, without forfeits"})
    return run_standings(directory, info, results)
