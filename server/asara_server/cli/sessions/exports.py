"""Writes the exports of a run or a match: reports, tables, bundles, and match pages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asara_server.cli.commands import report as commands
from asara_server.cli.commands.bundle import Bundle
from asara_server.cli.commands.replay import Page
from asara_server.cli.display.console import notify, warn
from asara_server.cli.display.quantities import listed
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, run_of, write_output
from asara_server.cli.sessions.analyse import analysis_path
from asara_server.journal.replay import Replay, ReplayError
from asara_server.replay.analysis_page import read_page_analysis
from asara_server.replay.file import parse_replay, read_file
from asara_server.replay.match_page import (
    NoPageError,
    PageFiles,
    match_page,
    read_page_files,
)
from asara_server.replay.replay_view import OPEN, Logs, replay_view, seat_viewer
from asara_server.report.model import Report, read_report
from asara_server.report.pages import Pages, report_page, write_pages
from asara_server.report.tables import csv_tables
from asara_server.text import count
from asara_server.tournament.bots.output import decision_texts
from asara_server.tournament.run.directory import BUNDLES
from asara_server.tournament.run.read_run import read_ended_run, run_standings
from asara_server.tournament.run.status import StatusReader
from asara_server.tournament.trust.bundle import BundleWriter, check_names
from asara_server.user_error import UserError

_PAGE = "report.html"

_REPLAYS_NAMED = 8
"""Maximum number of damaged replays listed on the terminal; the page lists more."""


def write_report(options: commands.Report, _log: LogOptions) -> None:
    """Write a run's report page to a file, and its tables and the pages of matches if wanted."""
    directory, out_file, csv = options.directory, options.out_file, options.csv
    if out_file is not None:
        check_output("--out", out_file, allowed=_PAGE)
    if csv is not None and csv.exists() and not csv.is_dir():
        raise UserError(f"--csv {csv}: is a file; choose a folder")
    if csv is not None and not csv.parent.is_dir():
        raise UserError(f"--csv {csv}: is in no folder that exists; create it first")
    files = read_page_files()
    reader = StatusReader(directory)
    status, results = reader.read(), reader.log.results
    standings = run_standings(status.info, results)
    made = read_report(directory, status.info, results, standings, full=True)
    page = out_file or directory / _PAGE
    if out_file is None:
        check_output("report", page, allowed=_PAGE)
    pages = _write_pages(made, files, page.parent) if options.pages else Pages({}, ())
    write_output(page, report_page(made, status, pages.links, files))
    if csv is not None:
        _write_tables(csv, csv_tables(made))
    problems = tuple(dict.fromkeys((*made.times.problems, *pages.problems)))
    for problem in problems[:_REPLAYS_NAMED]:
        warn(f"skipped: {problem}")
    if more := len(problems[_REPLAYS_NAMED:]):
        warn(f"skipped: {more:,} more replays")
    written = f", with {count(len(pages.links), 'page')} of matches" if options.pages else ""
    notify(f"Wrote the report to {page}{written}" + (f", and its tables to {csv}" if csv else ""))


def _write_pages(made: Report, files: PageFiles, beside: Path) -> Pages:
    try:
        return write_pages(made, files, beside)
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


_MATCHES_NAMED = 3


def write_bundles(options: Bundle, _log: LogOptions) -> None:
    """Write a bundle for each entry of a run that has stopped or finished."""
    directory = options.directory
    run = read_ended_run(directory)
    check_names(run)
    if (directory / BUNDLES).is_symlink():
        raise UserError(f"{directory / BUNDLES}: is a link; remove it")
    writer = BundleWriter(run, run_standings(run.info, run.results))
    missing: set[str] = set()
    unproven = ""
    number = 0
    for bundle in writer.write():
        number += 1
        missing |= set(bundle.missing)
        unproven = unproven or bundle.unproven
    if missing:
        names = listed(sorted(missing), _MATCHES_NAMED)
        warn(f"skipped, because they have no replay: {names}")
    if unproven:
        warn(f"the bundles have no proofs that the replays belong to the run: {unproven}")
    notify(f"Wrote {count(number, 'bundle')} to {directory / BUNDLES}")
    notify("Send each author the bundle that has the name of the entry.")


def write_page(options: Page, _log: LogOptions) -> None:
    """Write the page of a match to a file; raises UserError."""
    file, out_file = options.file, options.out_file
    check_output("--out", out_file, inputs=[file])
    try:
        content = _page(options)
    except NoPageError:
        raise
    except ReplayError as error:
        raise UserError(f"{file}: {error}") from None
    write_output(out_file, content)
    seen = "everything" if options.seat is None else f"what seat {options.seat} could see"
    notify(f"Wrote the page to {out_file}, with {seen}")


def _page(options: Page) -> bytes:
    file = options.file
    data = read_file(file)
    replay = parse_replay(data)
    viewer = OPEN if options.seat is None else seat_viewer(options.seat)
    seen = replay_view(replay, viewer, _logs(file, replay) if options.bot_output else None)
    own = data if options.seat is None else None
    return match_page(
        seen, read_page_files(), own, options.language, _analysis(file, data, options.seat)
    )


def _analysis(file: Path, data: bytes, seat: int | None) -> dict[str, Any] | None:
    """Return the analysis of a replay as its page shows it; None if there is none."""
    path = analysis_path(file)
    shown, ignored = read_page_analysis(path, data, seat)
    if ignored:
        warn(f"{path}: ignored: {ignored}")
    return shown


def _logs(file: Path, replay: Replay) -> Logs:
    """Return what the bots logged; raises UserError if the file is not in a run's `replays`."""
    run = run_of(file)
    if run is None or not (run / "logs").is_dir():
        raise UserError(f"--bot-output: {file} is not in a run's `replays` folder")
    return decision_texts(run, replay.header.match_id, replay.header.entries)
