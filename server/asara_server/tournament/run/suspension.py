"""Ends the part of entries that fail to start, or that forfeit too many matches. Pure.

An entry is out if its bots fail to start several times in a row.

It is suspended if it forfeits too large a share of its matches. These are judged in schedule order,
up to the first match that is not over. Concurrent matches may end in any order, but this order
affects neither whether an entry is suspended nor after which match. Matches of the entry that have
already begun are played to their end; how many depends on the number of concurrent matches. A match
missed by a remote bot does not count: the bot plays again as soon as it connects.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from asara_codec.results import Termination
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult


class Suspensions:
    """Decides which entries of a run are suspended; results may arrive in any order."""

    def __init__(self, matches: Iterable[ScheduledMatch], limits: Limits) -> None:
        self._limits = limits
        self._schedule: dict[str, list[str]] = {}
        """Matches of each entry, in schedule order."""
        for match in matches:
            for entry in match.entries:
                self._schedule.setdefault(entry, []).append(match.match_id)
        self._ends: dict[str, dict[str, Termination]] = {entry: {} for entry in self._schedule}
        """For each entry, the terminations of its finished matches."""
        self._judged = dict.fromkeys(self._schedule, 0)
        """For each entry, the number of matches judged: all before its first unfinished match."""
        self._counted = dict.fromkeys(self._schedule, 0)
        """Number of judged matches that the entry did not miss."""
        self._forfeits = dict.fromkeys(self._schedule, 0)
        """Number of judged matches that the entry forfeited without missing them."""
        self.suspended: dict[str, str] = {}
        """Suspended entries, with the reasons."""

    def record_result(self, result: MatchResult, excluded: Collection[str] = ()) -> dict[str, str]:
        """Count a result; return the entries that it suspends, with the reasons.

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
        """Return why an entry is suspended, or "" if it is not.

        Only the matches before its first unfinished match are judged.
        """
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


class FailedStarts:
    """Counts each entry's failed starts since its last successful start."""

    def __init__(self, limit: int) -> None:
        """`limit` is the number of consecutive failed starts after which an entry is out."""
        self._limit = limit
        self._failures: Counter[str] = Counter()

    def record_result(self, result: MatchResult, ignored: Collection[str] = ()) -> dict[str, str]:
        """Count a result; return the entries that are now out, with the reasons.

        Nothing is counted for `ignored` entries.
        """
        out = {}
        for seat in result.seats:
            if seat.entry in ignored:
                continue
            if seat.termination is not Termination.NEVER_STARTED:
                self._failures[seat.entry] = 0
                continue
            self._failures[seat.entry] += 1
            if (failures := self._failures[seat.entry]) >= self._limit:
                out[seat.entry] = (
                    f"not started again after {failures} failures in a row: {seat.reason}"
                )
        return out
