"""The types of `standings.json`, which is a `Standings` in JSON.

Nothing in it depends on the clock or on the order in which matches ended: the same seed and
deterministic bots give the same file.

    title             of the tournament
    complete          false if the run was cut short
    matches           numbers of scheduled, played (counted) and void matches (the referee failed),
                      and of the deal blocks played
    unfinished        numbers of deal blocks that were played in part, in the last group that was
                      begun (see tournament/README.md#legs), and of the matches that they lack
    remote_blocks     number of duplicate blocks in which entries on other machines sat at several
                      tables, and could tell each other about the deal
    overall           one StandingsRow per entry, best first
    without_forfeits  the same, from the blocks without a forfeit
    by_rule_sets      the same, by combination of rule sets, such as "pro+gifts"
    seat_effect       mean score of each seat over all entries, by seats at the table
    deal_shares       one DealShareRow per kind of table with scores that were compared
    cross_table       one PairingRow for every two entries that met, in the order of `overall`
    ladder            one LadderRow per entry, best first (see `ladder`)

    StandingsRow:
    place             1 for the best; entries with equal scores share it
    entry             name
    matches           matches played
    blocks            deal blocks of these matches
    score             mean over its blocks of the mean of its match scores: 1 for first place down
                      to 0 for last, in even steps; ties share the mean of their places. In
                      duplicate blocks a match score is compared with those of others who held the
                      same seat of the same deal (see `comparison`)
    match_score       the same without any comparison
    interval_95       ends of a 95 % interval of the expected score (see `intervals`); null without
                      a block
    ranks             best and worst rank that the results allow, for all entries together with a
                      probability of 95 % (see `ranks`); null in `by_rule_sets`
    first_chance      probability that its expected score is the best; null without a block, and in
                      `by_rule_sets`
    win_share         mean share of wins: 1 for a win, divided among entries that tie for it; 0 for
                      a forfeit
    prestige          mean prestige of the matches it did not forfeit; null without one
    faults            forfeits by kind: time_out, crash, never_started, rejected_replies,
                      protocol_violation, suspended, missed; kinds that never occurred are omitted
    by_seat           matches and mean score in each seat, by seats at the table

    DealShareRow:
    rule_sets, seats  the kind of table
    matches           matches that were compared
    share             share of the deal in the variance of a match score

    PairingRow:
    entry, opponent   the one that is placed higher comes first
    matches, blocks   those in which both sat
    score             mean score of `entry` over these blocks: 1 for a match that it finished above
                      the opponent, ½ for a tie; the opponent's is 1 - score
    interval_95       as above

    LadderRow:
    entry, matches    name, and the matches that it played
    rating            1,500 for the average of the field or, if it takes part, for the bundled bot
                      `greedy`; 400 points more are odds of ten to one. Null if no chain of matches
                      connects the entry with the field
    interval_95       ends of a 95 % interval of the rating, compared with the average of the field;
                      null with fewer than two blocks

The expected score is that of one more block, drawn from all blocks that could have been drawn in
place of those played. An interval therefore covers the luck of the deal, of the bots' random
choices and of the opponents met. Entries that played different numbers of blocks are each averaged
over their own.

Numbers are rounded to 6 decimals, ratings to 1.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]
Interval = tuple[Rounded, Rounded]
"""Low and high end of an interval."""
Points = Annotated[float, AfterValidator(lambda value: round(value, 1))]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SeatScore(_Part):
    """Matches and mean score in one seat of a table."""

    seats: int
    """Number of seats at the table."""
    seat: int
    """0 to seats - 1."""
    matches: int
    score: Rounded


class StandingsRow(_Part):
    """One entry in the standings."""

    place: int
    entry: str
    matches: int
    blocks: int
    score: Rounded
    interval_95: Interval | None
    match_score: Rounded
    """Mean score without a comparison."""
    ranks: tuple[int, int] | None
    """Best and worst rank that the results allow."""
    first_chance: Rounded | None
    win_share: Rounded
    prestige: Rounded | None
    faults: dict[str, int]
    by_seat: tuple[SeatScore, ...]

    @property
    def rank_set(self) -> str:
        """The ranks that the results allow as a text, such as "2–4"."""
        if self.ranks is None:
            return "–"
        best, worst = self.ranks
        return f"{best}" if best == worst else f"{best}–{worst}"


class PairingRow(_Part):
    """One entry against another."""

    entry: str
    opponent: str
    matches: int
    blocks: int
    score: Rounded
    interval_95: Interval


class DealShareRow(_Part):
    """The part of the deal in the scores of one kind of table."""

    rule_sets: str
    seats: int
    matches: int
    """Matches whose scores were compared."""
    share: Rounded
    """Share of the variance of a match score."""


class LadderRow(_Part):
    """One entry on the ladder."""

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
    """What is missing of the group that is being played."""

    blocks: int
    """Deal blocks of which some matches were played."""
    matches: int
    """Matches that these blocks lack."""


class Standings(_Part):
    """The content of `standings.json`."""

    title: str
    complete: bool
    matches: MatchCounts
    unfinished: Unfinished
    remote_blocks: int
    overall: tuple[StandingsRow, ...]
    without_forfeits: tuple[StandingsRow, ...]
    by_rule_sets: dict[str, tuple[StandingsRow, ...]]
    seat_effect: tuple[SeatScore, ...]
    deal_shares: tuple[DealShareRow, ...]
    cross_table: tuple[PairingRow, ...]
    ladder: tuple[LadderRow, ...]
