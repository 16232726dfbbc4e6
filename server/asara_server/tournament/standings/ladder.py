"""The live ladder: ratings that follow the results one match at a time. Pure.

OpenSkill's model of Plackett and Luce, which rates matches of any number of seats by their ranks.
A rating begins at mu = 25 with sigma = 25/3. It depends on the order of the matches, and takes them
for independent, which those of one deal block are not: a ladder shows who is ahead while a
tournament runs. The standings decide.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openskill.models import PlackettLuce, PlackettLuceRating

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import LadderRow


class Rating(NamedTuple):
    """A strength at some time."""

    mu: float
    sigma: float


class Ladder:
    """Ratings after the results that were added so far."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        """Entries that are to be on it before they have played."""
        self._model = PlackettLuce()
        self._ratings: dict[str, PlackettLuceRating] = {}
        self._matches: dict[str, int] = {}
        self._history: dict[str, dict[str, Rating]] = {}
        for entry in entries:
            self._enter(entry)

    def add(self, result: MatchResult) -> None:
        """Follow one more match. A void one changes nothing."""
        if result.void:
            return
        names = [line.entry for line in result.seats]
        teams = [[self._enter(name)] for name in names]
        rated = self._model.rate(teams, ranks=[float(line.rank) for line in result.seats])
        for name, (rating,) in zip(names, rated, strict=True):
            self._ratings[name] = rating
            self._matches[name] += 1
            self._history[name][result.deal_block] = Rating(rating.mu, rating.sigma)

    @property
    def lines(self) -> tuple[LadderRow, ...]:
        """The ladder as it stands, best first."""
        lines = [
            LadderRow(
                entry=name,
                matches=self._matches[name],
                mu=rating.mu,
                sigma=rating.sigma,
                ordinal=rating.ordinal(),
            )
            for name, rating in self._ratings.items()
        ]
        return tuple(sorted(lines, key=lambda line: (-line.ordinal, -line.mu, line.entry)))

    @property
    def history(self) -> Mapping[str, Mapping[str, Rating]]:
        """The ratings of each entry after each of its deal blocks, by the name of the block.

        Blocks are in the order of their first match; a rating is that after the last one so far.
        """
        return self._history

    def _enter(self, name: str) -> PlackettLuceRating:
        if name not in self._ratings:
            self._ratings[name] = self._model.rating(name=name)
            self._matches[name] = 0
            self._history[name] = {}
        return self._ratings[name]
