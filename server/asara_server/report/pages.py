"""Pages of a run's matches, in one folder with the script and the style that they share.

During a run, a match with a shared deal has no page until its block is over, because its replay
appears only then.
"""

import errno
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from asara_server.atomic_file import replace_file
from asara_server.eventlog.replay import ReplayError
from asara_server.replay.analysis_file import SUFFIX as ANALYSIS_SUFFIX
from asara_server.replay.analysis_file import AnalysisError, read_analysis
from asara_server.replay.analysis_page import page_analysis
from asara_server.replay.file import read_file
from asara_server.replay.match_page import SCRIPT, STYLE, PageFiles, match_page
from asara_server.replay.replay_view import OPEN, replay_view
from asara_server.report.model import Report
from asara_server.report.times import SUFFIX, replay_of
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.run.directory import ANALYSIS, PAGES

_FEW: Final = 64
"""Number of pages up to which a single process writes them all."""
_CHUNK: Final = 16


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
        try:
            found = read_analysis(job.analysis, data)
            analysis = None if found is None else page_analysis(found)
        except AnalysisError as error:
            problem = f"{job.analysis.name}: {error}"
    return match_page(replay_view(replay, OPEN), None, data, analysis=analysis), problem
