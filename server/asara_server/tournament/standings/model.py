"""The types of `standings.json`, which is a `Standings` in JSON.

The content depends neither on the clock nor on the order in which matches ended. With the same seed
and deterministic bots, two runs give the same file. README.md explains every field. Numbers are
rounded to 6 decimals, ratings to 1.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]
Interval = tuple[Rounded, Rounded]
"""Lower and upper end of an interval."""
Points = Annotated[float, AfterValidator(lambda value: round(value, 1))]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SeatScore(_Part):
    seats: int
    seat: int
    matches: int
    score: Rounded


class StandingsRow(_Part):
    place: int
    entry: str
    matches: int
    blocks: int
    score: Rounded
    interval_95: Interval | None
    match_score: Rounded
    ranks: tuple[int, int] | None
    first_chance: Rounded | None
    win_share: Rounded
    prestige: Rounded | None
    faults: dict[str, int]
    by_seat: tuple[SeatScore, ...]

    @property
    def rank_set(self) -> str:
        """The ranks that the results allow, as a text such as "2–4"."""
        if self.ranks is None:
            return "–"
        best, worst = self.ranks
        return f"{best}" if best == worst else f"{best}–{worst}"


class PairingRow(_Part):
    entry: str
    opponent: str
    matches: int
    blocks: int
    score: Rounded
    interval_95: Interval


class DealShareRow(_Part):
    rule_sets: str
    seats: int
    matches: int
    share: Rounded


class LadderRow(_Part):
    entry: str
    matches: int
    rating: Points | None
    interval_95: tuple[Points, Points] | None


class MatchCounts(_Part):
    scheduled: int
    played: int
    void: int
    blocks: int


class Unfinished(_Part):
    blocks: int
    matches: int


class Standings(_Part):
    """The content of `standings.json`."""

    title: str
    complete: bool
    matches: MatchCounts
    unfinished: Unfinished
    remote_blocks: int
    looks: tuple[int, ...]
    overall: tuple[StandingsRow, ...]
    without_forfeits: tuple[StandingsRow, ...]
    by_rule_sets: dict[str, tuple[StandingsRow, ...]]
    seat_effect: tuple[SeatScore, ...]
    deal_shares: tuple[DealShareRow, ...]
    cross_table: tuple[PairingRow, ...]
    ladder: tuple[LadderRow, ...]

    @property
    def ended_early(self) -> bool:
        """True if the run ended early at a look because the ranks were settled."""
        return bool(self.looks) and self.matches.scheduled < self.looks[-1]

    @property
    def unconnected(self) -> list[str]:
        """Entries that played, but are not connected with the ladder by any chain of matches."""
        return [row.entry for row in self.ladder if row.matches and row.rating is None]
