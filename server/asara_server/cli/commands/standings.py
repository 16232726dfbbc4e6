"""`asara standings`: the standings of a run, computed anew from its results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.display.console import out, show_cross_table, show_standings
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from asara_server.tournament.standings.model import Standings


def standings(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the run is kept.")],
    without_forfeits: Annotated[
        bool,
        typer.Option(
            "--without-forfeits", help="Count only the deal blocks in which nobody forfeited."
        ),
    ] = False,
    cross: Annotated[
        bool, typer.Option("--cross", help="Show every entry against every other, too.")
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write them there, as in standings.json."),
    ] = None,
) -> None:
    """Show the standings of a run, also of one that goes on or was stopped."""
    computed = _compute(directory, clean=without_forfeits)
    show_standings(computed)
    if cross:
        out.print()
        show_cross_table(computed)
    if json_file is not None:
        try:
            json_file.write_text(computed.model_dump_json(indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise UserError(f"{json_file}: {error.strerror}", status=1) from None


def _compute(directory: Path, *, clean: bool) -> "Standings":
    from asara_server.tournament.run.read_run import NoRunError, RunError, read_run
    from asara_server.tournament.standings.standings import compute_standings, without_forfeits

    try:
        played = read_run(directory)
    except RunError as error:
        raise UserError(str(error), status=2 if isinstance(error, NoRunError) else 1) from None
    title, results = played.info.title, list(played.results)
    if clean:
        results = without_forfeits(results)
        title += ", without forfeits"
    return compute_standings(title, played.info.entries, played.scheduled, results)
