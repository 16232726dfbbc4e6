"""The live ladder: ratings updated after every match. Pure.

The ratings are OpenSkill's Plackett-Luce model, which rates matches of any number of seats by their
ranks, from mu = 25 and sigma = 25/3. They depend on the order of the matches and treat the matches
of a deal block as independent, which they are not: the ladder shows who leads while a tournament
runs. The standings decide.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openskill.models import PlackettLuce, PlackettLuceRating

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import LadderRow


class Rating(NamedTuple):
    """The rating of an entry after some match."""

    mu: float
    sigma: float


class Ladder:
    """Ratings after the results added so far."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        """`entries` are listed even before they have played."""
        self._model = PlackettLuce()
        self._ratings: dict[str, PlackettLuceRating] = {}
        self._matches: dict[str, int] = {}
        self._history: dict[str, dict[str, Rating]] = {}
        for entry in entries:
            self._rating_of(entry)

    def add(self, result: MatchResult) -> None:
        """Update the ratings with a match; a void one changes nothing."""
        if result.void:
            return
        names = [line.entry for line in result.seats]
        teams = [[self._rating_of(name)] for name in names]
        rated = self._model.rate(teams, ranks=[float(line.rank) for line in result.seats])
        for name, (rating,) in zip(names, rated, strict=True):
            self._ratings[name] = rating
            self._matches[name] += 1
            self._history[name][result.deal_block] = Rating(rating.mu, rating.sigma)

    @property
    def rows(self) -> tuple[LadderRow, ...]:
        """Current rows of the ladder, best first."""
        rows = [
            LadderRow(
                entry=name,
                matches=self._matches[name],
                mu=rating.mu,
                sigma=rating.sigma,
                ordinal=rating.ordinal(),
            )
            for name, rating in self._ratings.items()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.ordinal, -row.mu, row.entry)))

    @property
    def history(self) -> Mapping[str, Mapping[str, Rating]]:
        """Rating of each entry after each of its deal blocks, by the name of the block.

        Blocks are in the order of their first match. The rating is that after the latest match.
        """
        return self._history

    def _rating_of(self, name: str) -> PlackettLuceRating:
        if name not in self._ratings:
            self._ratings[name] = self._model.rating(name=name)
            self._matches[name] = 0
            self._history[name] = {}
        return self._ratings[name]
