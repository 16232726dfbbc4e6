"""Writes the report of a run, and its tables."""

from collections.abc import Callable, Mapping
from pathlib import Path

from asara.installing import install_command
from asara_server.cli.display.console import notify, warn
from asara_server.cli.errors import UserError
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.replay.match_page import NoPageError
from asara_server.report.model import Report, counted, make_report
from asara_server.report.pages import Pages, write_pages
from asara_server.report.run import read_reported_run
from asara_server.report.tables import csv_tables
from asara_server.report.times import time_use
from asara_server.text import count
from asara_server.tournament.run.read_run import RunError, run_standings
from asara_server.tournament.standings.standings import by_schedule

_PACKAGES = frozenset({"jinja2", "markupsafe"})
"""Packages of the extra `report`."""

_PAGE = "report.html"

_REPLAYS_NAMED = 8
"""Number of damaged replays that are named on the terminal; the page names more."""


def write_report(
    directory: Path, out_file: Path | None, csv: Path | None, *, with_pages: bool
) -> None:
    """Write the page to a file, and the tables to a directory if there is one.

    `with_pages` also writes the pages of the matches, beside it.
    """
    render = _renderer()
    if out_file is not None:
        check_output("--output", out_file, allowed=_PAGE)
    if csv is not None and csv.exists() and not csv.is_dir():
        raise UserError(f"--csv {csv}: is a file; name a directory")
    if csv is not None and not csv.parent.is_dir():
        raise UserError(f"--csv {csv}: is in no directory that exists; create that first")
    made = _make(directory)
    page = out_file or directory / _PAGE
    if out_file is None:
        check_output("report", page, allowed=_PAGE)
    pages = _write_pages(made, page.parent) if with_pages else Pages({}, ())
    write_output(page, render(made, pages.links).encode())
    if csv is not None:
        _write_tables(csv, csv_tables(made))
    problems = tuple(dict.fromkeys((*made.times.problems, *pages.problems)))
    for problem in problems[:_REPLAYS_NAMED]:
        warn(f"left out: {problem}")
    if more := len(problems[_REPLAYS_NAMED:]):
        warn(f"left out: {more:,} more replays")
    written = f", {count(len(pages.links), 'page')} of matches" if with_pages else ""
    notify(f"Report: {page}{written}" + (f", tables: {csv}" if csv else ""))


def _write_pages(made: Report, beside: Path) -> Pages:
    try:
        return write_pages(made.run, by_schedule(made.run.recorded.results), beside)
    except NoPageError as error:
        raise UserError(str(error), status=1) from None
    except OSError as error:
        place = error.filename or beside
        raise UserError(f"{place}: cannot be written: {error.strerror}", status=1) from None


def _renderer() -> Callable[[Report, Mapping[str, str]], str]:
    """Import the function that renders a page, which needs the extra `report`."""
    try:
        from asara_server.report.page import render
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise UserError(
            f"`asara report` needs the package {error.name}: run {install_command('report')}",
            status=1,
        ) from None
    return render


def _make(directory: Path) -> Report:
    try:
        run = read_reported_run(directory)
    except RunError as error:
        raise UserError(str(error)) from None
    info, results = run.recorded
    ordered = by_schedule(results)
    standings = run_standings(directory, info, ordered)
    return make_report(run, ordered, standings, time_use(run, counted(ordered)))


def _write_tables(folder: Path, tables: Mapping[str, str]) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"--csv {folder}: cannot be created: {error.strerror}", status=1) from None
    for name in tables:
        check_output("--csv", folder / name)
    for name, content in tables.items():
        write_output(folder / name, content.encode())
