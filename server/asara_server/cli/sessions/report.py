"""Writes the report of a run, and its tables."""

from collections.abc import Mapping
from pathlib import Path

from asara_server.cli.display.console import notify, warn
from asara_server.cli.errors import UserError
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.replay.match_page import NoPageError, PageFiles, read_page_files
from asara_server.report.model import Report, read_report
from asara_server.report.page import report_page
from asara_server.report.pages import Pages, write_pages
from asara_server.report.tables import csv_tables
from asara_server.text import count
from asara_server.tournament.run.read_run import RunError, read_status, run_standings

_PAGE = "report.html"

_REPLAYS_NAMED = 8
"""Number of damaged replays that are named on the terminal; the page names more."""


def write_report(
    directory: Path, out_file: Path | None, csv: Path | None, *, with_pages: bool
) -> None:
    """Write the page to a file, and the tables to a directory if there is one.

    `with_pages` also writes the pages of the matches, beside it.
    """
    if out_file is not None:
        check_output("--out", out_file, allowed=_PAGE)
    if csv is not None and csv.exists() and not csv.is_dir():
        raise UserError(f"--csv {csv}: is a file; choose a folder")
    if csv is not None and not csv.parent.is_dir():
        raise UserError(f"--csv {csv}: is in no folder that exists; create it first")
    files = _page_files()
    try:
        status, results = read_status(directory)
    except RunError as error:
        raise UserError(str(error)) from None
    standings = run_standings(directory, status.info, results)
    made = read_report(directory, status.info, results, standings, full=True)
    page = out_file or directory / _PAGE
    if out_file is None:
        check_output("report", page, allowed=_PAGE)
    pages = _write_pages(made, files, page.parent) if with_pages else Pages({}, ())
    write_output(page, report_page(made, status, pages.links, files))
    if csv is not None:
        _write_tables(csv, csv_tables(made))
    problems = tuple(dict.fromkeys((*made.times.problems, *pages.problems)))
    for problem in problems[:_REPLAYS_NAMED]:
        warn(f"skipped: {problem}")
    if more := len(problems[_REPLAYS_NAMED:]):
        warn(f"skipped: {more:,} more replays")
    written = f", with {count(len(pages.links), 'page')} of matches" if with_pages else ""
    notify(f"Wrote the report to {page}{written}" + (f", and its tables to {csv}" if csv else ""))


def _page_files() -> PageFiles:
    try:
        return read_page_files()
    except NoPageError as error:
        raise UserError(str(error), status=1) from None


def _write_pages(made: Report, files: PageFiles, beside: Path) -> Pages:
    try:
        return write_pages(made.files, made.results, files, beside)
    except OSError as error:
        place = error.filename or beside
        raise UserError(f"{place}: cannot be written: {error.strerror}", status=1) from None


def _write_tables(folder: Path, tables: Mapping[str, str]) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"--csv {folder}: cannot be created: {error.strerror}", status=1) from None
    for name in tables:
        check_output("--csv", folder / name)
    for name, content in tables.items():
        write_output(folder / name, content.encode())
