"""The tables of a report as CSV: UTF-8, with a header row and unrounded numbers.

Text that a spreadsheet would interpret as a formula is prefixed with an apostrophe.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence

from asara_server.report.model import Report
from asara_server.text import plain
from asara_server.tournament.standings.model import StandingsRow

Value = str | int | float | None
Row = Sequence[Value]

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001  # wide forms count too


def csv_tables(report: Report) -> dict[str, str]:
    """Return the content of each CSV file, by file name."""
    return {name: _csv(*table(report)) for name, table in _TABLES.items()}


def safe(text: str) -> str:
    """Return a text so that a spreadsheet shows it and does not evaluate it."""
    shown = plain(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def _csv(head: Row, rows: Iterable[Row]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow([safe(value) if isinstance(value, str) else value for value in row])
    return file.getvalue()


Table = tuple[Row, Iterable[Row]]

_LINE = (
    "place",
    "entry",
    "matches",
    "blocks",
    "score",
    "low_95",
    "high_95",
    "best_rank",
    "worst_rank",
    "first_chance",
    "win_share",
    "prestige",
    "faults",
)


def _line(line: StandingsRow) -> Row:
    low, high = line.interval_95 or (None, None)
    return (
        line.place if line.matches else None,
        line.entry,
        line.matches,
        line.blocks,
        line.score if line.matches else None,
        low,
        high,
        *(line.ranks or (None, None)),
        line.first_chance,
        line.win_share if line.matches else None,
        line.prestige,
        sum(line.faults.values()),
    )


def _standings(report: Report) -> Table:
    return _LINE, map(_line, report.standings.overall)


def _without_forfeits(report: Report) -> Table:
    return _LINE, map(_line, report.standings.without_forfeits)


def _by_rules(report: Report) -> Table:
    rows = (
        (rules, *_line(line))
        for rules, lines in report.standings.by_rule_sets.items()
        for line in lines
    )
    return ("rule_sets", *_LINE), rows


def _cross_table(report: Report) -> Table:
    head = ("entry", "opponent", "matches", "blocks", "score", "low_95", "high_95")
    rows = (
        (pair.entry, pair.opponent, pair.matches, pair.blocks, pair.score, *pair.interval_95)
        for pair in report.standings.cross_table
    )
    return head, rows


def _by_seat(report: Report) -> Table:
    head = ("entry", "seats", "seat", "matches", "score")
    rows = (
        (line.entry, seat.seats, seat.seat, seat.matches, seat.score)
        for line in report.standings.overall
        for seat in line.by_seat
    )
    return head, rows


def _faults(report: Report) -> Table:
    head = ("entry", "kind", "forfeits", "matches", "latest_match", "latest_reason")
    rows = (
        (fault.entry, fault.kind, fault.forfeits, fault.matches, *fault.latest[0])
        for fault in report.faults
    )
    return head, rows


def _ratings(report: Report) -> Table:
    rows = (
        (row.entry, row.matches, row.rating, *(row.interval_95 or (None, None)))
        for row in report.standings.ladder
    )
    return ("entry", "matches", "rating", "low_95", "high_95"), rows


def _times(report: Report) -> Table:
    head = (
        "entry",
        "matches",
        "replies",
        "median_s",
        "p95_s",
        "longest_s",
        "match_s",
        "clock_share",
        "highest_share",
    )
    rows = (
        (
            line.entry,
            line.matches,
            line.replies,
            round(line.median_s, 6),
            round(line.p95_s, 6),
            round(line.longest_s, 6),
            round(line.match_s, 6),
            round(line.clock_share, 6),
            round(line.highest_share, 6),
        )
        for line in report.times.entries
    )
    return head, rows


def _matches(report: Report) -> Table:
    rows = (
        (match.name, match.rules, seat.seat, seat.entry, seat.rank, seat.prestige, seat.fault)
        for match in report.matches
        for seat in match.ranking
    )
    return ("match", "rule_sets", "seat", "entry", "rank", "prestige", "fault"), rows


_TABLES: dict[str, Callable[[Report], Table]] = {
    "standings.csv": _standings,
    "without_forfeits.csv": _without_forfeits,
    "by_rules.csv": _by_rules,
    "cross_table.csv": _cross_table,
    "by_seat.csv": _by_seat,
    "faults.csv": _faults,
    "ratings.csv": _ratings,
    "times.csv": _times,
    "matches.csv": _matches,
}
CSV_FILES = tuple(_TABLES)
