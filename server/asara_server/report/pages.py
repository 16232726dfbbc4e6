"""Pages of a run's matches, in one folder with the script and the style that they share.

During a run, a match with a shared deal has no page until its block is over, because its replay
appears only then.
"""

import errno
import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from asara_server.atomic_file import replace_file
from asara_server.eventlog.replay import ReplayError
from asara_server.replay.file import read_file
from asara_server.replay.match_page import SCRIPT, STYLE, PageFiles, match_page
from asara_server.replay.replay_view import OPEN, replay_view
from asara_server.report.times import SUFFIX, RunFiles, replay_of
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.run.directory import PAGES
from asara_server.tournament.standings.match_result import MatchResult

_FEW: Final = 64
"""Number of pages up to which a single process writes them all."""
_CHUNK: Final = 16


class Pages(NamedTuple):
    """The pages that were written."""

    links: dict[str, str]
    """By match name, the address of the match's page relative to the report's folder."""
    problems: tuple[str, ...]
    """Replays for which no page was written, with the reason."""


class _Job(NamedTuple):
    replay: Path
    page: Path
    match_id: str
    entries: tuple[str, ...]
    public_key: bytes | None


def write_pages(
    files: RunFiles, results: Iterable[MatchResult], page: PageFiles, beside: Path
) -> Pages:
    """Write a page for each match that has a replay, to a folder next to the report.

    Pages from earlier calls are replaced. Raises OSError.
    """
    folder = beside / PAGES
    if folder.is_symlink():  # in a run of unknown origin, it may lead anywhere
        raise OSError(errno.EEXIST, "it is a link, not a folder", str(folder))
    folder.mkdir(exist_ok=True)
    replace_file(folder / SCRIPT, page.script.encode())
    replace_file(folder / STYLE, page.style.encode())
    jobs = list(_jobs(files, results, folder))
    links, problems = {}, []
    for job, problem in zip(jobs, _written(jobs), strict=True):
        if problem is None:
            links[job.match_id] = f"{PAGES}/{quote(job.page.name)}"
        else:
            problems.append(f"{job.replay.name}: {problem}")
    return Pages(links, tuple(problems))


def _jobs(files: RunFiles, results: Iterable[MatchResult], folder: Path) -> Iterator[_Job]:
    for result in results:
        name = result.played_as
        if name in files.published:
            entries = tuple(seat.entry for seat in result.seats)
            replay = files.replays / f"{name}{SUFFIX}"
            yield _Job(replay, folder / f"{name}.html", name, entries, files.public_key)


def _written(jobs: list[_Job]) -> Iterator[str | None]:
    """Write all pages, in parallel if there are many; yield the error of each page, or None."""
    processors = usable_cores()
    if len(jobs) <= _FEW or processors == 1:
        yield from map(_write, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processors, context) as processes:
        yield from processes.map(_write, jobs, chunksize=_CHUNK)


def _write(job: _Job) -> str | None:
    try:
        replace_file(job.page, _page(job))
    except ReplayError as error:
        job.page.unlink(missing_ok=True)  # from an earlier call, when the replay was sound
        return str(error)
    return None


def _page(job: _Job) -> bytes:
    data = read_file(job.replay)
    replay = replay_of(data, job.match_id, job.entries, job.public_key).replay
    return match_page(replay_view(replay, OPEN), None, data)
