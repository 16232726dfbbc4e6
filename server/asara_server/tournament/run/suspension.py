"""Suspends entries that forfeit too large a share of their matches. Pure.

An entry is judged by its matches in the order of the schedule, as far as they are over without a
gap. So the order in which concurrent matches end decides neither whether an entry is suspended nor
after which match. Matches of the entry that have begun by then are played to their end; their
number depends on how many matches are played at once.
"""

from collections.abc import Collection, Iterable

from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult


class Suspensions:
    """Decides which entries of a run are suspended, from its results in any order."""

    def __init__(self, matches: Iterable[ScheduledMatch], limits: Limits) -> None:
        self._limits = limits
        self._schedule: dict[str, list[str]] = {}
        """Matches of each entry, in their order."""
        for match in matches:
            for entry in match.entries:
                self._schedule.setdefault(entry, []).append(match.match_id)
        self._forfeited: dict[str, dict[str, bool]] = {entry: {} for entry in self._schedule}
        """By entry, its matches that are over, and True for those that it forfeited."""
        self._judged = dict.fromkeys(self._schedule, 0)
        """Number of an entry's first matches that are over without a gap."""
        self._forfeits = dict.fromkeys(self._schedule, 0)
        """Number of forfeits among the matches that count."""
        self.suspended: dict[str, str] = {}
        """Suspended entries, and why."""

    def record_result(self, result: MatchResult, excluded: Collection[str] = ()) -> dict[str, str]:
        """Count a result; return the entries that are suspended because of it, and why.

        Entries that are `excluded` forfeit anyway, and are not judged.
        """
        not_judged = {*self.suspended, *excluded}
        suspended = {}
        if not result.void:
            for seat in result.seats:
                if seat.entry in self._schedule and seat.entry not in not_judged:
                    self._forfeited[seat.entry][result.match_id] = seat.termination.forfeit
                    if why := self._judge(seat.entry):
                        suspended[seat.entry] = why
        self.suspended |= suspended
        return suspended

    def _judge(self, entry: str) -> str:
        """Judge an entry by the matches without a gap; return why it is suspended, or ""."""
        schedule, forfeited = self._schedule[entry], self._forfeited[entry]
        limits = self._limits
        while (matches := self._judged[entry]) < len(schedule) and schedule[matches] in forfeited:
            self._forfeits[entry] += forfeited[schedule[matches]]
            self._judged[entry] = matches = matches + 1
            forfeits = self._forfeits[entry]
            if matches >= limits.suspend_after and forfeits > limits.suspend_share * matches:
                return f"suspended after it forfeited {forfeits} of its first {matches} matches"
        return ""
