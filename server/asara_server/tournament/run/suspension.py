"""Which entries fault so often that their further matches are not played. Pure.

An entry is judged by its matches in the order of the schedule, and by the unbroken row of them that
are over: so it does not depend on which of several matches ended first whether, and after which
match, an entry is suspended. Matches of it that were begun before that was known are played to
their end; with more than one match at once these may be more or fewer.
"""

from collections.abc import Collection, Iterable

from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult


class Suspensions:
    """Takes the results of a run as they come, and says who is suspended."""

    def __init__(self, matches: Iterable[ScheduledMatch], limits: Limits) -> None:
        self._limits = limits
        self._order: dict[str, list[str]] = {}
        for match in matches:
            for entry in match.entries:
                self._order.setdefault(entry, []).append(match.match_id)
        self._forfeits: dict[str, dict[str, bool]] = {entry: {} for entry in self._order}
        self._judged = dict.fromkeys(self._order, 0)
        self._faults = dict.fromkeys(self._order, 0)
        self.suspended: dict[str, str] = {}
        """Entries that are, and why."""

    def take(self, result: MatchResult, out: Collection[str] = ()) -> dict[str, str]:
        """One more match is over; the entries that are suspended from now on, and why.

        Who is `out` forfeits anyway, and is not judged.
        """
        over = {*self.suspended, *out}
        new = {}
        if not result.void:
            for line in result.seats:
                if line.entry in self._forfeits and line.entry not in over:
                    self._forfeits[line.entry][result.match_id] = line.termination.forfeit
                    if why := self._judge(line.entry):
                        new[line.entry] = why
        self.suspended |= new
        return new

    def _judge(self, entry: str) -> str:
        """Go on along the row of the entry's matches; why it is suspended, if it is."""
        order, over = self._order[entry], self._forfeits[entry]
        while self._judged[entry] < len(order) and order[self._judged[entry]] in over:
            self._faults[entry] += over[order[self._judged[entry]]]
            self._judged[entry] += 1
            matches, faults = self._judged[entry], self._faults[entry]
            limits = self._limits
            if matches >= limits.suspend_after and faults > limits.suspend_share * matches:
                return f"suspended after it forfeited {faults} of its first {matches} matches"
        return ""
