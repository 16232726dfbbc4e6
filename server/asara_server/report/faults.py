"""Forfeits by entry and kind, with the latest reasons. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from asara_codec.results import Termination
from asara_server.report.model import Report
from asara_server.tournament.standings.match_result import MatchResult, short_reason

LATEST_REASONS = 3
"""Distinct reasons shown for each entry and kind."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Reason(NamedTuple):
    match: str
    detail: str


class _Ended(NamedTuple):
    """A forfeit at the end of a match."""

    when: float
    """End of the match, as Unix time."""
    number: int
    """Index of the match in the schedule."""
    reason: Reason
    cause: str
    """The reason without the parts that differ between matches; see `_cause_of`."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The forfeits of one kind by one entry."""

    entry: str
    kind: Termination
    forfeits: int
    matches: int
    """Number of all matches that the entry played."""
    latest: tuple[Reason, ...]
    """The latest distinct reasons, latest first."""


def faults_of(report: Report) -> list[Faults]:
    """Return the forfeits, sorted by entry (best first) and then by kind."""
    ended: dict[tuple[str, Termination], list[_Ended]] = defaultdict(list)
    for number, result in enumerate(report.results):
        end = end_of(result)
        when = end.timestamp() if end else float(number)
        for seat in result.forfeits:
            reason = Reason(result.played_as, report.publisher.reason(seat.detail))
            cause = _cause_of(seat.detail, result)
            ended[seat.entry, seat.termination].append(_Ended(when, number, reason, cause))
    return [
        Faults(row.entry, kind, len(found), row.matches, _latest(found))
        for row in report.standings.overall
        for kind in Termination
        if (found := ended.get((row.entry, kind)))
    ]


def end_of(result: MatchResult) -> datetime | None:
    """Return when a match ended; None if its times cannot be read."""
    try:
        started = datetime.fromisoformat(result.started)
        return started + timedelta(seconds=result.seconds) if started.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _latest(found: Iterable[_Ended]) -> tuple[Reason, ...]:
    """Return the latest distinct reasons, each with its latest match."""
    last: dict[str, Reason] = {}
    for one in sorted(found, key=lambda one: one[:2], reverse=True):
        last.setdefault(one.cause, one.reason)
        if len(last) == LATEST_REASONS:
            break
    return tuple(last.values())


def _cause_of(detail: str, result: MatchResult) -> str:
    """Return the short reason of a forfeit without match names and numbers."""
    text = short_reason(detail)
    for name in (result.played_as, result.match_id):
        text = text.replace(name, "")
    return _NUMBER.sub("0", text)
