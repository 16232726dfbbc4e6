"""The tables of a report, each defined once for CSV files, HTML, and the page's JSON.

Numbers are rounded only in HTML, which leaves out the table without forfeits if nobody forfeited.
In CSV, an apostrophe is put before text that a spreadsheet would interpret as a formula.
"""

import csv
import io
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import islice
from typing import Any, Final, NamedTuple

from asara_codec.results import Termination
from asara_server.replay.signing import fingerprint
from asara_server.report.model import Report
from asara_server.text import plain
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from asara_server.tournament.standings.model import StandingsRow

Value = str | int | float | None
Row = Sequence[Value]

MOST_ROWS: Final = 1_000
"""Maximum rows of a table in HTML; the page and the CSV files have all rows."""

_LONG: Final = 100
"""Number of rows above which a table is folded, except for the standings."""

LATEST_REASONS: Final = 3
"""Distinct reasons shown for each entry and kind of forfeit."""

_WITHOUT_VALUE: Final = {
    "entry": "all entries",
    "forfeits": "as above",
    "matches": "as above",
}
"""What a cell shows in HTML if there is no value, by column; other cells show a dash."""

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
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
    columns = ("entry", "kind", "forfeits", "matches", "latest_match", "latest_reason")
    return Table(columns, _fault_rows(report))


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
    return Table(("name", "value"), (fact for fact in _facts(report) if fact[1] != ""))


def _unread(report: Report) -> Table:
    """Files that could not be read, and why."""
    found = (*report.files.problems, *report.times.problems)
    return Table(("problem",), ((report.publisher.reason(text),) for text in found))


# Forfeits


def _fault_rows(report: Report) -> Iterator[Row]:
    """Yield the rows of forfeits by entry (best first), kind and reason (latest first)."""
    by_kind = defaultdict[tuple[str, Termination], list[tuple[MatchResult, SeatOutcome]]](list)
    in_time = sorted(report.results, key=lambda result: result.started)
    for result in reversed(in_time):
        for seat in result.forfeits:
            by_kind[seat.entry, seat.termination].append((result, seat))
    for line in report.standings.overall:
        for kind in Termination:
            found = by_kind.get((line.entry, kind), [])
            latest: dict[str, tuple[str, SeatOutcome]] = {}
            for result, seat in found:
                latest.setdefault(_cause_of(seat, result), (result.played_as, seat))
            numbers: tuple[int | None, int | None] = (len(found), line.matches)
            for match, seat in islice(latest.values(), LATEST_REASONS):
                reason = report.publisher.forfeit(seat)
                yield line.entry, kind.name.lower(), *numbers, match, reason
                numbers = (None, None)


def _cause_of(seat: SeatOutcome, result: MatchResult) -> str:
    """Return the explanation of a forfeit without match names and numbers."""
    text = seat.explanation
    for name in (result.played_as, result.match_id):
        text = text.replace(name, "")
    return _NUMBER.sub("0", text)


# Facts

Fact = tuple[str, str | int | float | bool]


def _facts(report: Report) -> Iterator[Fact]:
    """Yield the facts by name and value; an empty value means unknown."""
    info, counts, times = report.info, report.standings.matches, report.times
    yield "title", info.title
    yield "state", info.state
    yield "started", info.started
    if info.ended:
        yield "ended", info.ended
    yield "scheduled", counts.scheduled
    yield "played", counts.played
    yield "blocks", counts.blocks
    yield "void", counts.void
    yield "ended_early", report.standings.ended_early
    yield "unconnected", ", ".join(report.standings.unconnected)
    if info.stalled_s is not None:
        yield "stalled_s", info.stalled_s
    yield "sandbox", info.sandbox
    yield from _costs(report)
    yield "deals", info.deals
    yield "deal_commitment", info.deal_commitment
    if report.over and report.publisher.full:
        yield from _secrets(report)
    yield "edition", report.publisher.reason(info.edition)
    yield "edition_sha256", info.edition_sha256
    yield "manifest_sha256", info.manifest_sha256
    if (key := report.files.public_key) is not None:
        yield "public_key", key.hex()
        yield "fingerprint", fingerprint(key)
    yield "asara", report.publisher.reason(info.asara)
    yield "replays_read", times.read
    yield "replays_missing", times.missing
    if report.over:
        manifest = plain(info.manifest_sha256)
        option = f" --manifest {shlex.quote(manifest)}" if manifest else ""
        yield "audit", f"asara audit .{option}"


def _secrets(report: Report) -> Iterator[Fact]:
    """Yield the sources of the deals, for a run that has finished and cannot be resumed."""
    info = report.info
    if info.tournament_secret is not None:
        yield "tournament_secret", info.tournament_secret
        yield "secret_matches", _opens(info.tournament_secret, info.deal_commitment)
    yield "seed", info.seed
    yield "seed_drawn", info.seed_drawn


def _opens(secret: str, commitment: str) -> bool:
    try:
        return sha256(bytes.fromhex(secret)).hexdigest() == commitment.lower()
    except ValueError:
        return False


def _costs(report: Report) -> Iterator[Fact]:
    """Yield how the processor time was spent, for a run that has ended."""
    costs = report.info.costs
    if not report.info.ended or costs is None or not costs.bots_cpu_s:
        return
    if costs.core_s:
        yield "cores_used", round(min(1.0, costs.cpu_s / costs.core_s), 4)
    yield "bots_share", round(costs.bots_cpu_s / costs.cpu_s, 4)


# Files

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
    faults = any(line.faults for line in report.standings.overall)
    tables = "".join(
        _html(name, make(report), links)
        for name, make in _TABLES.items()
        if faults or name != "without_forfeits"
    )
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
        f'<div class="scroll edged" tabindex="0"><table><thead><tr>{head}</tr></thead>\n'
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
            return _WITHOUT_VALUE.get(column, "–")
        case bool():
            return "yes" if value else "no"
        case float():
            return _rounded(value, 1 if column == "prestige" or abs(value) >= 10 else 3)
        case int():
            return str(value)
    text = f"<bdi>{escape(plain(value))}</bdi>"
    link = links.get(value) if column == "match" else None
    return f'<a href="{escape(link)}">{text}</a>' if link else text


def _rounded(value: float, decimals: int) -> str:
    """Return a number with at most so many decimals, "< 0.001" if three would hide it."""
    if 0 < value < 0.0005:
        return "&lt; 0.001"
    text = f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
