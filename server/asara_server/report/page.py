"""A report as one self-contained HTML page, without scripts or network access. Pure.

All text is escaped; in addition, a content security policy forbids the page to load or run
anything. The page does not depend on when or where it was written.
"""

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple, TypeVar
from unicodedata import east_asian_width
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from asara_server.replay.signing import fingerprint
from asara_server.report import figures
from asara_server.report.figures import Whisker
from asara_server.report.model import Report, moment, public
from asara_server.report.times import TimeUse
from asara_server.text import plain
from asara_server.tournament.standings.model import SeatScore, StandingsRow

MOST_MATCHES = 1_000
"""Most matches listed on the page; the CSV has all."""

MOST_PAGES = 5_000
"""The same, if the matches have pages, which only this list links to."""

_LONG = 30
"""Rows beyond which a table is folded, except for the standings."""

_WIDE = 24
"""Entries beyond which the cross table is small by default."""

_SMALL_PX = 800
"""Width that a small cross table should not exceed, in pixels."""

_SMALL_CELLS = (11, 14)
"""Smallest and largest cell of a small cross table, in pixels; the smallest leaves room for the
name of a row. A printed table has no smallest one: paper cannot be scrolled."""

_TOGETHER = 20
"""Rows whose intervals share one picture, which is not split across printed pages."""

_SHADES = 9
"""Shades of the cross table for scores 0 to 1; the middle one is transparent."""

_INTERVALS_PX = {"narrow": (128, 36), "wide": (240, 28)}
"""Width of the drawn intervals and height of their table rows in pixels, as in the style sheet."""

_NARROW_TICKS = 3
"""Most labels above the narrow drawings."""

_Row = TypeVar("_Row")


class Tick(NamedTuple):
    """A label on the scale above the pictures."""

    percent: float
    label: str
    narrow: bool = True
    """True if the narrow drawing has room for it."""


class Fact(NamedTuple):
    """A name and value in the section about the run."""

    name: str
    text: str
    code: bool = False


def render(report: Report, pages: Mapping[str, str] | None = None) -> str:
    """Return the page as HTML; `pages` are paths of pages of matches, by name of the replay."""
    template = _environment().get_template("page.html")
    return template.render(**_context(report, pages or {}))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("asara_server.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        plain=plain,
        score=lambda score: f"{score:.3f}",
        share=lambda share: f"{share:.0%}",
        part=_part,
        chance=_chance,
        number=lambda number: f"{number:,}",
        time=_time,
        count=_count,
        shade=_shade,
        columns=_columns,
        url=quote,
    )
    return environment


def _context(report: Report, pages: Mapping[str, str]) -> dict[str, object]:
    """Return the variables of the template."""
    standings = report.standings
    decades = _decades(report.times.entries)
    example = next((match.replay for match in report.matches if match.replay), None)
    return {
        "report": report,
        "info": report.run.recorded.info,
        "standings": standings,
        "times": report.times,
        "long": _LONG,
        "wide": _WIDE,
        "cell": max(_SMALL_CELLS[0], _printed_cell(len(standings.overall))),
        "printed_cell": _printed_cell(len(standings.overall)),
        "summary": _summary(report),
        "facts": list(_facts(report)),
        "problems": [
            public(text, report.run.private)
            for text in (*report.run.problems, *report.times.problems)
        ],
        "overall": _parts(standings.overall, _interval, (0.0, 0.5, 1.0)),
        "clean": _parts(standings.without_forfeits, _interval, (0.0, 0.5, 1.0)),
        "score_ticks": [
            Tick(figures.position(share), label)
            for share, label in ((0.0, "0"), (0.5, "½"), (1.0, "1"))
        ],
        "rules": [
            (rules, {line.entry: line for line in lines})
            for rules, lines in standings.by_rule_sets.items()
        ],
        "seat_columns": [(score.seats, score.seat) for score in standings.seat_effect],
        "by_seat": _by_seat,
        "slow": _parts(
            report.times.entries,
            lambda line: _on_decades(line, decades),
            _shares(decades),
        ),
        "time_ticks": list(_time_ticks(decades)),
        "costs": report.costs,
        "listed": report.matches[: MOST_PAGES if pages else MOST_MATCHES],
        "pages": pages,
        "audit_command": _audit_command(report.run.recorded.info.manifest_sha256),
        "example": shlex.quote(f"replays/{example}") if example else None,
    }


def _parts(
    rows: Sequence[_Row],
    whisker: Callable[[_Row], Whisker | None],
    guides: Sequence[float],
) -> list[tuple[Sequence[_Row], list[tuple[str, Markup]]]]:
    """Return the rows in parts of `_TOGETHER`, each with its pictures by size."""
    parts = [rows[start : start + _TOGETHER] for start in range(0, len(rows), _TOGETHER)]
    return [
        (
            part,
            [
                (
                    size,
                    figures.whiskers([whisker(row) for row in part], guides, *pixels),
                )
                for size, pixels in _INTERVALS_PX.items()
            ],
        )
        for part in parts
    ]


def _printed_cell(entries: int) -> int:
    """Return the size of a cell of the cross table that fits into `_SMALL_PX`, in pixels."""
    return max(3, min(_SMALL_CELLS[1], _SMALL_PX // max(1, entries)))


def _interval(line: StandingsRow) -> Whisker | None:
    if line.interval_95 is None:
        return None
    low, high = line.interval_95
    # A compared score may lie a little outside.
    return Whisker(*(min(max(share, 0.0), 1.0) for share in (low, line.score, high)))


def _by_seat(line: StandingsRow) -> dict[tuple[int, int], SeatScore]:
    return {(score.seats, score.seat): score for score in line.by_seat}


def _decades(lines: Sequence[TimeUse]) -> range:
    """Return the powers of ten, in seconds, that enclose all medians and 95th percentiles."""
    ends = [max(end, 1e-6) for line in lines for end in (line.median_s, line.p95_s)]
    if not ends:
        return range(-3, 1)
    low, high = math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends)))
    return range(low, max(high, low + 1) + 1)


def _on_decades(line: TimeUse, decades: range) -> Whisker:
    def place(seconds: float) -> float:
        return (math.log10(max(seconds, 1e-6)) - decades[0]) / (decades[-1] - decades[0])

    return Whisker(place(line.median_s), place(line.median_s), place(line.p95_s))


def _shares(decades: range) -> list[float]:
    return [(decade - decades[0]) / (decades[-1] - decades[0]) for decade in decades]


def _time_ticks(decades: range) -> Iterator[Tick]:
    """Yield a label for each power of ten; the narrow drawing has room for every n-th only."""
    every = -(-(len(decades) - 1) // (_NARROW_TICKS - 1))
    for number, (share, decade) in enumerate(zip(_shares(decades), decades, strict=True)):
        yield Tick(figures.position(share), _decade(decade), number % every == 0)


def _decade(exponent: int) -> str:
    """Format a power of ten in seconds: `10 µs`, `1 ms`, `100 s`."""
    for power, unit in ((0, "s"), (-3, "ms"), (-6, "µs")):
        if exponent >= power:
            return f"{10 ** (exponent - power):,} {unit}"
    raise AssertionError(exponent)


def _time(seconds: float) -> str:
    """Format seconds: `12 µs`, `3.4 ms`, `120 ms`, `2.5 s`, `340 s`."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size * 0.9995 or size == 1e-6:
            value = seconds / size
            return f"{value:.1f} {unit}" if value < 9.95 and size > 1e-6 else f"{value:,.0f} {unit}"
    raise AssertionError(seconds)


def _chance(chance: float | None) -> str:
    """Format a share of resamples in percent; neither 0 % nor 100 % would be certain."""
    if chance is None:
        return "–"
    percent = f"{chance:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(percent, percent)


def _part(share: float) -> str:
    """Format a share of a clock in percent; most bots need very little of theirs."""
    return "<0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _columns(text: str) -> int:
    """Return the width of a text in Latin letters; East Asian characters are twice as wide."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in plain(text))


def _shade(score: float) -> int:
    return min(_SHADES - 1, int(score * _SHADES))


def _when(text: str) -> str:
    """Format an ISO time in UTC; return any other text as it is."""
    try:
        return _utc(moment(text))
    except (ValueError, OverflowError):
        return plain(text)


def _utc(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _summary(report: Report) -> list[str]:
    counts = report.standings.matches
    matches = _count(counts.played, "match", "matches")
    if not report.standings.complete:
        matches = f"{counts.played:,} of {_count(counts.scheduled, 'match', 'matches')}"
    parts = [matches]
    if counts.blocks != counts.played:
        parts[0] += f" in {_count(counts.blocks, 'block', 'blocks')}"
    entries = _count(len(report.standings.overall), "entry", "entries")
    left_out = f", {len(report.left_out):,} left out" if report.left_out else ""
    parts.append(f"{entries}{left_out}")
    if report.seats:
        parts.append(f"{_listed([str(seats) for seats in report.seats])} seats")
    if report.standings.by_rule_sets:
        parts.append(f"rules {_listed([plain(name) for name in report.standings.by_rule_sets])}")
    parts.append(_when(report.run.recorded.info.started))
    return parts


def _audit_command(manifest_sha256: str) -> str:
    """Return the command that audits the whole run."""
    option = f" --manifest {shlex.quote(plain(manifest_sha256))}" if manifest_sha256 else ""
    return f"asara audit .{option}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _facts(report: Report) -> Iterator[Fact]:
    info = report.run.recorded.info
    counts = report.standings.matches
    yield Fact(
        "State",
        {
            "prepared": "prepared, not played yet",
            "running": "running",
            "cut short": "stopped early",
            "finished": "finished",
        }[info.state],
    )
    yield Fact("Started", _when(info.started))
    if info.ended:
        yield Fact("Ended", _when(info.ended))
    elif report.last_end:
        yield Fact("Last match ended", _utc(report.last_end))
    yield Fact(
        "Matches",
        f"{counts.scheduled:,} scheduled, {counts.played:,} played in "
        f"{_count(counts.blocks, 'block', 'blocks')}, {counts.void:,} without a result",
    )
    if report.standings.ended_early:
        yield Fact("Ended early", "because the ranks were settled")
    if info.stalled_s is not None:
        yield Fact("Referee stalled", f"{_time(info.stalled_s)}, charged to no bot")
    yield Fact(
        "Deals",
        "from the referee's secret alone"
        if info.deals == "committed"
        else "from the referee's secret and nonces of the bots",
    )
    yield Fact("Commitment to all deals", plain(info.deal_commitment), code=True)
    yield from _secrets(report)
    yield Fact("Edition", public(info.edition, report.run.private))
    yield Fact("SHA-256 of the edition", plain(info.edition_sha256), code=True)
    key = report.run.public_key
    if key is not None:
        yield Fact("Key that signs the replays", key.hex(), code=True)
        yield Fact("Its fingerprint", fingerprint(key), code=True)
    yield Fact(
        "Bots",
        "each in a sandbox (bubblewrap)" if info.sandbox == "bubblewrap" else "not contained",
    )
    yield Fact("Version of asara", public(info.asara, report.run.private))


def _secrets(report: Report) -> Iterator[Fact]:
    """Yield the secrets of the deals, if the run has finished and cannot be resumed."""
    info = report.run.recorded.info
    if not report.over:
        yield Fact("Secret of the deals", "revealed when the run is finished")
        return
    if info.tournament_secret is not None:
        yield Fact("Secret of the deals, revealed", plain(info.tournament_secret), code=True)
        matches = _matches_commitment(info.tournament_secret, info.deal_commitment)
        yield Fact(
            "Does it match the commitment?",
            "yes" if matches else "no: its SHA-256 differs; do not trust these deals",
        )
    yield Fact("Seed", f"{plain(info.seed)} ({'drawn at random' if info.seed_drawn else 'given'})")


def _matches_commitment(secret: str, commitment: str) -> bool:
    try:
        return sha256(bytes.fromhex(secret)).hexdigest() == commitment.lower()
    except ValueError:
        return False
