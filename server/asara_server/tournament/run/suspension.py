"""Suspends entries that forfeit too large a share of their matches. Pure.

An entry is judged by its matches in the order of the schedule, as far as they are over without a
gap. So the order in which concurrent matches end decides neither whether an entry is suspended nor
after which match. Matches of the entry that have begun by then are played to their end; their
number depends on how many matches are played at once. A match that a bot on another machine missed
does not count: it plays again as soon as it connects.
"""

from collections.abc import Collection, Iterable

from asara_codec.results import Termination
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
        self._ends: dict[str, dict[str, Termination]] = {entry: {} for entry in self._schedule}
        """Terminations of an entry's matches that are over, by match."""
        self._judged = dict.fromkeys(self._schedule, 0)
        """Number of an entry's first matches that are over without a gap."""
        self._counted = dict.fromkeys(self._schedule, 0)
        """Number of those that it did not miss."""
        self._forfeits = dict.fromkeys(self._schedule, 0)
        """Number of those that it forfeited without missing them."""
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
                    self._ends[seat.entry][result.match_id] = seat.termination
                    if why := self._judge(seat.entry):
                        suspended[seat.entry] = why
        self.suspended |= suspended
        return suspended

    def _judge(self, entry: str) -> str:
        """Judge an entry by the matches without a gap; return why it is suspended, or ""."""
        schedule, ends = self._schedule[entry], self._ends[entry]
        limits = self._limits
        while (judged := self._judged[entry]) < len(schedule) and schedule[judged] in ends:
            self._judged[entry] += 1
            if (end := ends[schedule[judged]]) is Termination.MISSED:
                continue
            self._counted[entry] = matches = self._counted[entry] + 1
            self._forfeits[entry] = forfeits = self._forfeits[entry] + end.forfeit
            if matches >= limits.suspend_after and forfeits > limits.suspend_share * matches:
                missed = judged + 1 - matches
                besides = f", besides {missed} that it missed" if missed else ""
                return (
                    f"suspended after it forfeited {forfeits} of its first {matches} matches"
                    f"{besides}"
                )
        return ""
