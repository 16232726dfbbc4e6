"""Shows results as tables: a single match, or standings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table

from asara_codec.results import Termination
from asara_server.cli.display.console import make_table, out, show_table
from asara_server.cli.display.quantities import duration, listed
from asara_server.text import count, plain, plain_words
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from asara_server.tournament.standings.model import SeatScore, Standings, StandingsRow

_ROWS = 10

_CROSS_TABLE_COLUMNS = 8
"""Maximum opponent columns in one table; with a name, they fit into 80 characters."""


def show_match(result: MatchResult, people: Collection[str] = ()) -> None:
    """Print the ranking of one match."""
    columns = [">seat", "entry", ">rank", ">prestige"]
    rows = [
        [str(seat), line.entry, str(line.rank), str(line.prestige)]
        + ([kind_of(line, people)] if line.termination.forfeit else [])
        for seat, line in sorted(enumerate(result.seats), key=lambda pair: pair[1].rank)
    ]
    if result.forfeits:
        columns.append("forfeit")
    title = f"Match {result.match_id}"
    if result.seconds >= 0.05:  # shorter if a bot forfeits at the start
        title += f" ({duration(result.seconds)})"
    show_table(title, columns, rows)


def kind_of(seat: SeatOutcome, people: Collection[str]) -> str:
    """Return the kind of a forfeit; `people` do not crash."""
    left = seat.termination is Termination.CRASH and seat.entry in people
    return "left" if left else plain_words(seat.termination.name)


def show_standings(
    standings: Standings, *, forfeits: bool = True, running: bool = False, left: int | None = None
) -> None:
    """Print the standings, the scores by rule set if there are several, and the scores by seat.

    With `forfeits`, also print a table of the kinds of forfeits, if there are any. `left` is the
    number of matches not played, if the standings do not count every match.
    """
    if left is None:
        left = standings.matches.scheduled - standings.matches.played
    _show_overall(standings)
    if forfeits and any(row.faults for row in standings.overall):
        out.print()
        _show_faults(standings.overall)
    for line in _reservations(standings, left, running=running):
        out.print(line)
    if len(standings.by_rule_sets) > 1:
        out.print()
        _show_scores_by_rules(standings)
    if standings.seat_effect:
        out.print()
        _show_scores_by_seat(standings.seat_effect)


def _reservations(standings: Standings, left: int, *, running: bool) -> Iterator[str]:
    if within := standings.unfinished.matches:
        which = "Still to come" if running else "Not played"
        missing = f"{left:,} of {count(standings.matches.scheduled, 'match')}"
        yield f"{which}: {missing}, {within:,} of them in blocks that have begun."
    if standings.deal_shares:
        yield (
            "Scores are compared with the scores of others who played the same deal, so they can "
            "differ from the average result."
        )
    if standings.remote_blocks:
        blocks = count(standings.remote_blocks, "block")
        yield (
            f"In {blocks}, entries on other machines played the same deal at different "
            "tables, so they could have told each other about it."
        )
    if standings.unconnected:
        yield (
            f"No chain of matches connects {listed(standings.unconnected)} "
            "with the other entries, so their ranks are not compared."
        )
    if standings.ended_early:
        most = count(standings.looks[-1], "match")
        yield f"The run ended early, because the ranks were settled; the maximum was {most}."
    if looks := len(standings.looks):
        yield (
            f"The intervals and rank ranges allow for {count(looks, 'check')} of the results "
            "during the run."
        )


def score_text(score: float) -> str:
    """Return a score with three decimals, without the sign of one that rounds to zero."""
    return f"{score:z.3f}"


def left_out_text(folders: Collection[str]) -> str:
    """Return a line that lists folders in `entries_from` that contain no entry."""
    return f"Skipped, because they have no usable bot.toml: {listed(folders)}"


class ScoreSoFar(NamedTuple):
    """The number of matches that an entry has played in a run so far, and the sum of scores."""

    matches: int = 0
    total: float = 0.0

    def plus(self, score: float) -> "ScoreSoFar":
        """Return the count with one more match added."""
        return ScoreSoFar(self.matches + 1, self.total + score)


def scores_table(scores: Mapping[str, ScoreSoFar], limit: int = _ROWS) -> Table:
    """Return a table of mean match scores, best first, for entries that have played."""
    rows = sorted(scores.items(), key=lambda item: (-item[1].total / item[1].matches, item[0]))
    return make_table(
        (">#", "entry", ">score so far", ">matches"),
        (
            (str(place), entry, score_text(score.total / score.matches), f"{score.matches:,}")
            for place, (entry, score) in enumerate(rows[:limit], 1)
        ),
    )


def show_cross_table(standings: Standings) -> None:
    """Print the score of every entry against every other; columns have the same numbers as rows."""
    scores = {}
    for pair in standings.cross_table:
        scores[pair.entry, pair.opponent] = pair.score
        scores[pair.opponent, pair.entry] = 1 - pair.score
    entries = [row.entry for row in standings.overall]
    for start in range(0, len(entries), _CROSS_TABLE_COLUMNS):
        opponents = entries[start : start + _CROSS_TABLE_COLUMNS]
        show_table(
            "Head-to-head scores (row against column)" if start == 0 else "",
            (">#", "entry", *(f">{start + place}" for place in range(1, len(opponents) + 1))),
            (
                (
                    str(place),
                    entry,
                    *(
                        score_text(scores[entry, opponent]) if (entry, opponent) in scores else "–"
                        for opponent in opponents
                    ),
                )
                for place, entry in enumerate(entries, 1)
            ),
        )


def _show_overall(standings: Standings) -> None:
    columns = [
        ">#",
        "entry",
        ">score",
        ">95% interval",
        ">rank range",
        ">wins",
        ">prestige",
        ">matches",
    ]
    rows = [
        [
            str(row.place) if row.matches else "–",
            row.entry,
            score_text(row.score) if row.matches else "–",
            "–".join(map(score_text, row.interval_95)) if row.interval_95 else "–",
            row.rank_set if row.matches else "–",
            f"{row.win_share:.0%}" if row.matches else "–",
            f"{row.prestige:.1f}" if row.prestige is not None else "–",
            f"{row.matches:,}",
        ]
        for row in standings.overall
    ]
    faults = [sum(row.faults.values()) for row in standings.overall]
    if any(faults):
        columns.append(">forfeits")
        for cells, number in zip(rows, faults, strict=True):
            cells.append(f"{number:,}" if number else "")
    title = plain(f"{standings.title}: {_match_counts(standings)}", longest=None)
    out.print(title, style="bold")
    out.print(make_table(columns, rows))


def _match_counts(standings: Standings) -> str:
    counts = standings.matches
    played = count(counts.played, "match")
    if not standings.complete:
        played = f"{counts.played:,} of {count(counts.scheduled, 'match')}"
    if counts.blocks != counts.played:
        played += f" in {count(counts.blocks, 'block')}"
    return played


def _show_faults(rows: Sequence[StandingsRow]) -> None:
    kinds = sorted({name for row in rows for name in row.faults})
    show_table(
        "Forfeits",
        ("entry", *(f">{plain_words(name)}" for name in kinds)),
        (
            (
                row.entry,
                *(f"{row.faults[name]:,}" if name in row.faults else "" for name in kinds),
            )
            for row in rows
            if row.faults
        ),
    )


def _show_scores_by_rules(standings: Standings) -> None:
    tables = standings.by_rule_sets.values()
    rows_by_entry = [{row.entry: row for row in rows} for rows in tables]
    show_table(
        "Score by rules",
        ("entry", *(f">{name}" for name in standings.by_rule_sets)),
        (
            (
                overall.entry,
                *(
                    score_text(rows[overall.entry].score) if rows[overall.entry].matches else "–"
                    for rows in rows_by_entry
                ),
            )
            for overall in standings.overall
        ),
    )


def _show_scores_by_seat(scores: Sequence[SeatScore]) -> None:
    sizes = sorted({score.seats for score in scores})
    show_table(
        "Score by seat",
        ("", *(f">seat {seat}" for seat in range(max(sizes)))),
        (
            (f"{size} seats", *(score_text(score.score) for score in scores if score.seats == size))
            for size in sizes
        ),
    )
