"""A run or a folder of replays as last read; it is read again when it may have changed.

Anybody may be able to see the page, so it shows less than a published report; see `Publisher`.
"""

import asyncio
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from asara_game.rules import format_rule_sets
from asara_server.bounded_file import read_bounded
from asara_server.journal.replay import Replay, ReplayError
from asara_server.logs import logger
from asara_server.replay.analysis_file import SUFFIX as ANALYSIS_SUFFIX
from asara_server.replay.analysis_page import read_page_analysis
from asara_server.replay.file import LARGEST_FILE, SUFFIX, parse_file
from asara_server.replay.signing import PUBLIC_KEY_FILE, KeyFileError, read_public_key
from asara_server.report import run_json
from asara_server.report.model import Publisher, read_report
from asara_server.report.tables import details_json
from asara_server.report.times import replay_names
from asara_server.text import plain
from asara_server.tournament.run.directory import ANALYSIS, RunError
from asara_server.tournament.run.read_run import directories_of, run_standings
from asara_server.tournament.run.status import RunState, RunStatus, StatusReader
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome, utc_text
from asara_server.tournament.standings.model import Standings
from asara_server.web.match_list import MatchFilter, MatchList
from asara_server.web.responses import WebError
from asara_server.web.run_catalogue import Source, SourceKind, kind_of

_FRESH_S: Final = 0.5
"""Seconds after a read during which nothing is read again."""
_MOST_REPLAYS: Final = 5_000
"""Maximum number of replays listed from a folder without a run, the first ones by name."""
_NUMBERS: Final = re.compile(r"(\d+)")
_REST: Final = 10
"""Wait between two computations for the same run, as a multiple of the duration of the first."""
_WAIT_S: Final = 0.3
"""Maximum seconds that a request waits for standings; then it is answered without new ones."""

T = TypeVar("T")


class Computed(Generic[T]):
    """The latest value computed from the results of one run. Its methods do not block.

    Computing the standings of 100,000 matches takes about ten seconds. So a single thread computes
    for all runs, one after another, and requests get the latest available value.
    """

    def __init__(
        self, run: "OpenRun", thread: ThreadPoolExecutor, compute: Callable[..., T]
    ) -> None:
        """`compute` is called in the thread with the run's results, and `get`'s arguments."""
        self._run = run
        self._thread = thread
        self._function = compute
        self._latest: T | None = None
        self._results: object = None
        self._number = -1
        """Number of results from which the latest value was computed."""
        self._again_s = float("-inf")
        self._task: asyncio.Task[None] | None = None

    async def get(self, *more: object) -> T | None:
        """Return the latest value, which may lack recent matches; None if there is none yet."""
        if self._task is None and self._is_due():
            self._task = asyncio.create_task(self._compute(*more))
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_WAIT_S)
        return self._latest

    def _is_due(self) -> bool:
        results = self._run.matches.results
        changed = results is not self._results or len(results) != self._number
        return changed and time.monotonic() >= self._again_s

    async def _compute(self, *more: object) -> None:
        results = self._run.matches.results
        number = len(results)
        begin_s = time.monotonic()
        compute = partial(self._function, tuple(results[:number]), *more)
        try:
            self._latest = await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        except Exception:  # noqa: BLE001 - results of unknown origin; the page shows the rest
            name = self._run.source.name
            logger("web").error("results not summarised", run=name, exc_info=True)
        finally:
            end_s = time.monotonic()
            self._results, self._number = results, number
            self._again_s = end_s + _REST * (end_s - begin_s)
            self._task = None


class OpenRun:
    """A source that somebody is viewing. Methods that read files block, so threads call them."""

    def __init__(self, source: Source, thread: ThreadPoolExecutor) -> None:
        """`thread` computes `standings`, and the tables in `details`, for which it needs them."""
        self.source = source
        self.status: RunStatus | None = None
        """None for a folder of replays."""
        self.now = 0.0
        """When the status was read, in seconds since 1970."""
        self.published: frozenset[str] = frozenset()
        """Names of the matches whose replays can be read."""
        self.unreadable = 0
        """Number of files in a folder of replays that are not replays."""
        self.standings = Computed(self, thread, self._standings)
        self.details = Computed(self, thread, self._details)
        self._reader = StatusReader(source.directory)
        self._folder = _ReplayFolder(self.source.replays)
        self.matches = MatchList(self._results)
        self._lock = threading.Lock()
        self._read_s = float("-inf")
        self._replays_seen: tuple[int, int] | None = None

    @property
    def is_played(self) -> bool:
        """True if a program is currently playing matches of this run."""
        return self.status is not None and self.status.state is RunState.RUNNING

    @property
    def _results(self) -> list[MatchResult]:
        run = self.source.kind is SourceKind.RUN
        return self._reader.log.results if run else self._folder.results

    def refresh(self) -> None:
        """Read everything new; raises WebError if the run cannot be read any more."""
        with self._lock:
            if time.monotonic() - self._read_s < _FRESH_S:
                return
            with _web_errors(self.source):
                if self.source.kind is SourceKind.RUN:
                    self.now = time.time()
                    self.status = self._reader.read(self.now)
                    self._read_names()
                else:
                    self.published = self._folder.read()
                    self.unreadable = self._folder.unreadable
            if self.matches.results is not self._results:  # the journal was replaced
                self.matches = MatchList(self._results)
            self._read_s = time.monotonic()

    def _read_names(self) -> None:
        """If the folder has changed, list the published replays again."""
        try:
            about = self.source.replays.lstat()
            seen = about.st_mtime_ns, about.st_ino
            # A folder changed just now may change again without getting a later modification time.
            recent = time.time_ns() - about.st_mtime_ns < 2_000_000_000
            if (seen != self._replays_seen or recent) and stat.S_ISDIR(about.st_mode):
                self.published = frozenset(replay_names(self.source.replays))
                self._replays_seen = seen
        except OSError:
            self.published = frozenset()
            self._replays_seen = None

    def json(self, standings: Standings | None, running: list[dict[str, Any]]) -> dict[str, Any]:
        """Return everything that the page of a run shows; `running` are the running matches."""
        name = self.source.name
        if self.status is not None:
            publisher = Publisher(directories_of(self.source.directory), full=False)
            found = run_json.run_json(self.status, self.now, publisher, standings)
            return found | {"name": name, "running": running}
        results = tuple(self.matches.results)
        entries = {seat.entry for result in results for seat in result.seats}
        return {
            "name": name,
            "kind": self.source.kind.value,
            "title": name,
            "entries": [plain(entry) for entry in sorted(entries)],
            "rules": sorted({plain(result.rule_sets) for result in results}),
            "seats": sorted({len(result.seats) for result in results}),
            "state": RunState.FINISHED.value,
            "progress": {"scheduled": len(results), "over": len(results), "void": 0},
            "standings": standings and run_json.standings_json(standings),
            "running": running,
            "unreadable": self.unreadable,
        }

    def _standings(self, results: Sequence[MatchResult]) -> Standings:
        if self.status is None:
            # Loads numerical libraries; see `run_standings`.
            from asara_server.tournament.standings.standings import compute_standings

            return compute_standings("", (), len(results), results)
        return run_standings(self.status.info, results)

    def _details(self, results: Sequence[MatchResult], standings: Standings) -> dict[str, Any]:
        """Return the tables that a run's page shows on request."""
        assert self.status is not None
        directory, info = self.source.directory, self.status.info
        return details_json(read_report(directory, info, results, standings, full=False))

    def page(
        self, wanted: MatchFilter, *, offset: int, limit: int, latest_first: bool
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of matches that pass the filter, and the rows of one page."""
        with self._lock:
            numbers = self.matches.find(wanted, self.published)
            total = len(numbers)
            if latest_first:
                end = max(total - offset, 0)
                return total, self._rows(numbers[max(end - limit, 0) : end][::-1])
            return total, self._rows(numbers[offset : offset + limit])

    def block(self, name: str) -> list[dict[str, Any]]:
        """Return the finished matches of a block, in the order of their names."""
        with self._lock:
            results, numbers = self.matches.results, self.matches.find(MatchFilter(block=name), ())
            return self._rows(sorted(numbers, key=lambda number: results[number].match_id))

    def _rows(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        results, published = self.matches.results, self.published
        return [run_json.match_row(results[number], published) for number in numbers]

    def replay_bytes(self, match: str) -> bytes:
        """Return the content of a match's replay file; raises WebError."""
        if match not in self.published:
            raise self._no_replay(match)
        try:
            path = self.source.replays / f"{match}{SUFFIX}"
            if path.is_symlink():
                raise OSError
            return read_bounded(path, LARGEST_FILE)
        except OSError:
            raise WebError(
                404, f"the replay of {plain(match)!r} cannot be read; it may have been deleted"
            ) from None

    def analysis(self, match: str) -> dict[str, Any]:
        """Return the analysis of a match in JSON; null without one, and while the run is not over.

        `ignored` is the reason if there is a file that is not an analysis of this match. Raises
        WebError.
        """
        replay = self.replay_bytes(match)
        folder, over = self.source.directory, not self.is_played
        if self.status is not None:
            folder /= ANALYSIS
            over = self.status.state in {RunState.FINISHED, RunState.STOPPED}
        path = folder / f"{match}{ANALYSIS_SUFFIX}"
        shown, ignored = None, ""
        if over and not folder.is_symlink() and not path.is_symlink():
            shown, ignored = read_page_analysis(path, replay)
        return {"analysis": shown, "ignored": ignored}

    def public_key(self) -> bytes | None:
        """Return the public key of the run's referee; None if the run does not have it."""
        try:
            return read_public_key(self.source.directory / PUBLIC_KEY_FILE)
        except KeyFileError:
            return None

    def _no_replay(self, match: str) -> WebError:
        result = self.matches.named(match)
        if result is None:
            return WebError(404, f"this run has no match {plain(match, 100)!r}")
        if result.void:
            return WebError(404, f"{plain(match)!r} is void, because the referee failed")
        return WebError(404, f"the replay of {plain(match)!r} is published when its block is over")


class _ReplayFolder:
    """The replays in a folder without a run, and their results."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.results: list[MatchResult] = []
        self.unreadable = 0
        self._read: dict[str, tuple[tuple[int, int], MatchResult | None]] = {}

    def read(self) -> frozenset[str]:
        """Read the new files; return the names of the files that are replays."""
        names = sorted(replay_names(self._folder), key=_natural)[:_MOST_REPLAYS]
        found = {name: self._result(name) for name in names}
        results = [result for result in found.values() if result is not None]
        if results[: len(self.results)] == self.results:
            self.results += results[len(self.results) :]
        else:
            self.results = results
        self.unreadable = len(found) - len(results)
        return frozenset(name for name, result in found.items() if result is not None)

    def _result(self, name: str) -> MatchResult | None:
        path = self._folder / f"{name}{SUFFIX}"
        try:
            about = path.lstat()
            seen = about.st_mtime_ns, about.st_size
            known = self._read.get(name)
            if known is not None and known[0] == seen:
                return known[1]
            result = None
            with suppress(ReplayError, ValueError):
                result = _result_of(name, parse_file(read_bounded(path, LARGEST_FILE)).replay)
        except OSError:
            return None
        self._read[name] = seen, result
        return result


def _result_of(name: str, replay: Replay) -> MatchResult:
    """Return the result in a replay, with the name of its file as the match name."""
    header = replay.header
    return MatchResult(
        match_id=name,
        round=1,
        rule_sets=format_rule_sets(header.rule_sets),
        block=header.shared_deal,
        seats=tuple(map(SeatOutcome.of, header.entries, replay.ends)),
        started=utc_text(header.started_unix_ms / 1000),
        seconds=0.0,
    )


def _natural(name: str) -> list[str]:
    return [part.zfill(12) for part in _NUMBERS.split(name)]


@contextmanager
def _web_errors(source: Source) -> Iterator[None]:
    """Turn errors that can occur while reading a directory into a WebError without the path."""
    name = plain(source.name, 100)
    gone = WebError(404, f"the run {name!r} has been moved or deleted")
    try:
        yield
    except FileNotFoundError:
        raise gone from None
    except RunError as error:
        if kind_of(source.directory) is not source.kind:
            raise gone from None
        place = str(error).replace(f"{source.directory}/", "")
        raise WebError(503, f"the run {name!r} cannot be read: {plain(place)}") from None
    except OSError as error:
        why = error.strerror or "input or output failed"
        raise WebError(503, f"the run {name!r} cannot be read: {why}") from None
