"""Runs in the JSON of the API: the list of runs, one run, its matches and its standings.

All text of unknown origin passes `plain`, and reasons lose the directories of the organiser and
what bots printed: whoever may see the page sees no more than a published report shows.
"""

import asyncio
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from asara_game.rules import format_rule_sets
from asara_server.bounded_file import MIB, open_ordinary, read_bounded
from asara_server.eventlog.file_lock import is_held
from asara_server.eventlog.journal import TABLE
from asara_server.eventlog.replay import ReplayHeader
from asara_server.logs import logger
from asara_server.text import on_one_line, plain, without_paths
from asara_server.tournament.run.directory import RunDirectoryError, RunInfo
from asara_server.tournament.run.process_record import was_beside_others
from asara_server.tournament.run.read_run import directories_of, run_standings
from asara_server.tournament.run.status import (
    RESULTS,
    FailingEntry,
    RunState,
    RunStatus,
    read_state,
)
from asara_server.tournament.standings.match_result import without_output
from asara_server.tournament.standings.model import (
    LadderRow,
    PairingRow,
    Standings,
    StandingsRow,
)
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
    """Return what the page of a run shows; `tables` are the running matches."""
    status = run.status
    found = {
        "name": run.source.name,
        "kind": run.source.kind.value,
        "title": plain(status.info.title) if status else run.source.name,
        "rules": run.matches.rules,
        "seats": run.matches.seats,
        "entries": _entries(run),
        "standings": standings and standings_json(standings),
        "running": [_running(table) for table in tables],
        "unreadable": run.unreadable,
    }
    if status is None:
        number = len(run.matches.results)
        state = RunState.RUNNING if run.is_played else RunState.FINISHED
        return found | {"state": state.value, "progress": _counted(number)}
    private = directories_of(run.source.directory)
    return found | {
        "state": status.state.value,
        "progress": progress_json(status, run.now),
        "settings": _settings(status.info),
        "beside_others": was_beside_others(run.source.directory),
        "faults": [_failing(one, private) for one in status.failing],
        "excluded": [
            *_excluded("out", status.out, private),
            *_excluded("suspended", status.suspended, private),
        ],
        "left_out": [
            {"entry": plain(name), "why": _reason(why, private)}
            for name, why in status.info.left_out.items()
        ],
    }


def _entries(run: OpenRun) -> list[str]:
    """Return the names of all entries, in a folder of replays those that have played."""
    if run.status is not None:
        names: Iterable[str] = run.status.info.entries
    else:
        results = tuple(run.matches.results)
        names = sorted({seat.entry for result in results for seat in result.seats})
    return [plain(name) for name in names]


def _running(table: Table) -> dict[str, Any]:
    """Return who plays, and since when; of a match that may be watched, also its name and rules.

    The name of another match would tell which matches share its deal. What is left on a seat's
    clock is told of none: it would show the others how long it thought, and whether it was asked.
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


def _counted(number: int) -> dict[str, Any]:
    return {"scheduled": number, "over": number, "void": 0}


def progress_json(status: RunStatus, now: float) -> dict[str, Any]:
    """Return the progress at a time in seconds since 1970.

    It names moments instead of durations, so that it changes only if the run does.
    """
    running = status.state is RunState.RUNNING
    info = status.info
    return {
        "scheduled": info.scheduled,
        "over": status.over,
        "void": status.void,
        "blocks": status.blocks,
        "started": plain(info.started),
        "ended": None if running or info.ended is None else plain(info.ended),
        "last_end_ms": None if status.idle_s is None else round(1000 * (now - status.idle_s)),
        "elapsed_s": None if running else round(status.elapsed_s, 1),
        "pace": {
            "matches": status.pace.matches,
            "since_ms": round(1000 * (now - status.pace.seconds)) if running else None,
        },
        "building": sorted(plain(name) for name in status.building),
        "to_build": [plain(name) for name in status.to_build],
        "remote": {
            plain(name): entry.state
            for name, entry in (status.remote.entries if status.remote else {}).items()
        },
    }


def _settings(info: RunInfo) -> dict[str, Any]:
    """Return what was fixed before the first match; never the seed or the secret."""
    return {
        "blocks": info.blocks,
        "deals": info.deals,
        "edition": plain(info.edition),
        "sandbox": info.sandbox,
        "asara": plain(info.asara),
        "deal_commitment": plain(info.deal_commitment),
        "manifest_sha256": plain(info.manifest_sha256),
        "stalled_s": info.stalled_s,
    }


def standings_json(standings: Standings) -> dict[str, Any]:
    """Return the tables that follow from the results."""
    return {
        "matches": standings.matches.played,
        "complete": standings.complete,
        "unfinished": standings.unfinished.model_dump(),
        "remote_blocks": standings.remote_blocks,
        "ended_early": standings.ended_early,
        "overall": _rows(standings.overall),
        "without_forfeits": _rows(standings.without_forfeits),
        "by_rules": {plain(rules): _rows(rows) for rules, rows in standings.by_rule_sets.items()},
        "seat_effect": [seat.model_dump() for seat in standings.seat_effect],
        "cross_table": [_pairing(pair) for pair in standings.cross_table],
        "ladder": [_rating(row) for row in standings.ladder],
    }


def _rows(rows: Sequence[StandingsRow]) -> list[dict[str, Any]]:
    return [
        {
            "place": row.place,
            "entry": plain(row.entry),
            "matches": row.matches,
            "blocks": row.blocks,
            "score": row.score,
            "interval_95": row.interval_95,
            "ranks": row.ranks,
            "first_chance": row.first_chance,
            "win_share": row.win_share,
            "prestige": row.prestige,
            "faults": sum(row.faults.values()),
        }
        for row in rows
    ]


def _pairing(pair: PairingRow) -> dict[str, Any]:
    return {
        "entry": plain(pair.entry),
        "opponent": plain(pair.opponent),
        "matches": pair.matches,
        "score": pair.score,
        "interval_95": pair.interval_95,
    }


def _rating(row: LadderRow) -> dict[str, Any]:
    return {**row.model_dump(), "entry": plain(row.entry)}


def _failing(failing: FailingEntry, private: Sequence[str]) -> dict[str, Any]:
    return {
        "entry": plain(failing.entry),
        "matches": failing.matches,
        "kinds": {kind.name.lower(): number for kind, number in failing.kinds.items()},
        "match": plain(failing.latest.played_as),
        "why": _reason(failing.why, private),
    }


def _excluded(
    kind: str, reasons: Mapping[str, str], private: Sequence[str]
) -> Iterable[dict[str, str]]:
    for name, why in reasons.items():
        yield {"entry": plain(name), "kind": kind, "why": _reason(why, private)}


def _reason(why: str, private: Sequence[str]) -> str:
    """Return a reason without directories, and without what a bot or a build printed."""
    return plain(without_paths(on_one_line(without_output(why)), private))


_STANDINGS: Final = "standings.json"
_LARGEST_STANDINGS: Final = 64 * MIB
_CHUNK: Final = MIB


class RunSummaries:
    """Summaries of runs; what was counted in a file is kept until it changes."""

    def __init__(self) -> None:
        self._lines: dict[Path, tuple[tuple[int, int], int]] = {}
        self._leaders: dict[Path, tuple[tuple[int, int], str]] = {}

    def of(self, sources: Iterable[Source]) -> list[dict[str, Any]]:
        """Return the runs: unfinished ones first, then the latest."""
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
        try:
            info, state, _ = read_state(source.directory)
        except (RunDirectoryError, OSError):
            return found | {"state": "unreadable"}
        if state is RunState.FINISHED:
            found["leader"] = self._leader(source.directory / _STANDINGS)
        return found | {
            "title": plain(info.title),
            "state": state.value,
            "started": plain(info.started),
            "entries": len(info.entries),
            "over": self._count_lines(source.directory / RESULTS),
            "scheduled": info.scheduled,
        }

    def _count_lines(self, path: Path) -> int:
        try:
            with open_ordinary(path) as file:
                about = os.fstat(file.fileno())
                seen = about.st_ino, about.st_size
                (inode, offset), lines = self._lines.get(path, ((about.st_ino, 0), 0))
                if inode != about.st_ino or offset > about.st_size:  # another file
                    offset = lines = 0
                file.seek(offset)
                while offset < about.st_size:
                    chunk = file.read(min(_CHUNK, about.st_size - offset))
                    if not chunk:
                        break
                    offset += len(chunk)
                    lines += chunk.count(b"\n")
        except OSError:
            return 0
        self._lines[path] = seen, lines
        return lines

    def _leader(self, path: Path) -> str:
        """Return the entry in first place of a finished run; "" if that is not known."""
        try:
            about = path.stat()
            seen = about.st_mtime_ns, about.st_size
            known = self._leaders.get(path)
            if known is not None and known[0] == seen:
                return known[1]
            rows = Standings.model_validate_json(read_bounded(path, _LARGEST_STANDINGS)).overall
        except (OSError, ValidationError):
            return ""
        leader = plain(rows[0].entry) if rows and rows[0].matches else ""
        self._leaders[path] = seen, leader
        return leader


_REST: Final = 10
"""Times as long as a computation took pass before the next one of the same run."""
_WAIT_S: Final = 1.0
"""Seconds for which a request waits for standings; then it is answered without new ones."""


class StandingsCache:
    """The latest standings of one run.

    100,000 matches take some ten seconds. So one thread computes the standings of all runs, one
    after the other, and requests get those that are there.
    """

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._latest: Standings | None = None
        self._results: object = None
        self._number = -1
        """Results that the latest standings contain."""
        self._again_s = float("-inf")
        self._task: asyncio.Task[None] | None = None

    async def get(self, run: OpenRun) -> Standings | None:
        """Return the standings, which may lack the latest matches; None if there are none yet."""
        if self._task is None and self._is_due(run):
            self._task = asyncio.create_task(self._compute(run))
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_WAIT_S)
        return self._latest

    def _is_due(self, run: OpenRun) -> bool:
        results = run.matches.results
        changed = results is not self._results or len(results) != self._number
        return changed and time.monotonic() >= self._again_s

    async def _compute(self, run: OpenRun) -> None:
        results = run.matches.results
        number = len(results)
        begin_s = time.monotonic()
        found = tuple(results[:number])
        compute = (
            partial(run_standings, run.source.directory, run.status.info, found)
            if run.status
            else partial(compute_standings, "", (), number, found)
        )
        try:
            self._latest = await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        except Exception:  # noqa: BLE001 - results of unknown origin; the page shows the rest
            logger("web").error("standings failed", run=run.source.name, exc_info=True)
        finally:
            end_s = time.monotonic()
            self._results, self._number = results, number
            self._again_s = end_s + _REST * (end_s - begin_s)
            self._task = None
