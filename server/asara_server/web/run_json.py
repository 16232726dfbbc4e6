"""A run in the JSON of the API. Pure.

All text of unknown origin passes `plain`, and reasons lose the directories of the organiser and
what bots printed: whoever may see the page sees no more than a published report shows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from asara_game.rules import format_rule_sets
from asara_server.eventlog.replay import ReplayHeader
from asara_server.text import on_one_line, plain, without_paths
from asara_server.tournament.run.directory import RunInfo
from asara_server.tournament.run.process_record import was_beside_others
from asara_server.tournament.run.read_run import directories_of
from asara_server.tournament.run.status import FailingEntry, RunState, RunStatus
from asara_server.tournament.standings.match_result import without_output
from asara_server.tournament.standings.model import (
    LadderRow,
    PairingRow,
    Standings,
    StandingsRow,
)
from asara_server.web.open_run import OpenRun


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
