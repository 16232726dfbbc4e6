"""The tables of a report, each defined once for CSV files, HTML, and the page's JSON.

Numbers are rounded only in HTML. In CSV, an apostrophe is put before text that a spreadsheet would
interpret as a formula.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple

from asara_server.report.facts import facts_of
from asara_server.report.faults import faults_of
from asara_server.report.model import Report
from asara_server.text import plain
from asara_server.tournament.standings.model import StandingsRow

Value = str | int | float | None
Row = Sequence[Value]

MOST_ROWS: Final = 1_000
"""Maximum rows of a table in HTML; the page and the CSV files have all rows."""

_LONG: Final = 100
"""Number of rows above which a table is folded, except for the standings."""

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001  # wide forms count too


class Table(NamedTuple):
    columns: tuple[str, ...]
    """Column names, as in the first line of the CSV file."""
    rows: Iterable[Row]


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
    return Table(_LINE, map(_line, report.standings.overall))


def _excluded(report: Report) -> Table:
    return Table(("entry", "kind", "reason"), report.publisher.exclusions(report.info))


def _without_forfeits(report: Report) -> Table:
    return Table(_LINE, map(_line, report.standings.without_forfeits))


def _by_rules(report: Report) -> Table:
    rows = (
        (rules, *_line(line))
        for rules, lines in report.standings.by_rule_sets.items()
        for line in lines
    )
    return Table(("rule_sets", *_LINE), rows)


def _cross_table(report: Report) -> Table:
    rows = (
        (pair.entry, pair.opponent, pair.matches, pair.blocks, pair.score, *pair.interval_95)
        for pair in report.standings.cross_table
    )
    return Table(("entry", "opponent", "matches", "blocks", "score", "low_95", "high_95"), rows)


def _by_seat(report: Report) -> Table:
    """The score of each entry in each seat, after rows without an entry for the overall means."""
    effect = [(None, score) for score in report.standings.seat_effect]
    own = [(line.entry, score) for line in report.standings.overall for score in line.by_seat]
    rows = ((entry, s.seats, s.seat, s.matches, s.score) for entry, s in (*effect, *own))
    return Table(("entry", "seats", "seat", "matches", "score"), rows)


def _ratings(report: Report) -> Table:
    rows = (
        (row.entry, row.matches, row.rating, *(row.interval_95 or (None, None)))
        for row in report.standings.ladder
    )
    return Table(("entry", "matches", "rating", "low_95", "high_95"), rows)


def _faults(report: Report) -> Table:
    """A row for each of the latest reasons; only the first one per entry and kind has numbers."""
    rows = (
        (
            fault.entry,
            fault.kind.name.lower(),
            fault.forfeits if number == 0 else None,
            fault.matches if number == 0 else None,
            *reason,
        )
        for fault in faults_of(report)
        for number, reason in enumerate(fault.latest)
    )
    return Table(("entry", "kind", "forfeits", "matches", "latest_match", "latest_reason"), rows)


def _times(report: Report) -> Table:
    names = ("median_s", "p95_s", "longest_s", "match_s", "clock_share", "highest_share")
    rows = (
        (line.entry, line.matches, line.replies, *(round(getattr(line, name), 6) for name in names))
        for line in report.times.entries
    )
    return Table(("entry", "matches", "replies", *names), rows)


def _matches(report: Report) -> Table:
    rows = (
        (
            result.played_as,
            result.rule_sets,
            seat,
            line.entry,
            line.rank,
            line.prestige,
            line.termination.name.lower() if line.termination.forfeit else "",
        )
        for result in report.results
        for seat, line in sorted(enumerate(result.seats), key=lambda pair: pair[1].rank)
    )
    return Table(("match", "rule_sets", "seat", "entry", "rank", "prestige", "fault"), rows)


def _run(report: Report) -> Table:
    return Table(("name", "value"), (fact for fact in facts_of(report) if fact[1] != ""))


def _unread(report: Report) -> Table:
    """Files that could not be read, and why."""
    found = (*report.files.problems, *report.times.problems)
    return Table(("problem",), ((report.publisher.reason(text),) for text in found))


_TABLES: Final[dict[str, Callable[[Report], Table]]] = {
    "standings": _standings,
    "excluded": _excluded,
    "without_forfeits": _without_forfeits,
    "by_rules": _by_rules,
    "cross_table": _cross_table,
    "by_seat": _by_seat,
    "ratings": _ratings,
    "faults": _faults,
    "times": _times,
    "run": _run,
    "unread": _unread,
    "matches": _matches,
}
CSV_FILES: Final = tuple(f"{name}.csv" for name in _TABLES)

DETAILS: Final = ("by_seat", "faults", "times", "run", "unread")
"""Tables that the page shows only on request."""


def details_json(report: Report) -> dict[str, Any]:
    """Return the tables of DETAILS, by name, with columns and rows."""
    tables = {name: _TABLES[name](report) for name in DETAILS}
    return {
        name: {"columns": table.columns, "rows": [list(map(_shown, row)) for row in table.rows]}
        for name, table in tables.items()
    }


def _shown(value: Value) -> Value:
    return plain(value) if isinstance(value, str) else value


def csv_tables(report: Report) -> dict[str, str]:
    """Return the content of each CSV file, by file name."""
    return {f"{name}.csv": _csv(make(report)) for name, make in _TABLES.items()}


def safe(text: str) -> str:
    """Return a text that a spreadsheet shows without evaluating it."""
    shown = plain(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def _csv(table: Table) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([safe(value) if isinstance(value, str) else value for value in row])
    return file.getvalue()


def html_tables(report: Report, links: Mapping[str, str]) -> str:
    """Return all tables that have rows, for a reader without scripts.

    `links` are addresses, by match name.
    """
    tables = "".join(_html(name, make(report), links) for name, make in _TABLES.items())
    return f'<div class="results">\n{tables}</div>'


def _html(name: str, table: Table, links: Mapping[str, str]) -> str:
    rows = list(table.rows)
    if not rows:
        return ""
    head = "".join(
        f'<th scope="col"{_class(value)}>{_words(column)}</th>'
        for column, value in zip(table.columns, rows[0], strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_class(value)}>{_cell(column, value, links)}</td>"
            for column, value in zip(table.columns, row, strict=True)
        )
        + "</tr>\n"
        for row in rows[:MOST_ROWS]
    )
    cut = "" if len(rows) <= MOST_ROWS else f"<p>The first {MOST_ROWS:,} of {len(rows):,} rows.</p>"
    shown = (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>{cut}"
    )
    if len(rows) > _LONG and name != "standings":
        shown = f"<details><summary>{len(rows):,} rows</summary>{shown}</details>"
    title = _words(name).capitalize()
    return f'<section class="card wide"><h2>{title}</h2>\n{shown}</section>\n'


def _class(value: Value) -> str:
    return ' class="number"' if isinstance(value, int | float) else ""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _cell(column: str, value: Value, links: Mapping[str, str]) -> str:
    match value:
        case None:
            return "all entries" if column == "entry" else "–"
        case bool():
            return "yes" if value else "no"
        case float():
            return _rounded(value)
        case int():
            return str(value)
    text = f"<bdi>{escape(plain(value))}</bdi>"
    link = links.get(value) if column == "match" else None
    return f'<a href="{escape(link)}">{text}</a>' if link else text


def _rounded(value: float) -> str:
    """Return a number with at most three decimals, "< 0.001" if that would hide it."""
    if 0 < value < 0.0005:
        return "&lt; 0.001"
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
