"""A run in JSON, as the page shows it: progress, standings, forfeits, matches. Pure.

The web server sends this JSON, and reports contain it. All text of unknown origin is passed through
`plain`.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from asara_server.report.model import Publisher
from asara_server.text import plain
from asara_server.tournament.run.status import FailingEntry, RunState, RunStatus
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import LadderRow, PairingRow, Standings, StandingsRow


def run_json(
    status: RunStatus, now: float, publisher: Publisher, standings: Standings | None
) -> dict[str, Any]:
    """Return everything that the page of a run shows; `now` is in seconds since 1970.

    A web server adds its name and the running matches.
    """
    info = status.info
    return {
        "name": "",
        "kind": "run",
        "title": plain(info.title),
        "entries": [plain(name) for name in info.entries],
        "rules": list(map(plain, status.rules)),
        "seats": status.seats,
        "state": status.state.value,
        "progress": progress_json(status, now),
        "standings": standings and standings_json(standings),
        "running": [],
        "unreadable": 0,
        "beside_others": info.beside_others,
        "settings": {
            "blocks": info.blocks,
            "edition": publisher.reason(info.edition),
            "sandbox": info.sandbox,
        },
        "faults": [_failing(one, publisher) for one in status.failing],
        "excluded": [
            {"entry": entry, "kind": kind, "why": why}
            for entry, kind, why in publisher.exclusions(info)
        ],
    }


def progress_json(status: RunStatus, now: float) -> dict[str, Any]:
    """Return the progress; `now` is in seconds since 1970.

    It contains points in time instead of durations, so that it changes only when the run does.
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


def standings_json(standings: Standings) -> dict[str, Any]:
    """Return the tables derived from the results."""
    return {
        "matches": standings.matches.played,
        "complete": standings.complete,
        "unfinished": standings.unfinished.model_dump(),
        "remote_blocks": standings.remote_blocks,
        "unconnected": [plain(name) for name in standings.unconnected],
        "ended_early": standings.ended_early,
        "overall": _rows(standings.overall),
        "without_forfeits": _rows(standings.without_forfeits),
        "by_rules": {plain(rules): _rows(rows) for rules, rows in standings.by_rule_sets.items()},
        "seat_effect": [seat.model_dump() for seat in standings.seat_effect],
        "cross_table": [_pairing(pair) for pair in standings.cross_table],
        "ladder": [_rating(row) for row in standings.ladder],
    }


_SHOWN = {
    *("place", "matches", "blocks", "score", "interval_95", "ranks", "first_chance"),
    *("win_share", "prestige"),
}


def _rows(rows: Sequence[StandingsRow]) -> list[dict[str, Any]]:
    return [
        {
            **row.model_dump(include=_SHOWN),
            "entry": plain(row.entry),
            "faults": sum(row.faults.values()),
        }
        for row in rows
    ]


def _pairing(pair: PairingRow) -> dict[str, Any]:
    names = {"entry": plain(pair.entry), "opponent": plain(pair.opponent)}
    return {**pair.model_dump(exclude={"blocks"}), **names}


def _rating(row: LadderRow) -> dict[str, Any]:
    return {**row.model_dump(), "entry": plain(row.entry)}


def _failing(failing: FailingEntry, publisher: Publisher) -> dict[str, Any]:
    return {
        "entry": plain(failing.entry),
        "matches": failing.matches,
        "kinds": {kind.name.lower(): number for kind, number in failing.kinds.items()},
        "match": plain(failing.latest.result.played_as),
        "kind": failing.latest.seat.termination.name.lower(),
        "why": publisher.forfeit(failing.latest.seat),
    }


def match_row(result: MatchResult, published: Container[str]) -> dict[str, Any]:
    """Return a match as one row of the page's list.

    Reasons of forfeits are left out, because they may contain what a bot printed.
    """
    name = plain(result.played_as)
    state = "replay" if result.played_as in published else "waiting"
    return {
        "name": name,
        "block": plain(result.block),
        "round": result.round,
        "rules": plain(result.rule_sets),
        "started": plain(result.started),
        "seconds": result.seconds,
        "state": "void" if result.void else state,
        "seats": list(_seats(result)),
    }


def _seats(result: MatchResult) -> Iterator[dict[str, Any]]:
    for seat in result.seats:
        kind = seat.termination
        yield {
            "entry": plain(seat.entry),
            "rank": seat.rank,
            "prestige": seat.prestige,
            "fault": kind.name.lower() if kind.forfeit else "",
        }
