"""A growing list of a run's matches, with filters."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, NamedTuple

from asara_codec.results import Termination
from asara_server.text import plain
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from asara_server.web.responses import WebError

LARGEST_PAGE: Final = 200
_KEPT_FILTERS: Final = 32
"""Number of filters whose matches are kept, so that the next page need not search again."""

_SEATS: Final = ("", "2", "3", "4")
_STATES: Final = ("", "replay", "waiting", "void")
_RESULTS: Final = ("", "won", "lost", "tied")
_FORFEITS: Final = ("", "any", *(kind.name.lower() for kind in Termination if kind.forfeit))


class MatchFilter(NamedTuple):
    """Conditions on a match; "" means any."""

    entry: str = ""
    opponent: str = ""
    """Another entry that took part in the match."""
    seats: str = ""
    """Number of seats."""
    rules: str = ""
    result: str = ""
    """"won", "lost" or "tied", from the point of view of `entry`; without `entry`, only "tied"."""
    forfeit: str = ""
    """Kind of a forfeit, or "any"; if `entry` is set, only its own forfeits count."""
    state: str = ""
    """"replay": the match has a replay. "waiting": its replay follows when the block is over.
    "void": the match has no result, because the referee failed; only this filter shows void
    attempts."""
    block: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "MatchFilter":
        """Return the filter in a query string; raise WebError if it is invalid."""
        found = cls(*(query.get(name, "") for name in cls._fields))
        for name, value, known in (
            ("seats", found.seats, _SEATS),
            ("result", found.result, _RESULTS),
            ("forfeit", found.forfeit, _FORFEITS),
            ("state", found.state, _STATES),
        ):
            if value not in known:
                raise WebError(400, f"{name}: write one of {', '.join(filter(None, known))}")
        if found.result in {"won", "lost"} and not found.entry:
            raise WebError(400, f"result: {found.result} needs an entry as well")
        return found


class MatchList:
    """The results of a run, in the order in which matches ended, and the matches that filters
    found.
    """

    def __init__(self, results: Sequence[MatchResult]) -> None:
        """`results` may grow, but not during a call."""
        self.results = results
        self._filtered: dict[MatchFilter, _Found] = {}

    def named(self, name: str) -> MatchResult | None:
        """Return the attempt with this name."""
        return next((result for result in self.results if plain(result.played_as) == name), None)

    def find(self, wanted: MatchFilter, published: Container[str]) -> Sequence[int]:
        """Return the indices of the matches that pass the filter, not to be changed."""
        if wanted.state not in {"replay", "waiting"}:
            return self._kept(wanted)
        numbers = self._kept(wanted._replace(state=""))
        has = wanted.state == "replay"
        return [n for n in numbers if (self.results[n].played_as in published) == has]

    def _kept(self, wanted: MatchFilter) -> list[int]:
        found = self._filtered.pop(wanted, None) or _Found()
        self._filtered[wanted] = found  # most recently used last
        if len(self._filtered) > _KEPT_FILTERS:
            del self._filtered[next(iter(self._filtered))]
        keeps = _condition(wanted)
        end = len(self.results)
        found.numbers += [n for n in range(found.seen, end) if keeps(self.results[n])]
        found.seen = end
        return found.numbers


class _Found:
    """The matches that pass a filter, among the results it has processed."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.seen = 0


def _condition(wanted: MatchFilter) -> Callable[[MatchResult], bool]:
    """Return a function that tests whether a match passes, apart from the state of its replay."""
    entry, opponent, seats, rules, result, forfeit, state, block = wanted

    def keeps(match: MatchResult) -> bool:
        if match.void != (state == "void"):
            return False
        if seats and len(match.seats) != int(seats):
            return False
        if block and plain(match.deal_block) != block:
            return False
        if rules and plain(match.rule_sets) != rules:
            return False
        if opponent and not any(_named(seat, opponent) for seat in match.seats):
            return False
        if not (entry or result or forfeit):
            return True
        own = [seat for seat in match.seats if not entry or _named(seat, entry)]
        return (
            bool(own)
            and (not forfeit or any(_has_forfeited(seat, forfeit) for seat in own))
            and (not result or any(_ended(match, seat) == result for seat in own))
        )

    return keeps


def _named(seat: SeatOutcome, entry: str) -> bool:
    return seat.entry == entry or plain(seat.entry) == entry


def _has_forfeited(seat: SeatOutcome, wanted: str) -> bool:
    kind = seat.termination
    return kind.forfeit and wanted in {"any", kind.name.lower()}


def _ended(match: MatchResult, seat: SeatOutcome) -> str:
    """Return "won", "tied" or "lost"; only a tie for first place counts as "tied"."""
    if seat.rank > 1:
        return "lost"
    return "won" if sum(other.rank == 1 for other in match.seats) == 1 else "tied"
