"""Runs in the JSON of the API: the list of runs, one run, and values computed from its results.

Anybody may be able to see the page, so it shows less than a published report; see `Publisher`.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from asara_game.rules import format_rule_sets
from asara_server.eventlog.file_lock import is_held
from asara_server.eventlog.journal import TABLE
from asara_server.eventlog.replay import ReplayHeader
from asara_server.logs import logger
from asara_server.report import run_json as report
from asara_server.report.model import Publisher, read_report
from asara_server.report.tables import details_json
from asara_server.text import plain
from asara_server.tournament.run.directory import RunError
from asara_server.tournament.run.read_run import RunLog, directories_of, run_standings
from asara_server.tournament.run.status import RunState, read_state
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings
from asara_server.web.open_run import OpenRun
from asara_server.web.run_catalogue import Source, SourceKind


class Table(NamedTuple):
    """A running match, and whether it may be watched."""

    header: ReplayHeader
    open: bool


def run_json(
    run: OpenRun, standings: Standings | None, tables: Iterable[Table] = ()
) -> dict[str, Any]:
    """Return everything that the page of a run shows; `tables` are the running matches."""
    number = len(run.matches.results)
    found = {
        "name": run.source.name,
        "kind": run.source.kind.value,
        "title": run.source.name,
        "rules": run.matches.rules,
        "seats": run.matches.seats,
        "state": (RunState.RUNNING if run.is_played else RunState.FINISHED).value,
        "progress": {"scheduled": number, "over": number, "void": 0},
        "standings": standings and report.standings_json(standings),
        "running": [_running(table) for table in tables],
        "unreadable": run.unreadable,
    }
    if run.status is None:
        seats = (seat.entry for result in tuple(run.matches.results) for seat in result.seats)
        return found | {"entries": [plain(name) for name in sorted(set(seats))]}
    publisher = Publisher(directories_of(run.source.directory), full=False)
    found["beside_others"] = run.status.info.beside_others
    return found | report.run_json(run.status, run.now, publisher)


def _running(table: Table) -> dict[str, Any]:
    """Return who plays, and since when. If the match may be watched, add its name and rules.

    The name of any other match would reveal which matches share its deal. The time left on a seat's
    clock is never included. It would show other bots how long the seat thought, and whether it had
    to decide.
    """
    header = table.header
    seen = {
        "entries": [plain(entry) for entry in header.entries],
        "started_ms": header.started_unix_ms,
    }
    if not table.open:
        return seen
    return {
        "name": plain(header.match_id),
        "rules": format_rule_sets(header.rule_sets),
        **seen,
    }


class RunSummaries:
    """Summaries of runs; each reads only what was added to the run's journal."""

    def __init__(self) -> None:
        self._logs: dict[Path, RunLog] = {}
        self._lock = threading.Lock()

    def of(self, sources: Iterable[Source]) -> list[dict[str, Any]]:
        """Return the runs: unfinished ones first, then the latest."""
        with self._lock:
            runs = [self._summary(source) for source in sources]
        runs.sort(key=lambda run: (run["state"] == "running", run["started"]), reverse=True)
        return runs

    def _summary(self, source: Source) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": source.name,
            "kind": source.kind.value,
            "title": plain(source.name),
            "state": "finished",
            "started": "",
            "entries": 0,
            "over": 0,
            "scheduled": 0,
            "leader": "",
        }
        if source.kind is SourceKind.REPLAYS:
            with suppress(OSError):
                if is_held(source.directory / TABLE):
                    found["state"] = RunState.RUNNING.value
                found["over"] = sum(path.suffix == ".asara" for path in source.directory.iterdir())
            return found
        directory = source.directory
        log = self._logs.setdefault(directory, RunLog(directory, counts_only=True))
        try:
            state, _ = read_state(log)
        except RunError:
            return found | {"state": "unreadable"}
        info = log.info
        return found | {
            "title": plain(info.title),
            "state": state.value,
            "started": plain(info.started),
            "entries": len(info.entries),
            "over": log.attempts,
            "scheduled": info.scheduled,
            "leader": plain(info.leader),
        }


_REST: Final = 10
"""Wait between two computations for the same run, as a multiple of the duration of the first."""
_WAIT_S: Final = 0.3
"""Maximum seconds that a request waits for standings; then it is answered without new ones."""


T = TypeVar("T")


class Computed(Generic[T]):
    """The latest value computed from the results of one run.

    Computing the standings of 100,000 matches takes about ten seconds. So a single thread computes
    for all runs, one after another, and requests get the latest available value.
    """

    def __init__(self, thread: ThreadPoolExecutor, compute: Callable[..., T]) -> None:
        """`compute` is called in the thread with the run, its results, and `get`'s arguments."""
        self._thread = thread
        self._function = compute
        self._latest: T | None = None
        self._results: object = None
        self._number = -1
        """Number of results from which the latest value was computed."""
        self._again_s = float("-inf")
        self._task: asyncio.Task[None] | None = None

    async def get(self, run: OpenRun, *more: object) -> T | None:
        """Return the latest value, which may lack recent matches; None if there is none yet."""
        if self._task is None and self._is_due(run):
            self._task = asyncio.create_task(self._compute(run, *more))
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_WAIT_S)
        return self._latest

    def _is_due(self, run: OpenRun) -> bool:
        results = run.matches.results
        changed = results is not self._results or len(results) != self._number
        return changed and time.monotonic() >= self._again_s

    async def _compute(self, run: OpenRun, *more: object) -> None:
        results = run.matches.results
        number = len(results)
        begin_s = time.monotonic()
        compute = partial(self._function, run, tuple(results[:number]), *more)
        try:
            self._latest = await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        except Exception:  # noqa: BLE001 - results of unknown origin; the page shows the rest
            logger("web").error("results not summarised", run=run.source.name, exc_info=True)
        finally:
            end_s = time.monotonic()
            self._results, self._number = results, number
            self._again_s = end_s + _REST * (end_s - begin_s)
            self._task = None


def standings_of(run: OpenRun, results: Sequence[MatchResult]) -> Standings:
    if run.status is None:
        return compute_standings("", (), len(results), results)
    return run_standings(run.status.info, results)


def details_of(
    run: OpenRun, results: Sequence[MatchResult], standings: Standings
) -> dict[str, Any]:
    """Return the tables that a run's page shows on request."""
    assert run.status is not None
    directory = run.source.directory
    return details_json(read_report(directory, run.status.info, results, standings, full=False))
