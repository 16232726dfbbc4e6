"""The pages of a report: the page of the run, and a page for each of its matches.

The page of the run is the page that a server would send, with the run inside. Without scripts, it
shows the same tables as plain HTML. It does not depend on when or where it was written.

The pages of the matches are in one folder, with the script and the style that they share. During a
run, a match with a shared deal has no page until its block is over, because its replay appears only
then.
"""

import errno
import json
import multiprocessing
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from asara_server.atomic_file import replace_file
from asara_server.journal.replay import ReplayError
from asara_server.replay.analysis_file import SUFFIX as ANALYSIS_SUFFIX
from asara_server.replay.analysis_page import read_page_analysis
from asara_server.replay.file import SUFFIX, read_file
from asara_server.replay.match_page import (
    SCRIPT,
    STYLE,
    PageFiles,
    data_block,
    document,
    match_page,
)
from asara_server.replay.replay_view import OPEN, replay_view
from asara_server.report.model import Report
from asara_server.report.run_json import match_row, run_json
from asara_server.report.tables import details_json, html_tables
from asara_server.report.times import replay_of
from asara_server.system import usable_cores
from asara_server.text import plain
from asara_server.tournament.run.directory import ANALYSIS, PAGES
from asara_server.tournament.run.status import RunStatus

MOST_MATCHES: Final = 5_000
"""Maximum number of matches listed on the page; the CSV file has all of them."""

_PROGRESS: Final = ("scheduled", "over", "void", "blocks", "started", "ended", "elapsed_s")
"""Progress values that depend neither on the clock nor on which bots are connected."""

_FEW: Final = 64
"""Number of pages up to which a single process writes them all."""
_CHUNK: Final = 16


def report_page(
    report: Report, status: RunStatus, pages: Mapping[str, str], files: PageFiles
) -> bytes:
    """Return the page; `pages` are the addresses of match pages, by match name."""
    links = _links(report, pages)
    title = plain(report.standings.title)
    data = json.dumps(_data(report, status, links), separators=(",", ":"), allow_nan=False)
    tables = html_tables(report, links)
    body = f'<div class="frame"><main><h1><bdi>{escape(title)}</bdi></h1>\n{tables}</main></div>'
    return document(title, body, data_block("run", zlib.compress(data.encode(), 9)), files)


def _links(report: Report, pages: Mapping[str, str]) -> Mapping[str, str]:
    """Return the addresses to link to, by match name; during a run, only match pages."""
    if pages or not report.over:
        return pages
    return {name: f"replays/{quote(name + SUFFIX)}" for name in report.files.published}


def _data(report: Report, status: RunStatus, links: Mapping[str, str]) -> dict[str, Any]:
    """Return the data that the page shows, in the form in which a server sends it."""
    run = run_json(status, 0.0, report.publisher, report.standings)
    run["progress"] = {name: run["progress"][name] for name in _PROGRESS}
    return {
        "run": run,
        "tables": details_json(report),
        "matches": [
            {**match_row(result, links), "href": links.get(result.played_as)}
            for result in report.results[:MOST_MATCHES]
        ],
        "total": len(report.results),
    }


# The matches


class Pages(NamedTuple):
    """The pages that were written."""

    links: dict[str, str]
    """By match name, the address of the match's page relative to the report's folder."""
    problems: tuple[str, ...]
    """Replays for which no page was written, and analyses that are in no page, with the reason."""


class _Job(NamedTuple):
    replay: Path
    page: Path
    match_id: str
    entries: tuple[str, ...]
    public_key: bytes | None
    analysis: Path | None
    """File that may contain the match's analysis; None while the run is not over."""


def write_pages(made: Report, page: PageFiles, beside: Path) -> Pages:
    """Write a page for each match that has a replay, to a folder next to the report.

    Pages from earlier calls are replaced. Raises OSError.
    """
    folder = beside / PAGES
    if folder.is_symlink():  # in a run of unknown origin, it may lead anywhere
        raise OSError(errno.EEXIST, "it is a link, not a folder", str(folder))
    folder.mkdir(exist_ok=True)
    replace_file(folder / SCRIPT, page.script.encode())
    replace_file(folder / STYLE, page.style.encode())
    jobs = list(_jobs(made, folder))
    links, problems = {}, []
    for job, (written, problem) in zip(jobs, _written(jobs), strict=True):
        if written:
            links[job.match_id] = f"{PAGES}/{quote(job.page.name)}"
        if problem:
            problems.append(problem)
    return Pages(links, tuple(problems))


def _jobs(made: Report, folder: Path) -> Iterator[_Job]:
    files = made.files
    analyses = files.replays.parent / ANALYSIS
    shown = made.over and not analyses.is_symlink()
    for result in made.results:
        name = result.played_as
        if name in files.published:
            entries = tuple(seat.entry for seat in result.seats)
            replay = files.replays / f"{name}{SUFFIX}"
            analysis = analyses / f"{name}{ANALYSIS_SUFFIX}" if shown else None
            yield _Job(replay, folder / f"{name}.html", name, entries, files.public_key, analysis)


def _written(jobs: list[_Job]) -> Iterator[tuple[bool, str]]:
    """Write all pages, in parallel if there are many; for each page, yield whether it was written,
    and what was wrong.
    """
    processors = usable_cores()
    if len(jobs) <= _FEW or processors == 1:
        yield from map(_write, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processors, context) as processes:
        yield from processes.map(_write, jobs, chunksize=_CHUNK)


def _write(job: _Job) -> tuple[bool, str]:
    try:
        page, problem = _page(job)
        replace_file(job.page, page)
    except ReplayError as error:
        job.page.unlink(missing_ok=True)  # from an earlier call, when the replay was sound
        return False, f"{job.replay.name}: {error}"
    return True, problem


def _page(job: _Job) -> tuple[bytes, str]:
    """Return the page, and why it does not contain the analysis that exists."""
    data = read_file(job.replay)
    replay = replay_of(data, job.match_id, job.entries, job.public_key)
    analysis, problem = None, ""
    if job.analysis is not None and not job.analysis.is_symlink():
        analysis, ignored = read_page_analysis(job.analysis, data)
        problem = ignored and f"{job.analysis.name}: {ignored}"
    return match_page(replay_view(replay, OPEN), None, data, analysis=analysis), problem
