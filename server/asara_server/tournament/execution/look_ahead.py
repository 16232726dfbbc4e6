"""The matches that come next, as far as processes are to be started for them.

Processes are needed for as many matches as are played at once, because all of these may end
together; and for as many more as are expected to begin while a process of the entry starts.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from asara_server.tournament.bots.start_plan import SeatNeed
from asara_server.tournament.run.progress import PendingMatch
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import attempt_name

_FIRST_GUESS_S: Final = 1.0
"""Duration of a match that is assumed before one is over."""

_SHORTEST_S: Final = 0.01
_NEW_SHARE: Final = 0.25
"""Weight of the latest match in the mean of the durations."""


class LookAhead:
    """The seats of matches to come, in the order in which processes are needed."""

    def __init__(
        self,
        upcoming: Callable[[], Iterable[PendingMatch]],
        start_up_s: Callable[[str], float | None],
        *,
        concurrency: int,
        most: int,
    ) -> None:
        """`upcoming` returns the matches to come in their order.

        `start_up_s` returns how long a process of an entry takes until it connects; None if that is
        unknown, or if no process is started for the entry here. There are `concurrency` matches at
        once. The look ahead ends after `most` matches.
        """
        self._upcoming = upcoming
        self._start_up_s = start_up_s
        self._concurrency = concurrency
        self._most = most
        self._match_s: float | None = None
        self._playing: list[ScheduledMatch] = []

    def begin_match(self, match: ScheduledMatch) -> None:
        self._playing.append(match)

    def finish_match(self, match: ScheduledMatch, seconds: float | None) -> None:
        """`seconds` is the duration of play; None if the match was not played to its end."""
        self._playing.remove(match)
        if seconds is not None:
            seconds = max(seconds, _SHORTEST_S)
            known_s = seconds if self._match_s is None else self._match_s
            self._match_s = known_s + _NEW_SHARE * (seconds - known_s)

    def needs(self) -> Iterator[SeatNeed]:
        """Yield the seats for which processes are needed.

        Processes that run at the same time can pass on what they see, also from one to the next.
        If several matches are played at once, that is possible between those with one deal anyway.
        If it is one at a time, no process is needed that would run beside such a match without
        playing it, or beside two of them: only those of the next match are, if it has another deal.
        """
        now = {match.shared_deal() for match in self._playing}
        begun: dict[str, float] = {}
        for index, (match, attempt) in enumerate(self._upcoming()):
            if index >= self._most:
                return
            deal = match.shared_deal()
            if self._concurrency == 1 and deal and (index or deal in now):
                return
            for seat, entry in enumerate(match.entries):
                if entry not in begun:
                    begun[entry] = self._begun_during_start(entry)
                if index < self._concurrency + int(begun[entry]):
                    imminent = index <= begun[entry]
                    name = attempt_name(match.match_id, attempt)
                    yield SeatNeed(entry, match.place, name, seat, imminent)

    def _begun_during_start(self, entry: str) -> float:
        """Return how many matches are expected to begin while a process of the entry starts."""
        start_up_s = self._start_up_s(entry) or 0.0
        return self._concurrency * start_up_s / (self._match_s or _FIRST_GUESS_S)
