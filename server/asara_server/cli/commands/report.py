"""`asara report`: a page about a run, and its tables as CSV."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.display.console import say, warn
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from asara_server.report.model import Report


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the run is kept.")],
    out_file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.html", help="The page. [default: DIR/report.html]"),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="DIR", help="Write the tables there too, as CSV files."),
    ] = None,
) -> None:
    """Write a page about a run, also of one that goes on or was stopped; it needs no network."""
    render = _renderer()
    if out_file is not None and out_file.is_dir():
        raise UserError(f"--out {out_file}: is a directory; name a file")
    if csv is not None and csv.exists() and not csv.is_dir():
        raise UserError(f"--csv {csv}: is a file; name a directory")
    made = _make(directory)
    page = out_file or directory / "report.html"
    _write(page, render(made))
    if csv is not None:
        from asara_server.report.tables import csv_tables

        for name, content in csv_tables(made).items():
            _write(csv / name, content)
    for problem in made.times.problems[:_SHOWN]:
        warn(f"left out: {problem}")
    if more := len(made.times.problems[_SHOWN:]):
        warn(f"left out: {more:,} more replays")
    say(f"Report: {page}" + (f", tables: {csv}" if csv else ""))


_SHOWN = 8
"""Damaged replays that are named on the terminal; the page names more."""


def _renderer() -> "Callable[[Report], str]":
    try:
        from asara_server.report.page import render
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"jinja2", "markupsafe", "matplotlib"}:
            raise
        raise UserError(
            f"the report needs {error.name}, which is not installed: "
            "run pip install 'asara[report]'",
            status=1,
        ) from None
    return render


def _make(directory: Path) -> "Report":
    from asara_server.report.model import counted, make_report
    from asara_server.report.run import read_reported_run
    from asara_server.report.times import time_use
    from asara_server.tournament.run.read_run import NoRunError, RunError
    from asara_server.tournament.standings.standings import by_schedule, compute_standings

    try:
        run = read_reported_run(directory)
    except RunError as error:
        raise UserError(str(error), status=2 if isinstance(error, NoRunError) else 1) from None
    info, results = run.recorded
    ordered = by_schedule(results)
    standings = compute_standings(info.title, info.entries, run.recorded.scheduled, ordered)
    return make_report(run, ordered, standings, time_use(run, counted(ordered)))


def _write(path: Path, text: str) -> None:
    from asara_server.atomic_file import replace_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}", status=1) from None
