"""Standings: computed from the results of the matches, never from stored totals. Pure.

`standings.json` is a `Standings` in JSON. It holds nothing that depends on the clock or on the
order in which matches ended: the same seed and deterministic bots give the same file.

    title             of the tournament
    complete          false where the run was cut short
    matches           scheduled, played (they count), void (the referee failed), and in how many
                      deal blocks they were played
    overall           one Line per entry, best first
    without_forfeits  the same from the blocks in which nobody forfeited
    by_rule_sets      the same by set of rules, such as "pro+gifts"
    seat_effect       mean score of each seat, over all entries, by seats at the table
    cross_table       one Pairing for each two entries that met, in the order of `overall`
    ladder            one LadderLine per entry, best first: see `asara_server.tournament.ladder`;
                      matches are taken in the order of their names

    A Line: place     1 for the best; entries with the same score share it
    entry             its name
    matches           how many it played
    blocks            deal blocks that these are of
    score             mean over its blocks of the mean of its match scores: 1 for first place down
                      to 0 for last, in even steps; who ties shares the mean of the places
    interval_95       low and high end of a 95 % interval of the expected score: see
                      `asara_server.tournament.resampling`; null without a block
    first_chance      chance that its expected score is the best: share of the resamples in which
                      its mean is; null with fewer than ten blocks
    win_share         mean share of wins: 1 for a win, shared among those who tie for it; none for
                      a forfeit
    prestige          mean prestige of the matches that it did not forfeit; null without one
    faults            forfeits by kind: time_out, crash, never_started, rejected_replies,
                      protocol_violation; kinds that never happened are left out
    by_seat           matches and mean score in each seat, by seats at the table

    A Pairing: entry, opponent   the one that stands higher first
    matches, blocks   in which both sat
    score             mean of the first over these blocks: 1 for a match that it ended above the
                      other, ½ for a tie; the other's is 1 - score
    interval_95       as above

The expected score is the one against opponents as they came: that of one more block, drawn from
all blocks that could have been drawn in place of the ones that were played. So an interval holds
the chance of the deal, of the bots' dice and of the opponents. Entries that played different
numbers of blocks each have the mean of their own.

Numbers are rounded to 6 decimals.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]
Interval = tuple[Rounded, Rounded]
"""Low and high end."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SeatScore(_Part):
    """How one seat of a table did."""

    seats: int
    """At the table."""
    seat: int
    """0 to seats - 1."""
    matches: int
    score: Rounded


class StandingsRow(_Part):
    """One entry in a table of standings."""

    place: int
    entry: str
    matches: int
    blocks: int
    score: Rounded
    interval_95: Interval | None
    first_chance: Rounded | None
    win_share: Rounded
    prestige: Rounded | None
    faults: dict[str, int]
    by_seat: tuple[SeatScore, ...]


class PairingRow(_Part):
    """One entry against another."""

    entry: str
    opponent: str
    matches: int
    blocks: int
    score: Rounded
    interval_95: Interval


class LadderRow(_Part):
    """One entry on the ladder."""

    entry: str
    matches: int
    mu: Rounded
    """Estimate of its strength."""
    sigma: Rounded
    """Standard deviation of that estimate, by the model."""
    ordinal: Rounded
    """mu - 3 sigma, which it is ranked by: few matches do not lead to the top."""


class MatchCounts(_Part):
    scheduled: int
    played: int
    void: int
    blocks: int


class Standings(_Part):
    """Everything that `standings.json` holds."""

    title: str
    complete: bool
    matches: MatchCounts
    overall: tuple[StandingsRow, ...]
    without_forfeits: tuple[StandingsRow, ...]
    by_rule_sets: dict[str, tuple[StandingsRow, ...]]
    seat_effect: tuple[SeatScore, ...]
    cross_table: tuple[PairingRow, ...]
    ladder: tuple[LadderRow, ...]
